"""A study whose rows an engine groups has the numbers of a study in memory, whatever comes here at once."""

import sys
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from engine_contract import RowsHere, engine_study, rule_of_three

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
    squares,
    transitions,
)
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.count.groups import merge_rows


class Counting(RowsHere):
    """Keeps what it was asked for."""

    def __init__(self, *rows, **options):
        super().__init__(*rows, **options)
        self.jobs, self.n_sums = [], 0

    def group(self, sets, limit):
        self.jobs.append(list(map(tuple, sets)))
        return super().group(sets, limit)

    def sum_contexts(self, most_cells):
        self.n_sums += 1
        return super().sum_contexts(most_cells)


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


def encoded(n, weights=False):
    """A table whose first half differs in few columns, so that features have pairs given all others."""
    frame = rule_of_three(n).astype(str)
    frame.iloc[: n // 2, 4:12] = frame.iloc[0, 4:12]
    given = np.random.default_rng(1).integers(0, 4, n) if weights else None
    return no_frame(encode_table(frame.drop(columns="y"), frame.y, Rules(weights=given)))


def no_frame(table):
    """The table without the dataframe library that it came in, which an engine has not."""
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
    """A study whose rows an engine holds, and one in memory."""
    return engine_study(table, **options), Study.of_table(table, duplicates=options.get("duplicates", "count"))


# ---------------------------------------------------------------- relevance


@pytest.mark.parametrize("given", ["auto", "all", ["f0", "f3"], []])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("most", [20_000, 600])
def test_the_same_relevance_as_in_memory(given, weights, most):
    table = encoded(1000, weights)
    study = engine_study(table, Counting, most_combinations=most)
    engine = study.engine
    if given == "all":
        study.given(given)
        assert engine.n_sums == (most == 600)  # with the paper's counts, if rows are too many to come here
    assert_same(relevance(study, given=given).to_dict(), relevance(Study.of_table(table), given=given).to_dict())
    assert engine.n_sums == 1
    if most > 600:
        assert len(engine.jobs) == 1


@pytest.mark.parametrize("given", ["auto", "all", ["age", "town"], []])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_relevance_with_numbers_weights_and_groups(name, given):
    there, here = both(table_of(name))
    assert_same(relevance(there, given=given).to_dict(), relevance(here, given=given).to_dict())


def test_finer_bins_are_given_as_in_memory():
    there, here = both(table_of("plain"))
    contexts = [there.given_of(i, "auto") for i in range(there.n_features)]
    assert contexts == [here.given_of(i, "auto") for i in range(here.n_features)]
    assert any(column >= there.n_features for context in contexts for column in context.columns)


def test_each_row_once():
    for table in (encoded(1000), table_of("weights")):
        there, here = both(table, duplicates="once")
        found = relevance(there)
        assert_same(found.to_dict(), relevance(here).to_dict())
        assert found.n_rows == table.coded.n_rows > there.margins.n_rows
        assert_same(select(there).to_dict(), select(here).to_dict())


def test_the_deciding_set_is_chosen_on_a_sample_and_all_numbers_come_from_all_rows(monkeypatch):
    table = encoded(6000)
    monkeypatch.setattr("analogical.engines.study.SEARCH_ROWS", 1500)
    found = relevance(engine_study(table))
    assert (found.settings.searched_rows, found.n_rows, set(found.deciding)) == (1500, 6000, {"f0", "f1", "f2"})
    assert found.with_status("effect") == found.ranking()[:3]
    assert found.same_as[12] == "f0"
    expected = relevance(Study.of_table(table), given=list(found.deciding))
    tested = [i for i in range(13) if found.same_as[i] is None]
    for name in ("compared", "effect", "effect_low", "effect_high", "p_value", "index", "noise_rate"):
        np.testing.assert_allclose(getattr(found, name)[tested], getattr(expected, name)[tested], rtol=1e-9)


def test_results_say_which_engine_counted_and_how():
    class InDuckDB(RowsHere):
        name = "duckdb"

    study = engine_study(table_of("weights"), InDuckDB, plan="blocks")
    assert str(study).startswith("Study of 7 features for 'y' (2 classes), ")
    assert "compare(study)" not in str(study).split()
    assert "report(study)" in str(study).split()
    for settings in (relevance(study).settings, interactions(study).settings):
        assert (settings.engine, settings.plan, settings.weighted) == ("duckdb", "blocks", True)
        assert (settings.searched_rows, settings.backend) == (study.n_rows, None)


def test_more_rows_than_are_searched():
    there, here = both(table_of("plain", 30_000))
    found, expected = relevance(there), relevance(here)
    assert found.settings.searched_rows == 20_000
    assert_same(found.to_dict(), expected.to_dict())
    assert_same(select(there, k=4).to_dict(), select(here, k=4).to_dict())


# ---------------------------------------------------------------- the other verbs


@pytest.mark.parametrize(("name", "n_classes"), [("plain", 5), ("weights", 2)])
def test_the_same_selection_and_interactions(name, n_classes):
    there, here = both(table_of(name, n_classes=n_classes))
    assert_same(select(there).to_dict(), select(here).to_dict())
    assert_same(select(there, k=5).to_dict(), select(here, k=5).to_dict())
    for given in ("auto", ["age"], []):
        assert_same(interactions(there, given=given).to_dict(), interactions(here, given=given).to_dict())


@pytest.mark.parametrize(("name", "n_classes"), list(zip(TABLES, (4, 2, 2, 4), strict=True)))
def test_the_same_audit(name, n_classes):
    there, here = both(table_of(name, n_classes=n_classes))
    for feature, given in (("sex", "auto"), ("town", ["sex"]), ("age", []), ("country", "auto")):
        found, expected = (audit(study, feature, given=given).to_dict() for study in (there, here))
        found.pop("examples"), expected.pop("examples")  # rows that are one there, see below
        assert_same(found, expected)


def test_the_same_transitions():
    there, here = both(table_of("weights", n_classes=3))
    for feature in ("town", "age"):
        assert_same(transitions(there, feature).to_dict(), transitions(here, feature).to_dict())


@pytest.mark.parametrize("name", TABLES)
def test_the_same_squares_with_their_examples(name):
    there, here = both(table_of(name))
    for first, second, given in (("town", "sex", "auto"), ("age", "town", []), ("town", "sex", ["noise"])):
        found, expected = (squares(study, first, second, given=given).to_dict() for study in (there, here))
        assert_same(found, expected)
        assert found["examples"]


@pytest.mark.parametrize("name", ["plain", "weights"])
@pytest.mark.parametrize("n", [600, 30_000])
def test_the_same_redundancies(name, n):
    there, here = both(table_of(name, n))
    found = redundancies(there)
    assert_same(found.to_dict(), redundancies(here).to_dict())
    assert ("country", ("town",)) in [(one.feature, one.determined_by) for one in found.dependencies]
    assert ("town", "nearly") in [(one.feature, one.of) for one in found.near_copies]


def test_the_same_renamings_and_dependencies_on_two_columns():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, (900, 3))
    frame = pd.DataFrame(codes, columns=["a", "b", "c"]).astype(str)
    frame["a2"] = frame.a.map({"0": "w", "1": "x", "2": "y", "3": "z"})
    frame["sum"], frame["one"] = frame.a + frame.b, "1"
    frame["broken"] = frame.a2
    frame.loc[899, "broken"] = "w" if frame.a2[899] != "w" else "x"  # a renaming but for the last row
    table = no_frame(encode_table(frame, codes[:, 2] > 1))
    found, expected = map(redundancies, both(table))
    assert found == expected
    assert found.renamings == (("a", "a2"),)
    assert (found.constants, found.dependencies[-1].feature) == (("one",), "sum")
    assert redundancies(with_small_sample(table)) == expected  # what the sample cannot refute, all rows do


