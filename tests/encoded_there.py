"""Whether a table that lies elsewhere is encoded as it is in memory: names, values, bins, notes and all codes."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl

from analogical import InputError
from analogical._types import same
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.engines.cells import encode_batch
from analogical.engines.encode import encode_relation
from analogical.study import Study

M = 60
DAYS = [date(2024, 1, 1) + timedelta(days=k // 2) for k in range(M)]
COLUMNS = {
    "booleans": [k % 2 == 0 for k in range(M)],
    "strings": ["red", "blue", "green"] * 20,
    "few whole numbers": [k % 20 for k in range(M)],
    "many whole numbers": [17 * (k // 2) for k in range(M)],
    "row numbers": list(range(M)),
    "patient": [7 * (k // 2) for k in range(M)],
    "spellings": ["Yes", "yes ", "no", "no"] * 15,
    "single letters": ["Y", "y", "n", None] * 15,
    "days as numbers": [int(f"{day:%Y%m%d}") for day in DAYS],
    "floats": [0.5 * k for k in range(M)],
    "floats that are whole": [float(k % 3) for k in range(M)],
    "both zeros": [(0.0, -0.0, 1.5, None)[k % 4] for k in range(M)],
    "mostly 0": [0.0] * 48 + [0.5 * k for k in range(1, 13)],
    "not a number": [(float("nan"), 1.5, 2.5)[k % 3] for k in range(M)],
    "infinite": [(float("inf"), -float("inf"), 0.5 * k)[k % 3] for k in range(M)],
    "decimals": [Decimal(k // 2) / 4 for k in range(M)],
    "durations": [timedelta(hours=k // 2) for k in range(M)],
    "few dates": [DAYS[k % 5] for k in range(M)],
    "dates": DAYS,
    "dates over years": [date(2021, 1, 1) + timedelta(days=29 * (k // 2)) for k in range(M)],
    "firsts of months": [date(2015 + k % 7, 1 + k % 12, 1) for k in range(M)],
    "time stamps": [datetime(2024, 1, 1) + timedelta(minutes=17 * k) for k in range(M)],
    "time stamps over weeks": [datetime(2024, 1, 1) + timedelta(hours=7 * k) for k in range(M)],
    "times of day": [datetime(2024, 1, 1, k % 3, 30).time() for k in range(M)],
    "names": [f"customer {k}" for k in range(M)],
    "gaps": ["a", "b", None] * 20,
    "numbers with gaps": [None if k % 7 == 0 else 0.5 * k for k in range(M)],
    "dates with gaps": [None if k % 7 == 0 else DAYS[k] for k in range(M)],
    "nothing": [None] * M,
}


def table_of(*names, **more):
    return pl.DataFrame(
        {name: COLUMNS[name] for name in names}
        | {"other": [k % 2 for k in range(M)], "y": [k * k % 7 % 2 for k in range(M)]}
        | more
    )


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


def assert_same_as_in_memory(frame, relation, batches_of, label, *, keep=(), has_order=True, **options):
    """Compare with a dataframe in memory; returns both, encoded.

    Where rows have no order, values of texts are not in the order in which they occur.
    """
    rules = Rules(**options)
    expected = outcome(lambda: encode_table(frame, label, rules, keep=keep))
    found = outcome(lambda: encode_relation(relation, label, rules, keep=keep))
    assert isinstance(found, str) == isinstance(expected, str), (found, expected)
    if isinstance(found, str):
        return found, expected
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert same(vars(replace(one, values=())), vars(replace(other, values=()))), (one, other)
        assert not has_order or list(one.values) == list(other.values), (one, other)
        assert set(one.values) == set(other.values), (one, other)
        assert {type(value) for value in one.values} == {type(value) for value in other.values}
    assert (found.label_meaning.name, list(found.label_meaning.values)) == (expected.label, list(expected.classes))
    assert same(found.notes, expected.notes), (found.notes, expected.notes)
    study = Study(expected)
    assert found.bins == tuple(study.bins)
    assert_same_codes(found, study, columns_there(found, batches_of(found)))
    assert found.fine_sizes.keys() == expected.fine.keys()
    for feature, sizes in found.fine_sizes.items():
        assert sizes.tolist() == study.fine_sizes[feature].tolist()
    return found, expected


def assert_same_codes(found, study, columns):
    """Codes of all rows, those of bins included; groups up to their numbers."""
    n = len(study.owner)
    codes = columns[:n]
    for column in range(n):
        expected = study.codes(column)
        if column < len(found.columns):  # places of the values here and there
            there, here = list(found.columns[column].values), list(study.table.columns[column].values)
            expected = np.array([there.index(value) for value in here])[expected]
        assert codes[column].tolist() == expected.tolist(), column
        assert codes[column].max() < found.n_codes[column]
    labels = columns[n + (found.n_units is not None)]
    assert labels.tolist() == study.rows.labels.tolist()
    if found.is_weighted:
        assert columns[-1].tolist() == study.rows.weights.tolist()
    weights = study.rows.weights
    sizes = [np.bincount(code, weights).astype(np.int64) for code in codes]
    assert_same_sizes(found, np.bincount(labels, weights), sizes)
    assert (found.n_units is None) == (study.group_column is None)
    if study.group_column is not None:
        units = columns[n]
        assert (units.min() >= 0, units.max() < found.n_codes[-1]) == (True, True)
        here = study.codes(study.group_column).tolist()
        pairs = set(zip(units.tolist(), here, strict=True))
        assert len(pairs) == len(set(units.tolist())) == len(set(here)) == found.n_units


def assert_same_sizes(found, by_label, by_column):
    """Rows of each label, and of each code of features and bins."""
    assert found.label_encoder.sizes.tolist() == found.margins.by_label.tolist() == by_label.tolist()
    n = len(found.columns) + len(found.bins)
    assert [e.sizes.tolist() for e in found.encoders[:n]] == [sizes.tolist() for sizes in by_column[:n]]
    assert [sizes.tolist() for sizes in found.margins.by_value] == [s.tolist() for s in by_column[: len(found.columns)]]
