"""A study of a table of which only groups come here has the numbers of a study in memory."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from analogical import (
    InputError,
    Study,
    audit,
    compare,
    evidence,
    interactions,
    redundancies,
    relevance,
    report,
    select,
    transitions,
)
from analogical import study as study_module
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.count.groups import CodedRows, collapse_rows, merge_rows
from analogical.count.pairs import count_pairs
from analogical.estimate.dependencies import NEAR, predicted_by_cut
from analogical.explain import Explanation


class GroupedHere:
    """The source of an encoded table: its rows, of which only groups are handed out."""

    def __init__(self, table, duplicates="count"):
        self.table, self.n_rows, self.n_groups = table, table.coded.n_rows, table.n_groups
        self.rows = collapse_rows(table.coded) if duplicates == "once" else table.coded
        self.asked = []

    def codes(self, column):
        if column.feature is None:
            return self.table.groups
        return (
            self.rows.codes[:, column.feature] if column.bins is None else column.bins[self.table.fine[column.feature]]
        )

    def group(self, columns, most):
        self.asked.append(len(columns))
        codes = np.column_stack([np.zeros(len(self.rows.codes), np.int64), *map(self.codes, columns)])[:, 1:]
        n_values = np.array([int(codes[:, k].max()) + 1 for k in range(len(columns))], np.int64)
        for k, column in enumerate(columns):
            if column.feature is not None and column.bins is None:
                n_values[k] = self.table.n_values[column.feature]
        merged = merge_rows(CodedRows(codes, self.rows.labels, n_values, self.rows.n_labels, self.rows.weights))
        return merged.weighted(merged.weights_or_ones()) if len(merged.codes) <= most else None

    def count_pairs(self):
        return count_pairs(self.rows)


@pytest.fixture(autouse=True)
def nothing_subtracted(monkeypatch):
    """Where a library groups the rows, nothing is subtracted within the bins of tied numbers, either."""
    monkeypatch.setattr(Explanation, "_is_tied", lambda *_: False)


def studied(table, some=None, duplicates="count"):
    """The study of a table whose rows lie elsewhere, with all of its rows, or some, as the sample."""
    sample = table
    if some is not None:
        weights = None if table.weights is None else table.weights[some]
        fine = {i: codes[some] for i, codes in table.fine.items()}
        sample = replace(table, codes=table.codes[some], labels=table.labels[some], weights=weights, fine=fine)
    source = GroupedHere(table, duplicates)
    return Study(replace(sample, source=source, engine="duckdb"), duplicates=duplicates)


def assert_same(found, expected, path=""):
    """Whether plain data is the same: numbers with a fraction up to rounding, everything else exactly."""
    assert type(found) is type(expected), path
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_same(found[key], value, f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for place, value in enumerate(expected):
            assert_same(found[place], value, f"{path}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), path
    else:
        assert found == expected, path


def no_frame(table):
    """The table without the dataframe library that it came in."""
    return replace(table, frame=None)


def measured(n, *, n_classes=2, seed=0):
    """A frame of numbers that go together, words and a near-copy; weights, and groups of about ten rows."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, n)
    dose = age / 10 + rng.normal(0, 0.4, n)
    town = rng.choice(["ulm", "bonn", "lyon", "nice"], n, p=[0.4, 0.3, 0.2, 0.1])
    sex = rng.choice(["f", "m"], n)
    score = (age > 52) * 1.2 + (town == "ulm") * (sex == "f") * 1.5 + rng.normal(0, 0.7, n)
    frame = pd.DataFrame({"age": age, "dose": dose, "town": town, "sex": sex, "noise": rng.integers(0, 3, n)})
    frame["country"] = np.where(np.isin(town, ["ulm", "bonn"]), "de", "fr")
    frame["nearly"] = np.where(rng.random(n) < 0.1, "x", town)
    frame.loc[rng.random(n) < 0.03, "dose"] = np.nan
    frame["y"] = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return frame.assign(times=rng.integers(0, 4, n), who=rng.integers(0, max(n // 10, 2), n))


TABLES = {
    "plain": {},
    "weights": {"weights": "times", "ignore": ["who"]},
    "groups": {"groups": "who", "ignore": ["times"]},
    "weights and groups": {"weights": "times", "groups": "who"},
}


@cache
def table_of(name, n=1500, n_classes=2):
    options = {"ignore": ["times", "who"]} if name == "plain" else TABLES[name]
    return no_frame(encode_table(measured(n, n_classes=n_classes), "y", Rules(**options)))


def both(table, **options):
    """A study whose rows lie elsewhere, and one in memory."""
    return studied(table, **options), Study(table, **options)


def plain(result):
    """A result as plain data, as if it had been counted in memory."""
    data = result.to_dict()
    data.get("settings", {}).update(engine="memory")
    return data


@pytest.mark.parametrize("given", ["auto", "all", ["age", "town"], []])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_relevance_with_numbers_weights_and_groups(name, given):
    there, here = both(table_of(name))
    # where only groups of rows come here nothing is subtracted from labels
    here.given_of = lambda feature, asked: replace(Study.given_of(here, feature, asked), adjusted_for=(), terms=())
    assert_same(plain(relevance(there, given=given)), plain(relevance(here, given=given)))
    assert relevance(there).settings.engine == "duckdb"


def test_finer_bins_are_given_as_in_memory():
    there, here = both(table_of("plain"))
    contexts = [there.given_of(i, "auto") for i in range(there.n_features)]
    assert contexts == [here.given_of(i, "auto") for i in range(here.n_features)]
    assert any(column >= there.n_features for context in contexts for column in context.columns)


def test_each_row_once():
    table = table_of("weights")
    there, here = both(table, duplicates="once")
    assert_same(plain(relevance(there)), plain(relevance(here)))
    assert relevance(there).n_rows == table.coded.n_rows > there.label_sizes.sum()
    assert_same(select(there).to_dict(), select(here).to_dict())


def test_the_deciding_set_is_chosen_on_a_sample_and_all_numbers_come_from_all_rows():
    table = table_of("plain", 6000)
    found = relevance(studied(table, slice(0, None, 4)))
    assert (found.settings.searched_rows, found.n_rows) == (1500, 6000)
    expected = relevance(Study(table), given=list(found.deciding))
    tested = [i for i in range(7) if found.same_as[i] is None and not set(found.given[i]) & {"age", "dose"}]
    assert tested
    for name in ("compared", "effect", "effect_low", "effect_high", "p_value", "index", "noise_rate"):
        np.testing.assert_allclose(getattr(found, name)[tested], getattr(expected, name)[tested], rtol=1e-9)


def test_groups_that_were_grouped_are_not_asked_for_again_and_the_oldest_are_dropped(monkeypatch):
    study = studied(table_of("plain"))
    study.rows_of([0, 3, 2])
    assert study.rows_of([2, 0]).n_rows == 1500
    assert study.source.asked == [3]
    monkeypatch.setattr(study_module, "MOST_GROUPS", len(study.rows_of([0, 3, 2]).codes) // 4)
    with pytest.raises(InputError, match=r"combinations of values of age, dose, .* too many to collect; give fewer"):
        relevance(study, given="all")
    study.rows_of([4])
    study.rows_of([5])
    assert list(study._groups) == [(4,), (5,)]


@pytest.mark.parametrize(("name", "n_classes"), [("plain", 5), ("weights", 2)])
def test_the_same_selection_and_interactions(name, n_classes):
    there, here = both(table_of(name, n_classes=n_classes))
    assert_same(select(there).to_dict(), select(here).to_dict())
    assert_same(select(there, k=5).to_dict(), select(here, k=5).to_dict())
    for given in ("auto", ["age"], []):
        assert_same(plain(interactions(there, given=given)), plain(interactions(here, given=given)))


def larger_contexts(contexts):
    """Those with more pairs than the smallest: if others have as many as that one, the order of rows decides."""
    n_pairs = [context["rows"][0] * context["rows"][1] for context in contexts]
    return sorted(str(context) for context, n in zip(contexts, n_pairs, strict=True) if n > min(n_pairs))


@pytest.mark.parametrize(("name", "n_classes"), list(zip(TABLES, (4, 2, 2, 4), strict=True)))
def test_the_same_audit(name, n_classes):
    there, here = both(table_of(name, n_classes=n_classes))
    for feature, given in (("sex", "auto"), ("town", ["sex"]), ("age", []), ("country", "auto")):
        found, expected = (audit(study, feature, given=given).to_dict() for study in (there, here))
        assert all(pair["rows"] is None for pair in found.pop("examples"))  # rows are known by their values only
        assert larger_contexts(found.pop("contexts")) == larger_contexts(expected.pop("contexts"))
        del expected["examples"]
        assert_same(found, expected)


def test_the_same_transitions():
    there, here = both(table_of("weights", n_classes=3))
    for feature in ("town", "age"):
        found, expected = (
            {frozenset(zip(t.values, t.labels, strict=True)): t.pairs for t in transitions(study, feature).counts}
            for study in (there, here)
        )
        assert found == expected


@pytest.mark.parametrize("name", ["plain", "weights"])
@pytest.mark.parametrize("n", [600, 30_000])
def test_the_same_redundancies(name, n):
    there, here = both(table_of(name, n))
    found = redundancies(there)
    assert_same(found.to_dict(), redundancies(here).to_dict())
    assert ("country", ("town",)) in [(one.feature, one.determined_by) for one in found.dependencies]
    assert ("town", "nearly") in [(one.feature, one.of) for one in found.near_copies]


def test_what_all_rows_refute_is_no_redundancy_and_what_is_left_is_that_of_all_rows():
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 250, "b": [0, 1] * 500})
    frame["a2"], frame["sum"], frame["far"] = frame.a + 5, frame.a * 2 + frame.b, frame.a
    frame.loc[600:, "sum"] = 9 - frame["sum"][600:]
    frame.loc[500:, "far"] = 0
    table = no_frame(encode_table(frame.astype(str), np.arange(1000) % 3 > 0))
    in_sample = redundancies(Study(replace(table, codes=table.codes[:500], labels=table.labels[:500])))
    assert in_sample.renamings == (("a", "a2", "sum", "far"),)
    found = redundancies(studied(table, slice(0, 500)))
    assert found.renamings == (("a", "a2"),)
    assert all(near.left <= NEAR for near in found.near_copies)
    assert found.dependencies
    for one in found.dependencies:
        assert frame.groupby(list(one.determined_by))[one.feature].nunique().max() == 1
        assert one.support == 1000 - frame.groupby(list(one.determined_by)).ngroups


def test_the_same_report():
    there, here = both(table_of("plain", 800))
    found, expected = (report(study, protected=["sex"]) for study in (there, here))
    assert_same(plain(found.relevance), plain(expected.relevance))
    assert found.selection == expected.selection
    assert found.html.startswith("<!doctype html>")
    assert "another row" in found.html
    assert "another row" not in expected.html


def test_rows_without_an_order_have_no_numbers():
    table = table_of("weights", 300)
    without, ordered = Study(replace(table, has_order=False, engine="spark")), Study(table)
    for study in (studied(table), without):
        found, expected = evidence(study, "town"), evidence(ordered, "town")
        assert (found.n_pairs, found.n_changed, len(found)) == (expected.n_pairs, expected.n_changed, len(expected))
        assert {(pair.rows, pair.index) for pair in found.pairs} == {(None, ())}
        assert found.records()[0]["row"] is found.records()[0]["other_row"] is None
        assert "rows" not in str(found).split("\n", 2)[2]
        square, known = (interactions(one, given=[])["town", "sex"] for one in (study, ordered))
        assert (square["squares"], square["broken"]) == (known["squares"], known["broken"])
        assert (square.examples[0].rows, square.examples[0].index) == (None, ())
        assert "(row" not in str(square)
    assert "rows" in str(expected).split("\n", 2)[2]
    assert relevance(without).settings.engine == "spark"


@pytest.mark.parametrize("limit", [6, None])
def test_evidence_is_that_of_equal_rows_put_together(limit):
    """Rows that are equal on what is shown are one row, with their number."""
    frame = measured(400).assign(y=lambda f: f.y.astype(str))
    shown = ["town", "sex", "noise", "y"]
    merged = frame.groupby(shown).size().reset_index(name="n")
    expected = evidence(merged, "y", "town", given=["sex", "noise"], weights="n", limit=limit)
    found = evidence(studied(no_frame(encode_table(frame[shown], "y"))), "town", given=["sex", "noise"], limit=limit)
    assert (found.n_pairs, found.n_changed, len(found)) == (expected.n_pairs, expected.n_changed, len(expected))
    assert sum(pair.weight for pair in found.pairs) <= found.n_pairs
    if limit is None:
        said, known = (
            sorted(
                (sorted(pair.context), sorted(zip(pair.values, pair.labels, strict=True)), pair.weight)
                for pair in one.pairs
            )
            for one in (found, expected)
        )
        assert said == known


@pytest.mark.parametrize("name", ["plain", "weights"])
def test_the_same_table_of_shares_with_examples_of_broken_squares(name):
    there, here = both(table_of(name))
    for pair, given in ((("town", "sex"), "auto"), (("age", "town"), []), (("town", "sex"), ["noise"])):
        found, expected = (interactions(study, given=given)[pair] for study in (there, here))
        assert found.numbers.keys() == expected.numbers.keys()
        assert_same(found.records(), expected.records())
        assert len(found.examples) == len(expected.examples) > 0
        for square in found.examples:
            assert [name for name, _ in square.context] == found["given"]
            assert len(set(square.values)) == 4


def test_results_say_which_engine_counted():
    study = studied(table_of("weights"))
    assert str(study).startswith("Study of 7 features for 'y' (2 classes), ")
    for settings in (relevance(study).settings, interactions(study).settings):
        assert (settings.engine, settings.weighted, settings.backend) == ("duckdb", True, None)
        assert settings.searched_rows == study.sample.rows.n_rows


def test_what_compares_whole_rows_is_refused():
    study = studied(table_of("weights"))
    with pytest.raises(InputError, match=r"compare compares whole rows, and this table is too large .* a sample"):
        compare(study)
    assert "compare(study)" not in str(study).split()
    assert "report(study)" in str(study).split()


def test_tables_that_lie_elsewhere_are_encoded_there(monkeypatch):
    table, asked = table_of("weights"), []

    def encode_outside(X, y, rules, *, watch, **options):
        assert watch is predicted_by_cut
        asked.append((y, rules.weights, options))
        return replace(table, engine="spark", label_meaning=None if y is None else table.label_meaning)

    monkeypatch.setattr(study_module, "is_outside", lambda X: X == "elsewhere")
    monkeypatch.setattr(study_module, "encode_outside", encode_outside)
    study = Study("elsewhere", "y", weights="times", n_jobs=2)
    assert (study.n_jobs, study.call) == (2, "Study(X, 'y', weights='times')")
    assert asked[0] == ("y", "times", {"keep": (), "duplicates": "count", "needs_label": True})
    assert relevance(study).settings.engine == "spark"
    assert audit("elsewhere", "y", "sex").n_pairs == audit(Study(table), "sex").n_pairs
    assert asked[-1][2]["keep"] == ["sex"]
    assert redundancies("elsewhere").names == table.names
    assert asked[-1][2]["needs_label"] is False