def test_near_copies_at_the_limit_in_the_sample_are_counted_on_all_rows():
    rng = np.random.default_rng(6)
    one, y = rng.integers(0, 2, (2, 4000))
    is_other = rng.random(4000) < 0.036
    is_other[::4] = rng.random(1000) < 0.048  # in the sample it leaves more than a quarter open
    table = no_frame(encode_table(pd.DataFrame({"one": one, "other": one ^ is_other}).astype(str), y))
    there, here = both(table)
    there._sample = Study.of_rows(there.table, there.engine.rows.take(np.arange(0, 4000, 4)))
    assert there._sample.entropy_left(0, 1) > 0.25
    found = redundancies(there)
    assert_same(found.to_dict(), redundancies(here).to_dict())
    assert 0.2 < found.near_copies[0].left < 0.25


def with_small_sample(table, **options):
    """A study whose sample refutes little."""
    study, some = engine_study(table, **options), slice(0, 4)
    study._sample = Study.of_table(replace(table, codes=table.codes[some], labels=table.labels[some], fine={}))
    return study


def test_dependencies_that_cannot_be_told_are_said_not_to_be_searched():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 20, (900, 4)), columns=list("abcd")).astype(str)
    table = encode_table(frame, rng.integers(0, 2, 900))
    for most, is_told in ((600, (True, False)), (300, (False, False)), (5000, (True, True))):
        found = redundancies(with_small_sample(table, most_combinations=most))
        assert (found.searched_one, found.searched_two, found.searched_near) == (*is_told, is_told[0])


