"""Whether a table that lies elsewhere is encoded as it is in memory: names, values, bins, notes and all codes."""

from dataclasses import replace

import numpy as np

from analogical import InputError
from analogical._types import same
from analogical.engines.cells import encode_batch
from analogical.engines.encode import encode_relation
from analogical.study import Study
from analogical.table.encode import encode_table
from analogical.table.rules import Rules


def outcome(encode):
    """The encoded table, or what is wrong with it."""
    try:
        return encode()
    except InputError as error:
        return str(error)


def columns_there(table, batches):
    """Codes of all columns of the study and of the label, and the weights, of batches of the sources."""
    coded = [[*encode_batch(batch, [*table.encoders, table.label_encoder]), *weights_of(batch)] for batch in batches]
    return [np.concatenate(parts) for parts in zip(*coded, strict=True)]


def weights_of(batch):
    return [batch.column("weight").to_numpy()] if "weight" in batch.schema.names else []


def assert_same_as_in_memory(frame, relation, batches_of, label, *, keep=(), **options):
    """Compare with a dataframe in memory; returns both, encoded."""
    rules = Rules(**options)
    expected = outcome(lambda: encode_table(frame, label, rules, keep=keep, look_for_units=True))
    found = outcome(lambda: encode_relation(relation, label, rules, keep=keep, look_for_units=True))
    assert isinstance(found, str) == isinstance(expected, str), (found, expected)
    if isinstance(found, str):
        return found, expected
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert same(vars(replace(one, values=())), vars(replace(other, values=()))), (one, other)
        assert list(one.values) == list(other.values), (one, other)
        assert [type(value) for value in one.values] == [type(value) for value in other.values]
    assert (found.label_meaning.name, list(found.label_meaning.values)) == (expected.label, list(expected.classes))
    assert same(found.notes, expected.notes), (found.notes, expected.notes)
    study = Study.of_table(expected)
    assert found.bins == tuple(study.bins)
    assert_same_codes(found, study, columns_there(found, batches_of(found)))
    return found, expected


def assert_same_codes(found, study, columns):
    """Codes of all rows, those of bins included; groups up to their numbers."""
    n = len(study.owner)
    codes = columns[:n]
    for column in range(n):
        assert codes[column].tolist() == study.codes(column).tolist(), column
        assert codes[column].max() < found.n_codes[column]
    labels = columns[n + (found.n_units is not None)]
    assert labels.tolist() == study.rows.labels.tolist()
    if found.is_weighted:
        assert columns[-1].tolist() == study.rows.weights.tolist()
    weights = study.rows.weights
    sizes = [np.bincount(code, weights).astype(np.int64) for code in codes]
    found.refuse_changed(np.bincount(labels, weights).astype(np.int64), sizes)
    assert (found.n_units is None) == (study.groups is None)
    if study.groups is not None:
        units = columns[n]
        assert (units.min() >= 0, units.max() < found.n_codes[-1]) == (True, True)
        pairs = set(zip(units.tolist(), study.groups.tolist(), strict=True))
        assert len(pairs) == len(set(units.tolist())) == len(set(study.groups.tolist())) == found.n_units
