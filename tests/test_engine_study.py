"""A study whose rows an engine groups has the numbers of a study in memory, whatever comes here at once."""

from dataclasses import replace

import numpy as np
import pytest
from engine_contract import RowsHere, rule_of_three

from analogical import InputError, Study
from analogical.count.groups import collapse_rows
from analogical.engine_study import EngineStudy
from analogical.table.encode import encode_table
from analogical.table.rules import Rules
from analogical.verbs.relevance import relevance_of

EXACT = ("status", "given", "same_as", "stand_ins", "deciding", "paper_status")
COUNTS = ("pairs", "changed", "compared")
FLOATS = ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index", "noise_rate", "ari")


class Counting(RowsHere):
    """Keeps what it was asked for."""

    def __init__(self, rows):
        super().__init__(rows)
        self.jobs, self.n_sums = [], 0

    def group(self, sets, limit):
        self.jobs.append(list(map(tuple, sets)))
        return super().group(sets, limit)

    def sum_contexts(self, summarise):
        self.n_sums += 1
        return super().sum_contexts(summarise)


def encoded(n, weights=False):
    """A table whose first half differs in few columns, so that features have pairs given all others."""
    frame = rule_of_three(n).astype(str)
    frame.iloc[: n // 2, 4:12] = frame.iloc[0, 4:12]
    given = np.random.default_rng(1).integers(0, 4, n) if weights else None
    return encode_table(frame.drop(columns="y"), frame.y, Rules(weights=given))


def assert_same(found, expected):
    for name in EXACT:
        assert getattr(found, name) == getattr(expected, name), name
    for name in COUNTS:
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    for name in FLOATS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12, err_msg=name)
    for one, other in zip(found.points, expected.points, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.value, one.against, one.label) == (other.value, other.against, other.label)
            assert (one.points, one.low, one.high) == pytest.approx((other.points, other.low, other.high))


@pytest.mark.parametrize("given", ["auto", "all", ["f0", "f3"], []])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("most", [20_000, 600])
def test_the_same_relevance_as_in_memory(given, weights, most):
    table = encoded(1000, weights)
    engine = Counting(table.coded)
    study = EngineStudy(table, engine, most_combinations=most)
    if given == "all":
        study.given(given)
        assert engine.n_sums == (most == 600)  # with the paper's counts, if rows are too many to come here
    assert_same(relevance_of(study, given), relevance_of(Study.of_table(table), given))
    assert engine.n_sums == 1
    if most > 600:
        assert len(engine.jobs) == 1


def test_each_row_once():
    table = encoded(1000)
    study = EngineStudy(table, RowsHere(collapse_rows(table.coded)), duplicates="once")
    assert_same(relevance_of(study), relevance_of(Study.of_table(table, duplicates="once")))


def test_the_deciding_set_is_chosen_on_a_sample_and_all_numbers_come_from_all_rows():
    table = encoded(6000)
    some = np.arange(0, 6000, 4)
    sample = replace(table, codes=table.codes[some], labels=table.labels[some])
    found = relevance_of(EngineStudy(sample, RowsHere(table.coded)))
    assert (found.settings.searched_rows, set(found.deciding)) == (1500, {"f0", "f1", "f2"})
    assert found.with_status("effect") == found.ranking()[:3]
    assert found.same_as[12] == "f0"
    expected = relevance_of(Study.of_table(table), list(found.deciding))
    tested = [i for i in range(13) if found.same_as[i] is None]
    for name in ("compared", "effect", "effect_low", "effect_high", "p_value", "index", "noise_rate"):
        np.testing.assert_allclose(getattr(found, name)[tested], getattr(expected, name)[tested], rtol=1e-9)


def test_more_combinations_than_come_together_are_refused():
    table = encoded(500)
    study = EngineStudy(table, RowsHere(table.coded), most_combinations=50)
    with pytest.raises(InputError, match="More than 50 combinations of values of f0, f1, f2, f3 occur, too many"):
        relevance_of(study, ["f0", "f1", "f2"])


def test_more_contexts_than_come_here_are_refused_by_the_name_of_the_feature():
    table = encoded(1000)
    study = EngineStudy(table, RowsHere(table.coded), most_combinations=600, most_cells=13 * 10)
    with pytest.raises(InputError, match=r"'f1' has too many distinct contexts .* give fewer features"):
        relevance_of(study, "all")


def test_groups_are_let_go_and_brought_here_again():
    table = encoded(1000)
    engine = Counting(table.coded)
    study = EngineStudy(table, engine, most_combinations=60)
    first = study.rows_of([0, 1])
    for i in range(3, 12):
        study.rows_of([0, 2, i])
    assert sum(len(rows.codes) for rows in study._groups.values()) <= 4 * 60
    assert len(engine.jobs) == 10
    again = study.rows_of([1, 0])
    assert engine.jobs[-1] == [(0, 1)]
    assert sorted(again.weights.tolist()) == sorted(first.weights.tolist())