@pytest.mark.parametrize("name", ["plain", "weights and groups"])
def test_the_same_report(name):
    there, here = both(table_of(name, 800))
    found, expected = (report(study, protected=["sex"]).to_dict() for study in (there, here))
    for one in (found, expected):
        for pair in [panel[kind] for panel in one["panels"] for kind in ("changed_pair", "kept_pair") if panel[kind]]:
            del pair["weight"]  # there a row stands for all that are equal on what is shown
        for audited in one["audits"]:
            del audited["examples"]
    assert_same(found, expected)
    assert all(panel["changed_pair"]["rows"] for panel in found["panels"] if panel["changed_pair"])
    assert report(there).html.startswith("<!doctype html>")


# ---------------------------------------------------------------- single rows


@pytest.mark.parametrize("limit", [6, None])
def test_evidence_is_that_of_equal_rows_put_together(limit):
    """Rows that are equal on what is shown are one row, with their number; it stands where the first of them does."""
    frame = measured(400).assign(y=lambda f: f.y.astype(str))
    shown = ["town", "sex", "noise", "y"]
    merged = frame.reset_index(names="first").groupby(shown, sort=False).agg(n=("first", "size"), row=("first", "min"))
    merged = merged.sort_values("row").reset_index()
    expected = evidence(merged[[*shown, "n"]], "y", "town", given=["sex", "noise"], weights="n", limit=limit)
    table = encode_table(frame[shown], "y")
    found = evidence(engine_study(table), "town", given=["sex", "noise"], limit=limit)
    assert (found.n_pairs, found.n_changed) == (expected.n_pairs, expected.n_changed)
    assert [pair.rows for pair in found.pairs] == [tuple(merged.row[list(pair.rows)]) for pair in expected.pairs]
    for name in ("context", "values", "labels", "weight"):
        assert [getattr(pair, name) for pair in found.pairs] == [getattr(pair, name) for pair in expected.pairs]
    assert all(pair.index == pair.rows for pair in found.pairs)


def test_a_first_pair_of_each_context_is_that_of_memory():
    there, here = both(table_of("groups"))
    found, expected = (evidence(study, "sex", given=["town", "noise"], limit=6) for study in (there, here))
    assert [pair.rows for pair in found.pairs] == [pair.rows for pair in expected.pairs]


def test_rows_without_an_order_have_no_numbers():
    table = table_of("weights", 300)
    there = engine_study(table, partial(RowsHere, has_order=False))
    ordered = engine_study(table)
    found, expected = evidence(there, "town"), evidence(ordered, "town")
    assert (found.n_pairs, found.n_changed, len(found)) == (expected.n_pairs, expected.n_changed, len(expected))
    assert {(pair.rows, pair.index) for pair in found.pairs} == {(None, ())}
    assert found.records()[0]["row"] is found.records()[0]["other_row"] is None
    assert "rows" not in str(found).split("\n", 2)[2]
    assert "rows" in str(expected).split("\n", 2)[2]
    square = squares(there, "town", "sex", given=[])
    assert square.n_squares == squares(ordered, "town", "sex", given=[]).n_squares
    assert (square.examples[0].rows, square.examples[0].index) == (None, ())
    assert square.records()[0]["rows"] == []
    assert "(row" not in str(square)
    assert "(row" in str(squares(ordered, "town", "sex", given=[]))
    changes, others = (
        {frozenset(zip(t.values, t.labels, strict=True)): t.pairs for t in transitions(study, "town").counts}
        for study in (there, ordered)
    )
    assert changes == others
    page = report(there, top=1).html
    assert "another row" in page
    assert "another row" not in report(ordered, top=1).html


