"""A study whose rows an engine groups has the numbers of a study in memory, whatever comes here at once."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from engine_contract import RowsHere, engine_study, rule_of_three

from analogical import InputError, Study, audit, interactions, select, transitions
from analogical.table.encode import encode_table
from analogical.table.rules import Rules
from analogical.verbs.relevance import relevance_of


class Counting(RowsHere):
    """Keeps what it was asked for."""

    def __init__(self, *rows, **options):
        super().__init__(*rows, **options)
        self.jobs, self.n_sums = [], 0

    def group(self, sets, limit):
        self.jobs.append(list(map(tuple, sets)))
        return super().group(sets, limit)

    def sum_contexts(self, summarise):
        self.n_sums += 1
        return super().sum_contexts(summarise)


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
    frame["nearly"] = np.where(rng.random(n) < 0.01, "x", town)
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
    assert_same(relevance_of(study, given).to_dict(), relevance_of(Study.of_table(table), given).to_dict())
    assert engine.n_sums == 1
    if most > 600:
        assert len(engine.jobs) == 1


@pytest.mark.parametrize("given", ["auto", "all", ["age", "town"], []])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_relevance_with_numbers_weights_and_groups(name, given):
    there, here = both(table_of(name))
    assert_same(relevance_of(there, given).to_dict(), relevance_of(here, given).to_dict())


def test_finer_bins_are_given_as_in_memory():
    there, here = both(table_of("plain"))
    contexts = [there.given_of(i, "auto") for i in range(there.n_features)]
    assert contexts == [here.given_of(i, "auto") for i in range(here.n_features)]
    assert any(column >= there.n_features for context in contexts for column in context.columns)


def test_each_row_once():
    for table in (encoded(1000), table_of("weights")):
        there, here = both(table, duplicates="once")
        found = relevance_of(there)
        assert_same(found.to_dict(), relevance_of(here).to_dict())
        assert found.n_rows == table.coded.n_rows > there.margins.n_rows
        assert_same(select(there).to_dict(), select(here).to_dict())


def test_the_deciding_set_is_chosen_on_a_sample_and_all_numbers_come_from_all_rows(monkeypatch):
    table = encoded(6000)
    monkeypatch.setattr("analogical.engines.study.SEARCH_ROWS", 1500)
    found = relevance_of(engine_study(table))
    assert (found.settings.searched_rows, found.n_rows, set(found.deciding)) == (1500, 6000, {"f0", "f1", "f2"})
    assert found.with_status("effect") == found.ranking()[:3]
    assert found.same_as[12] == "f0"
    expected = relevance_of(Study.of_table(table), list(found.deciding))
    tested = [i for i in range(13) if found.same_as[i] is None]
    for name in ("compared", "effect", "effect_low", "effect_high", "p_value", "index", "noise_rate"):
        np.testing.assert_allclose(getattr(found, name)[tested], getattr(expected, name)[tested], rtol=1e-9)


def test_more_rows_than_are_searched():
    there, here = both(table_of("plain", 30_000))
    found, expected = relevance_of(there), relevance_of(here)
    assert found.settings.searched_rows == 20_000
    assert_same(found.to_dict(), expected.to_dict())
    assert_same(select(there, k=4).to_dict(), select(here, k=4).to_dict())


# ---------------------------------------------------------------- the other verbs


@pytest.mark.parametrize("name", ["plain", "weights"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_same_selection_and_interactions(name, n_classes):
    there, here = both(table_of(name, n_classes=n_classes))
    assert_same(select(there).to_dict(), select(here).to_dict())
    assert_same(select(there, k=5).to_dict(), select(here, k=5).to_dict())
    for given in ("auto", ["age"], []):
        assert_same(interactions(there, given=given).to_dict(), interactions(here, given=given).to_dict())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_classes", [2, 4])
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


# ---------------------------------------------------------------- what comes here


def test_more_combinations_than_come_together_are_refused():
    study = engine_study(encoded(500), most_combinations=50)
    with pytest.raises(InputError, match="More than 50 combinations of values of f0, f1, f2, f3 occur, too many"):
        relevance_of(study, ["f0", "f1", "f2"])
    with pytest.raises(InputError, match="More than 50 combinations of values of age, sex, groups occur"):
        relevance_of(engine_study(table_of("groups"), most_combinations=50), ["sex"])


def test_more_contexts_than_come_here_are_refused_by_the_name_of_the_feature():
    study = engine_study(encoded(1000), most_combinations=600, most_cells=13 * 10)
    with pytest.raises(InputError, match=r"'f1' has too many distinct contexts .* give fewer features"):
        relevance_of(study, "all")


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