@pytest.mark.parametrize("name", ["plain", "weights and groups"])
def test_rows_that_came_here_merged_are_studied_here_without_numbers(name):
    there, expected = both(table_of(name))
    rows = merge_rows(there.engine.rows)
    study = Study.of_rows(there.table, rows, engine_name="spark", plan="some")
    found = relevance(study)
    assert (found.settings.engine, found.settings.plan, found.n_rows) == ("spark", "some", expected.n_rows)
    settings = replace(found.settings, engine="memory", plan=None)
    assert_same(replace(found, settings=settings).to_dict(), relevance(expected).to_dict())
    pairs = evidence(study, "sex", given=["age", "town"]).pairs
    assert {pair.rows for pair in pairs} == {None}
    finer = [
        i for i in range(study.n_features) if max(study.given_of(i, "auto").columns, default=0) >= study.n_features
    ]
    assert finer
    for i, _ in study.bins:
        assert study.fine_sizes[i].tolist() == there.fine_sizes[i].tolist() == expected.fine_sizes[i].tolist()
    feature = study.table.names[finer[0]]
    shown = evidence(study, feature).pairs[0].context
    assert shown in {pair.context for pair in evidence(expected, feature, limit=None).pairs}
    once = Study.of_rows(there.table, rows, duplicates="once") if name == "plain" else None
    if once is not None:
        assert_same(select(once).to_dict(), select(Study.of_table(table_of(name), duplicates="once")).to_dict())


# ---------------------------------------------------------------- which engine


def test_tables_that_lie_elsewhere_are_opened_by_their_engine(monkeypatch):
    frame, asked = measured(300), []

    class Elsewhere:
        """A dataframe of another library."""

    def open_study(X, y, rules, **options):
        asked.append((y, rules.weights, options))
        label = None if y is None else replace(table.label_meaning)
        study = engine_study(replace(table, label_meaning=label, labels=None if y is None else table.labels))
        study.engine_name = "duckdb"
        return study

    table = no_frame(encode_table(frame, "y", Rules(weights="times", ignore=["who"])))
    monkeypatch.setitem(sys.modules, "analogical.duck", SimpleNamespace(open_study=open_study))
    for module in ("duckdb._relation", "_duckdb", "analogical.duck.files"):
        monkeypatch.setattr(Elsewhere, "__module__", module)
        study = Study(Elsewhere(), "y", weights="times", n_jobs=2, duplicates="count")
        assert isinstance(study, Study)
        assert (study.n_jobs, study.engine_name) == (2, "duckdb")
        assert study.call == "Study(X, 'y', weights='times')"
    assert asked[0] == ("y", "times", {"keep": (), "duplicates": "count"})
    assert relevance(study).settings.engine == "duckdb"
    X = Elsewhere()
    expected = Study.of_table(table)
    assert relevance(X, "y", duplicates="count").ranking() == relevance(expected).ranking()
    assert audit(X, "y", "sex").n_pairs == audit(expected, "sex").n_pairs
    assert asked[-1][2]["keep"] == ["sex"]
    assert select(X, "y").features == select(expected).features
    assert redundancies(X).names == table.names
    assert asked[-1][0] is None
    for refused in (partial(compare, X, "y"), partial(compare, study)):
        with pytest.raises(InputError, match=r"compares whole rows, and this table lies in DuckDB; give .* a sample"):
            refused()
    with pytest.raises(InputError, match="y is missing: give the name of the column"):
        relevance(X)
    monkeypatch.setattr(Elsewhere, "__module__", "pyspark.sql.connect.dataframe")
    monkeypatch.setitem(sys.modules, "analogical.spark", SimpleNamespace(open_study=open_study))
    assert relevance(X, "y").n_rows == table.coded.n_rows
    with pytest.raises(InputError, match="compare compares whole rows, and this table lies on Spark"):
        compare(X, "y")


# ---------------------------------------------------------------- what comes here


def test_more_combinations_than_come_together_are_refused():
    study = engine_study(encoded(500), most_combinations=50)
    with pytest.raises(InputError, match="More than 50 combinations of values of f0, f1, f2, f3 occur, too many"):
        relevance(study, given=["f0", "f1", "f2"])
    with pytest.raises(InputError, match="More than 50 combinations of values of age, sex, groups occur"):
        relevance(engine_study(table_of("groups"), most_combinations=50), given=["sex"])


def test_more_contexts_than_come_here_are_refused_by_the_name_of_the_feature():
    study = engine_study(encoded(1000), most_combinations=600, most_cells=13 * 10)
    with pytest.raises(InputError, match=r"'f1' has too many distinct contexts .* give fewer features"):
        relevance(study, given="all")


def test_groups_are_let_go_and_brought_here_again():
    study = engine_study(encoded(1000), Counting, most_combinations=60)
    first = study.rows_of([0, 1])
    for i in range(3, 12):
        study.rows_of([0, 2, i])
    assert sum(len(rows.codes) for rows in study._groups.values()) <= 4 * 60
    assert len(study.engine.jobs) == 10
    again = study.rows_of([1, 0])
    assert study.engine.jobs[-1] == [(0, 1)]
    assert sorted(again.weights.tolist()) == sorted(first.weights.tolist())
