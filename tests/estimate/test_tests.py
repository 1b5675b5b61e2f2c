"""The tests of label scores, against all assignments of the scores and other libraries; and Holm's correction."""

import math
import sys
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from conftest import coded
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, fisher_exact, gamma, norm, pearson3, spearmanr
from scipy.stats import f as ratio_of_two
from statsmodels.stats.contingency_tables import StratifiedTable

from analogical import relevance
from analogical.count.contexts import Contexts, Stack, contexts_of_cells
from analogical.count.pairs import find_contexts
from analogical.estimate import tests as tests_module
from analogical.estimate.permutations import PValue, smallest_of
from analogical.estimate.tests import Scores, adjust_for_features, combine, p_values_of, ranks_of

# ---------------------------------------------------------------- a table of scores, and what the package makes of it


def scored(context, values, scores, times=None, *, are_numbers=False):
    """The sums of a stack of one feature, each row with a label code of its own.

    Unless they are numbers, the rows of all values have the same variance, as in what a fit leaves of classes.
    """
    order = np.lexsort((values, context))
    contexts, _ = contexts_of_cells(
        np.asarray(context)[order], np.asarray(values)[order], order, np.ones(len(order), np.int64)
    )
    if times is not None:
        contexts = Contexts(contexts.starts, np.asarray(times), contexts.values, contexts.labels, contexts.sizes)
    scores = np.asarray(scores, float)
    scores = scores[:, None] if scores.ndim == 1 else scores
    return Stack.of([contexts]), Scores(scores, None if are_numbers else np.zeros_like(scores))


def classed(rows, labels, weights=None):
    """The stack of the first column given the others, and the scores of the classes."""
    table = coded(rows, labels, weights)
    return Stack.of([find_contexts(table, [0])[0]]), Scores.of_classes(table.label_sizes())


def four(stack, scores, rank=None):
    """The four p-values of one feature: common direction, rare values, any direction and trend."""
    sums = tests_module._Sums.of(stack, scores)
    together, apart = tests_module._common_direction(sums, scores)
    others = tests_module._any_direction(sums), tests_module._trends(sums, [rank])
    return [float(p[0]) for p in (together, apart, *others)]


def assignments(context, scores):
    """All ways to give the scores of a context to its rows."""
    context, scores = np.asarray(context), np.asarray(scores, float)
    members = [np.flatnonzero(context == c) for c in np.unique(context)]
    for orders in product(*(list(permutations(rows)) for rows in members)):
        given = scores.copy()
        for rows, order in zip(members, orders, strict=True):
            given[rows] = scores[list(order)]
        yield given


def off_mean(context, scores):
    """Scores less the mean of their context."""
    scores = np.asarray(scores, float).copy()
    for c in np.unique(context):
        scores[np.asarray(context) == c] -= scores[np.asarray(context) == c].mean(axis=0)
    return scores


def between(context, values, scores):
    """The sum of squares between the values of each context, summed."""
    context, values, total = np.asarray(context), np.asarray(values), 0.0
    for c in np.unique(context):
        for v in np.unique(values[context == c]):
            rows = (context == c) & (values == v)
            total += (scores[rows].sum(axis=0) ** 2).sum() / rows.sum()
    return total


TINY = {
    "one context of numbers": ([0] * 6, [0, 0, 1, 1, 2, 2], [0.3, -1.0, 2.0, 0.5, 0.1, 4.0]),
    "unequal values": ([0] * 6, [0, 0, 0, 1, 1, 2], [1.0, 0.0, 0.0, 2.5, -1.0, 0.0]),
    "two contexts of numbers": ([0] * 4 + [1] * 5, [0, 0, 1, 1, 0, 1, 1, 2, 2], [1, 2, 3, 5, 0, 1, 4, 4, -2]),
    "two classes": ([0] * 5 + [1] * 4, [0, 0, 1, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 1, 1, 0, 0]),
    "three rows": ([0] * 3 + [1] * 3, [0, 0, 1, 2, 2, 0], [1.0, 2.0, 4.0, 0.0, 3.0, 3.5]),
    "three classes": ([0] * 6 + [1] * 3, [0, 0, 1, 1, 1, 2, 0, 1, 1], np.eye(3)[[0, 1, 2, 2, 0, 0, 1, 1, 2]]),
    "two scores": ([0] * 6, [0, 1, 1, 0, 1, 2], np.array([[1, 0], [2, 3], [0.5, 1], [3, -1], [0, 0], [1, 7]])),
}


@pytest.fixture(params=TINY, ids=str)
def tiny(request):
    context, values, scores = TINY[request.param]
    return np.array(context), np.array(values), np.array(scores, float)


# ---------------------------------------------------------------- a common direction


def test_deviation_and_covariance_are_those_of_all_assignments(tiny):
    context, values, scores = tiny
    stack, table = scored(context, values, scores)
    sums = tests_module._Sums.of(stack, table)
    off = off_mean(context, scores.reshape(len(scores), -1))

    def by_value(given):
        return np.array([given[values == v].sum(axis=0) for v in range(values.max() + 1)]).ravel()

    outcomes = np.array([by_value(given) for given in assignments(context, off)])
    assert sums.values.deviation.ravel() == pytest.approx(by_value(off), abs=1e-12)
    assert outcomes.mean(axis=0) == pytest.approx(0, abs=1e-12)
    kinds = np.zeros((len(stack.contexts), values.max() + 1))
    for c, v in zip(context, values, strict=True):
        kinds[c, v] += 1
    found = tests_module._covariance(stack.contexts.times, stack.contexts.n_rows, kinds, sums.squares)
    assert found == pytest.approx(np.cov(outcomes.T, bias=True), abs=1e-9)


def test_a_quadratic_form_leaves_out_directions_that_cannot_vary():
    form = tests_module._quadratic_form
    assert form(np.array([1.0, -1.0]), np.array([[2.0, -2.0], [-2.0, 2.0]])) == pytest.approx((0.5, 1))
    assert form(np.zeros(2), np.zeros((2, 2))) == (0.0, 0)
    assert form(np.array([1.0, 2.0]), np.diag([4.0, 1.0])) == pytest.approx((4.25, 2))
    assert form(np.array([1e-6, 2.0]), np.diag([4e-12, 1.0])) == pytest.approx((4.25, 2))  # rare, and no rounding


def stratified(seed, n_values=2, n_labels=2, n_contexts=4, n=1600):
    """Rows with an effect, and their tables of (contexts, values, labels)."""
    rng = np.random.default_rng(seed)
    context, values = rng.integers(0, n_contexts, n), rng.integers(0, n_values, n)
    labels = np.where(rng.random(n) < 0.06, values % n_labels, (rng.random(n) * n_labels).astype(int))
    tables = np.zeros((n_contexts, n_values, n_labels))
    np.add.at(tables, (context, values, labels), 1)
    return np.column_stack([values, context]), labels, tables


@pytest.mark.parametrize("seed", range(4))
def test_two_values_and_classes_give_the_mantel_haenszel_test_of_statsmodels(seed):
    rows, labels, tables = stratified(seed)
    expected = StratifiedTable(list(tables)).test_null_odds(correction=False).pvalue
    together, apart, *_ = four(*classed(rows, labels))
    assert together == pytest.approx(expected, rel=1e-9)
    assert math.isnan(apart)


@pytest.mark.parametrize(("n_values", "n_labels"), [(2, 3), (3, 2), (4, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_more_of_them_give_the_generalised_test(seed, n_values, n_labels):
    """Landis, Heyman and Koch: all cells but the last value and class, with their hypergeometric covariance."""
    rows, labels, tables = stratified(seed, n_values, n_labels)
    deviation, covariance = 0.0, 0.0
    for table in tables:
        n, of_value, of_label = table.sum(), table.sum(axis=1), table.sum(axis=0)
        expected = np.outer(of_value, of_label) / n
        deviation = deviation + (table - expected)[:-1, :-1].ravel()
        one, other = (np.diag(margin) * n - np.outer(margin, margin) for margin in (of_value, of_label))
        covariance = covariance + np.kron(one[:-1, :-1], other[:-1, :-1]) / (n**2 * (n - 1))
    statistic = deviation @ np.linalg.solve(covariance, deviation)
    expected = chi2.sf(statistic, (n_values - 1) * (n_labels - 1))
    assert four(*classed(rows, labels))[0] == pytest.approx(expected, rel=1e-8)


def test_numbers_in_one_context_give_the_analysis_of_variance_over_the_total():
    """The permutation form of an analysis of variance: squares between values over all squares, times n - 1."""
    rng = np.random.default_rng(3)
    values, scores = rng.integers(0, 4, 300), rng.normal(size=300)
    off = scores - scores.mean()
    share = sum(off[values == v].sum() ** 2 / (values == v).sum() for v in range(4)) / (off**2).sum()
    together, apart, any_direction, _ = four(*scored([0] * 300, values, scores))
    assert together == pytest.approx(chi2.sf(share * 299, 3))
    assert math.isnan(apart)
    assert math.isnan(any_direction)  # in one context all directions are common


def test_the_room_of_a_value_is_its_expected_rows_of_the_rarer_class():
    rows = [(0, 0)] * 30 + [(1, 0)] * 970
    labels = np.zeros(1000, int)
    labels[[0, 1, *range(40, 118)]] = 1
    room = tests_module._Sums.of(*classed(rows, labels)).values.room
    share = 0.08
    fourth = share * (1 - share) * (share**3 + (1 - share) ** 3)
    assert room.ravel() == pytest.approx([30 * (share * (1 - share)) ** 2 / fourth] * 2)  # 2.4 rows, and a little more
    assert 2.4 < room[0, 0] < 2.9
    even = tests_module._Sums.of(*classed([(0,), (0,), (1,), (1,), (1,)] * 2, [0, 1] * 5)).values.room
    assert even.ravel() == pytest.approx([4.0, 4.0])


def test_values_without_room_are_tested_apart_and_the_others_with_each_other():
    """Three values, of which the last has three rows: the others differ by their means."""
    rng = np.random.default_rng(1)
    values = np.repeat([0, 1, 2], [900, 700, 3])
    labels = (rng.random(len(values)) < 0.3 + 0.05 * values).astype(int)
    together, apart, *_ = four(*classed(values[:, None], labels))
    difference = labels[values == 0].mean() - labels[values == 1].mean()
    variance = labels.var(ddof=1) * (1 / 900 + 1 / 700)
    assert together == pytest.approx(chi2.sf(difference**2 / variance, 1))
    of_rare, of_all = np.bincount(labels[values == 2], minlength=2), np.bincount(labels)
    assert apart == pytest.approx(fisher_exact([of_rare, of_all - of_rare]).pvalue)


def test_a_value_whose_rest_has_room_is_tested_beside_it():
    """Nine values, equally frequent but for the first ones: the eight largest, and the rest follows from these."""
    sizes = [400, 390, 380, 370, 360, 350, 340, 330, 100, 90]
    values = np.repeat(np.arange(10), sizes)
    labels = (np.random.default_rng(0).random(len(values)) < 0.5).astype(int)
    table = np.zeros((9, 2))
    np.add.at(table, (np.minimum(values, 8), labels), 1)
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / len(values)
    statistic = ((table - expected) ** 2 / expected).sum() * (len(values) - 1) / len(values)
    assert four(*classed(values[:, None], labels))[0] == pytest.approx(chi2.sf(statistic, 8))


def test_beside_a_rare_class_the_larger_of_two_is_compared_with_all_others():
    rng = np.random.default_rng(4)
    values, labels = np.repeat([0, 1], [600, 500]), rng.choice(2, 1100, p=[0.55, 0.45])
    labels[[5, 700, 701]] = 2
    table = np.zeros((2, 3))
    np.add.at(table, (values, labels), 1)
    merged = np.column_stack([table[:, 0], table[:, 1] + table[:, 2]])
    expected = merged.sum(axis=1)[:, None] * merged.sum(axis=0) / 1100
    statistic = ((merged - expected) ** 2 / expected).sum() * 1099 / 1100
    assert four(*classed(values[:, None], labels))[0] == pytest.approx(chi2.sf(statistic, 1))


def test_a_rare_class_leaves_the_others_to_be_compared():
    """Four classes, the last of three rows: which of the three others a row has may depend on its value."""
    rng = np.random.default_rng(4)
    values, labels = np.repeat([0, 1], [600, 500]), rng.choice(3, 1100, p=[0.4, 0.3, 0.3])
    labels[[5, 700, 701]] = 3
    scores = np.eye(4)[labels]
    total = tests_module._Sums.of(*classed(values[:, None], labels)).values.room.sum(axis=0)[:3]
    off, share = scores - scores.mean(axis=0), total / total.sum()
    mine = off[values == 0, :3].sum(axis=0)
    covariance = 600 * 500 / 1100 * np.cov(off[:, :3].T)
    free = np.eye(3) - np.outer(share, [1, 1, 1])
    some = (free @ mine)[:2]  # the third follows
    statistic = some @ np.linalg.solve((free @ covariance @ free.T)[:2, :2], some)
    together, apart, *_ = four(*classed(values[:, None], labels))
    assert together == pytest.approx(chi2.sf(statistic, 2))
    table = [[np.sum((values == v) & (labels == 3)), np.sum((values == v) & (labels != 3))] for v in (0, 1)]
    assert apart == pytest.approx(fisher_exact(table).pvalue)  # the cell of the other value follows


@pytest.mark.parametrize("n_values", [3, 5, 9, 25])
def test_of_values_of_the_same_size_none_is_preferred(n_values):
    """A rare value leaves the others without a rest; all of a size are kept apart, or none."""
    rng = np.random.default_rng(n_values)
    values = np.append(np.repeat(np.arange(n_values), 40), [n_values, n_values])
    labels = (rng.random(len(values)) < 0.5).astype(int)
    p = [
        four(*classed(names[values][:, None], labels))[0]
        for names in (np.arange(n_values + 1), rng.permutation(n_values + 1), rng.permutation(n_values + 1))
    ]
    assert math.isnan(p[0]) == (n_values == 25)
    assert p[1:] == pytest.approx([p[0]] * 2, nan_ok=True)
    assert len(tests_module._largest(np.full(n_values, 7.0), 8)) == (0 if n_values == 25 else n_values)


@pytest.mark.parametrize("n_kinds", [8, 9, 12])
def test_the_rarest_of_more_than_eight_classes_are_one_score(n_kinds):
    sizes = np.arange(n_kinds, 0, -1) * 10
    table = Scores.of_classes(sizes).table
    assert table.shape == (n_kinds, 8)
    assert (table.sum(axis=1) == 1).all()
    assert (table.argmax(axis=1) == np.minimum(np.arange(n_kinds), 7)).all()


def test_two_classes_have_a_single_score():
    assert Scores.of_classes(np.array([3, 7])).table.tolist() == [[0.0], [1.0]]
    assert Scores.of_classes(np.array([7, 3])).table.tolist() == [[0.0], [1.0]]


def test_classes_of_the_same_size_are_one_score_or_all_their_own():
    assert Scores.of_classes(np.array([9, *[4] * 8])).table.argmax(axis=1).tolist() == list(range(9))
    assert Scores.of_classes(np.array([9, *[4] * 30])).table.argmax(axis=1).tolist() == [0, *[1] * 30]


def test_of_more_than_eight_values_the_largest_are_told_apart():
    rng = np.random.default_rng(0)
    values = rng.choice(10, 6000, p=np.arange(10, 0, -1) / 55)
    labels = (rng.random(6000) < 0.5).astype(int)
    order = np.argsort(-np.bincount(values), kind="stable")
    kind = np.minimum(np.argsort(order)[values], 8)  # the eight largest, and all others together
    table = np.zeros((9, 2))
    np.add.at(table, (kind, labels), 1)
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / 6000
    statistic = ((table - expected) ** 2 / expected).sum() * 5999 / 6000
    assert four(*classed(values[:, None], labels))[0] == pytest.approx(chi2.sf(statistic, 8))


# ---------------------------------------------------------------- any direction


def test_moments_in_any_direction_are_those_of_all_assignments(tiny):
    """Mean and variance of the statistic, and with them the tail; of few effective rows the heavier one of F."""
    context, values, scores = tiny
    off = off_mean(context, scores.reshape(len(scores), -1))
    if len(set(context.tolist())) == 1:  # twice the same context, so that the test is made
        stack, table = scored(context, values, scores, times=[2])
        factor = 2
    else:
        stack, table = scored(context, values, scores)
        factor = 1
    repeated = [c for c in set(context.tolist()) if len(set(values[context == c])) < (context == c).sum()]
    kept = np.isin(context, repeated)
    outcomes = np.array([between(context[kept], values[kept], given[kept]) for given in assignments(context, off)])
    mean, variance = factor * outcomes.mean(), factor * outcomes.var()
    observed = factor * between(context[kept], values[kept], off[kept])
    shape, squares = mean**2 / variance, (off[kept] ** 2).sum(axis=1)
    room = factor * squares.sum() ** 2 / (squares**2).sum()
    expected = ratio_of_two.sf(observed / mean, 2 * shape, 4 * shape * room)
    assert four(stack, table)[2] == pytest.approx(expected, rel=1e-9)
    many = replace(stack.contexts, times=np.full(len(stack.contexts), 1_000))
    scale = variance / mean
    expected = gamma.sf(1_000 / factor * observed, 1_000 / factor * shape, scale=scale)
    assert four(replace(stack, contexts=many), table)[2] == pytest.approx(expected, rel=1e-9)


def test_any_direction_keeps_its_level_in_tiny_tables():
    """Of 2,000 tables of 40 rows, a class of 10 % and four values; with a gamma tail 4 to 6 of them had p <= .001."""
    rng = np.random.default_rng(2)
    p = []
    for _ in range(2_000):
        labels = (rng.random(40) < 0.1).astype(int)
        if labels.any():
            columns = np.stack([rng.integers(0, 4, 40), rng.integers(0, 2, 40)]).T
            p.append(four(*classed(columns, labels))[2])
    assert np.mean(np.array(p) <= 0.05) <= 0.05
    assert np.sum(np.array(p) <= 0.001) <= 4


def test_a_context_that_occurs_several_times_counts_as_often():
    context, values, scores = (np.array(x) for x in TINY["two contexts of numbers"])
    once = four(*scored(context, values, scores, times=[3, 2]))
    copies = [(np.flatnonzero(context == c), k) for c, times in ((0, 3), (1, 2)) for k in range(times)]
    rows = np.concatenate([rows for rows, _ in copies])
    which = np.concatenate([np.full(len(rows), i) for i, (rows, _) in enumerate(copies)])
    again = four(*scored(which, values[rows], np.asarray(scores, float)[rows]))
    assert once[2] == pytest.approx(again[2], rel=1e-12)
    assert once[0] == pytest.approx(again[0], rel=1e-12, nan_ok=True)
    ranks = np.array([0.0, 0.7, 1.0])
    some = [four(*scored(*args), rank=ranks)[3] for args in ((which, values[rows], scores[rows]),)]
    assert four(*scored(context, values, scores, times=[3, 2]), rank=ranks)[3] == pytest.approx(some[0], nan_ok=True)


def test_contexts_in_which_no_row_repeats_tell_no_direction():
    assert math.isnan(four(*scored([0, 0, 1, 1], [0, 1, 0, 1], [1.0, 0.0, 0.0, 1.0]))[2])
    assert math.isnan(four(*scored([0] * 4 + [1] * 4, [0, 0, 1, 1] * 2, [1.0] * 8))[2])  # nor where labels never differ


def test_an_exclusive_or_is_seen_in_any_direction_only():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 2))
    labels = rows[:, 0] ^ rows[:, 1] ^ (rng.random(400) < 0.1)
    together, _, any_direction, _ = four(*classed(rows, labels))
    assert together > 1e-3
    assert any_direction < 1e-20


def test_moments_of_a_large_context_keep_their_digits():
    """Many rows, equal classes: squares between k values are chi-square with k - 1 degrees of freedom over four."""
    cells = np.array([(v, c, y) for c in (0, 1) for v in (0, 1, 2) for y in (0, 1)])
    for times in (1_000, 10_000_000):
        weights = np.full(len(cells), times)
        weights[0] += int(2 * times**0.5)
        any_direction = four(*classed(cells[:, :2], cells[:, 2], weights))[2]
        tables = weights.reshape(2, 3, 2).astype(float)
        statistic = 0.0
        for table in tables:
            expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / table.sum()
            statistic += ((table - expected) ** 2 / expected).sum()
        assert any_direction == pytest.approx(chi2.sf(statistic, 4), rel=2e-2 if times == 1_000 else 1e-3)


# ---------------------------------------------------------------- trend


def test_the_trend_is_that_of_all_assignments():
    rng = np.random.default_rng(2)
    context, values = np.repeat([0, 1, 2, 3, 4, 5, 6], 5), rng.integers(0, 3, 35)
    ranks, scores = np.array([0.1, 0.45, 0.9]), rng.normal(size=35)
    total = variance = 0.0
    for c in range(7):
        mine = context == c
        sums = [float(np.array(given) @ ranks[values[mine]]) for given in permutations(scores[mine])]
        total += float(scores[mine] @ ranks[values[mine]]) - np.mean(sums)
        variance += np.var(sums)
    found = four(*scored(context, values, scores), rank=ranks)[3]
    assert found == pytest.approx(2 * norm.sf(abs(total) / variance**0.5))


def test_the_trend_in_one_context_is_the_rank_correlation():
    """With ranks of both, (n - 1) r^2 is chi-square with one degree of freedom."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 5, 200)
    scores = np.argsort(np.argsort(values + rng.normal(0, 8, 200))).astype(float)
    found = four(*scored([0] * 200, values, scores), rank=ranks_of(np.bincount(values), False))[3]
    correlation = spearmanr(values, scores).statistic
    assert found == pytest.approx(chi2.sf(199 * correlation**2, 1))


def test_classes_and_a_number_give_the_linear_by_linear_test_of_each_class():
    """Three classes: the mean ranks of the classes, as the test of Kruskal and Wallis."""
    from scipy.stats import kruskal

    rng = np.random.default_rng(6)
    values, labels = rng.integers(0, 6, 400), rng.integers(0, 3, 400)
    found = four(*classed(values[:, None], labels), rank=ranks_of(np.bincount(values), False))[3]
    assert found == pytest.approx(kruskal(*(values[labels == k] for k in range(3))).pvalue)


def test_the_trend_of_opposite_directions_cancels():
    rng = np.random.default_rng(7)
    values, context = rng.integers(0, 4, 600), rng.integers(0, 2, 600)
    scores = np.where(context == 0, values, -values) + rng.normal(size=600)
    ranks = ranks_of(np.bincount(values), False)
    _, _, any_direction, trend = four(*scored(context, values, scores), rank=ranks)
    assert trend > 0.001
    assert any_direction < 1e-30


def spread_rows(seed, n=40):
    """Contexts, values and numbers whose variance depends on the value."""
    rng = np.random.default_rng(seed)
    context, values = rng.integers(0, 4, n), rng.integers(0, 3, n)
    return context, values, 7.0 * context + (1 + values) * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(4))
def test_of_numbers_each_row_has_its_own_variance(seed):
    context, values, scores = spread_rows(seed)
    rank = np.array([0.2, 0.5, 0.9])
    stack, table = scored(context, values, scores, are_numbers=True)
    sums = tests_module._Sums.of(stack, table)
    covariance, trend, mean, variance = np.zeros((3, 3)), 0.0, 0.0, 0.0
    for c in range(4):
        own = np.flatnonzero(context == c)
        n, d = len(own), scores[own] - scores[own].mean()
        x = (values[own, None] == np.arange(3)) - np.array([(values[own] == v).mean() for v in range(3)])
        covariance += n / (n - 1) * (x * d[:, None] ** 2).T @ x
        trend += n / (n - 1) * (((rank[values[own]] - rank[values[own]].mean()) * d) ** 2).sum()
        m = (values[own, None] == values[own]) / np.array([(values[own] == v).sum() for v in values[own]]) - 1 / n
        total = (d**2).sum()
        mean += (np.diag(m) * n / (n - 2) * (d**2 - total / (n * (n - 1)))).sum()
        both = m**2 * np.outer(d**2, d**2)
        variance += 2 * (n / (n - 1)) ** 2 * (both.sum() - np.trace(both))
    kinds = np.array([[((context == c) & (values == v)).sum() for v in range(3)] for c in range(4)], float)
    of_value = np.zeros((4, 3, 1, 1))
    parts = stack.contexts.value_parts
    of_value[parts.owner, stack.contexts.values[stack.contexts.value_starts]] = sums.part_squares
    weights = stack.contexts.times, stack.contexts.n_rows
    assert tests_module._covariance(*weights, kinds, sums.squares, of_value) == pytest.approx(covariance)
    totals = sums.squares[:, 0, 0], (sums.squares**2)[:, 0, 0]
    found = tests_module._own_moments(sums, stack.contexts.n_rows.astype(float), *totals)
    assert [part.sum() for part in found] == pytest.approx([mean, variance])
    deviation = sum(
        ((rank[values] - rank[values][context == c].mean()) * (scores - scores[context == c].mean()))[
            context == c
        ].sum()
        for c in range(4)
    )
    assert four(stack, table, rank)[3] == pytest.approx(chi2.sf(deviation**2 / trend, 1))


def test_the_mean_of_the_squares_between_values_is_right_whatever_the_variances():
    """Over all signs of the numbers, the squares and their estimated mean are equal on average."""
    context, values = np.repeat([0, 1], 5), np.array([0, 0, 1, 1, 2, 0, 0, 0, 1, 1])
    size, differences = np.array([1.0, 2, 3, 4, 10, 1, 1, 5, 6, 7]), []
    for signs in product((-1, 1), repeat=10):
        stack, table = scored(context, values, size * signs, are_numbers=True)
        sums = tests_module._Sums.of(stack, table)
        squares = (sums.part[:, 0] ** 2 / stack.contexts.value_parts.sizes).sum()
        totals = sums.squares[:, 0, 0], (sums.squares**2)[:, 0, 0]
        mean, _ = tests_module._own_moments(sums, stack.contexts.n_rows.astype(float), *totals)
        differences.append(squares - mean.sum())
    assert np.mean(differences) == pytest.approx(0, abs=1e-9)


def test_values_that_differ_in_variance_only_have_no_effect_on_a_number():
    p = []
    for seed in range(200):
        stack, table = scored(*spread_rows(seed, 400), are_numbers=True)
        p.append(four(stack, table, np.array([0.2, 0.5, 0.9])))
    rates = np.mean(np.array(p)[:, [0, 2, 3]] <= 0.05, axis=0)
    assert (rates <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5).all()


def test_a_trend_of_few_rows_with_few_labels_is_not_tested():
    """Ten rows of 1,000 are not 0, and five have the label: half a row of both is expected."""
    values, labels = np.zeros(1000, int), np.zeros(1000, int)
    values[:10], labels[5:10] = np.arange(10) % 4 + 1, 1
    ranks = ranks_of(np.bincount(values), False)
    assert math.isnan(four(*classed(values[:, None], labels), rank=ranks)[3])
    values[:400] = np.arange(400) % 4 + 1
    labels[100:200] = 1
    ranks = ranks_of(np.bincount(values), False)
    assert four(*classed(values[:, None], labels), rank=ranks)[3] < 1e-6


def test_pairs_of_rows_have_the_room_of_a_trend_that_they_have_as_values():
    """Pairs whose rows differ: every pair is one row of room; five are needed."""
    for n, is_tested in ((4, False), (5, True)):
        stack = scored(np.repeat(np.arange(n), 2), [0, 1] * n, [0.0, 1.0] * n)
        found = four(*stack, rank=np.array([0.25, 0.75]))[3]
        assert math.isnan(found) != is_tested
        if is_tested:
            assert found == pytest.approx(chi2.sf(n, 1))


def test_several_features_are_tested_as_each_alone():
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 3, 500)
    columns = [np.where(rng.random(500) < 0.1, labels, rng.integers(0, k, 500)) for k in (5, 3, 4, 3)]
    ranks = [ranks_of(np.bincount(columns[0]), False), None, ranks_of(np.bincount(columns[2]), False), None]
    parts = [classed(np.column_stack([column, rng.integers(0, 2, 500)]), labels) for column in columns]
    alone = [p_values_of(stack, scores, [rank])[0] for (stack, scores), rank in zip(parts, ranks, strict=True)]
    stack = Stack.of([stack.contexts for stack, _ in parts])
    trends = tests_module._trends(tests_module._Sums.of(stack, parts[0][1]), ranks)
    of_each = [four(*part, rank)[3] for part, rank in zip(parts, ranks, strict=True)]
    assert trends.tolist() == pytest.approx(of_each, nan_ok=True)
    assert p_values_of(stack, parts[0][1], ranks).tolist() == pytest.approx(alone, nan_ok=True)
    assert p_values_of(*parts[0], [None])[0] != pytest.approx(alone[0])
    assert max(alone) < 1


def test_ranks_are_the_shares_of_rows_below_the_middle_of_each_bin():
    assert ranks_of(np.array([10, 20, 70]), False).tolist() == pytest.approx([0.05, 0.2, 0.65])
    assert ranks_of(np.array([10, 20, 70, 900]), True).tolist() == pytest.approx([0.05, 0.2, 0.65, 0.5])


# ---------------------------------------------------------------- rare values


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_rare_cells_of_classes_have_the_p_values_of_all_assignments(seed, n_labels):
    rng = np.random.default_rng(seed)
    values, context = rng.integers(0, 3, 7), np.array([0, 0, 0, 0, 1, 1, 1])
    values[:3], values[4:6] = (0, 1, 2), (0, 1)
    labels = rng.integers(0, n_labels, 7)
    labels[:n_labels] = np.arange(n_labels)
    dealt = np.array([np.ravel(given) for given in assignments(context, labels)])
    cells = []
    for v in range(3):
        for k in range(1 if n_labels == 2 else n_labels):
            counts = ((dealt == k) & (values == v)).sum(axis=1)
            seen = int(((labels == k) & (values == v)).sum())
            chance = {x: np.mean(counts == x) for x in np.unique(counts)}
            if len(chance) > 1:
                limits = chance[seen], min(chance.values())
                cells.append([sum(q for q in chance.values() if q <= limit + 1e-9) for limit in limits])
    expected = min((min(1.0, p * sum(m <= p + 1e-9 for _, m in cells)) for p, _ in cells), default=math.nan)
    together, apart, *_ = four(*classed(np.column_stack([values, context]), labels))
    assert math.isnan(together)
    assert apart == pytest.approx(expected, nan_ok=True)


def test_two_values_and_classes_of_few_rows_are_fishers_exact_test():
    table = [[1900, 60], [10, 4]]
    cells = [(v, y) for v in (0, 1) for y in (0, 1)]
    together, apart, *_ = four(*classed([(v,) for v, _ in cells], [y for _, y in cells], [1900, 60, 10, 4]))
    assert math.isnan(together)
    assert apart == pytest.approx(fisher_exact(table).pvalue)


@pytest.mark.parametrize("n_rows", [198, 202])
def test_up_to_a_room_of_a_hundred_two_values_and_classes_are_exact(n_rows):
    """Half of the rows have either value and label, so the room is half of the rows."""
    values = np.repeat([0, 1], n_rows)[: 2 * n_rows].reshape(2, -1)[:, : n_rows // 2].ravel()
    labels = np.arange(len(values)) % 2
    together, apart, *_ = four(*classed(values[:, None], labels))
    assert math.isnan(together) == (n_rows // 2 < 100)
    assert math.isnan(apart) == (n_rows // 2 >= 100)


def left_over(context, values, scores):
    """A stack of scores that a fit has left, whose variance is the expected one."""
    stack, table = scored(context, values, scores)
    return stack, Scores(table.table, np.zeros_like(table.table))


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_of_a_rare_value_of_numbers_is_compared_with_all_draws(seed):
    """Two rows of a value in a context of 7 rows and one in a context of 5: 21 times 5 draws."""
    rng = np.random.default_rng(seed)
    context, values = np.repeat([0, 1], [7, 5]), np.array([1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    scores = rng.normal(size=12) + 1.2 * values
    off = off_mean(context, scores)
    sums = [off[list(two)].sum() + off[one] for two in combinations(range(7), 2) for one in range(7, 12)]
    exact = np.mean(np.abs(sums) >= abs(off[values == 1].sum()) - 1e-9)
    together, apart, *_ = four(*left_over(context, values, scores))
    assert math.isnan(together)
    n_draws = 500 if exact > 0.06 else 10_000
    assert apart == pytest.approx(exact, abs=4 * (exact * (1 - exact) / n_draws) ** 0.5 + 2 / n_draws)


def test_of_several_rare_values_the_largest_sum_is_drawn():
    """Four values of one to three rows; by standard deviations of all assignments the second one is farthest."""
    rng = np.random.default_rng(2)
    context, values = np.repeat([0, 1], [8, 7]), np.array([0, 0, 0, 0, 1, 2, 3, 3, 0, 0, 0, 0, 1, 2, 3])
    scores = rng.normal(size=15)
    scores[[4, 12]] += 2.5
    off = off_mean(context, scores)
    z = []
    for v in range(4):
        m = [np.sum((values == v) & (context == c)) for c in (0, 1)]
        squares = [(off[context == c] ** 2).sum() for c in (0, 1)]
        variance = sum(k * (n - k) / (n * (n - 1)) * q for k, n, q in zip(m, (8, 7), squares, strict=True))
        z.append(abs(off[values == v].sum()) / variance**0.5)
    stack, table = left_over(context, values, scores)
    assert tests_module._Sums.of(stack, table).values.z == pytest.approx(z)
    assert np.argmax(z) == 1
    sums = np.array([off[i] + off[j] for i in range(8) for j in range(8, 15)])
    exact = np.mean(np.abs(sums) >= abs(off[values == 1].sum()) - 1e-9)
    assert exact < 0.06
    assert four(stack, table)[1] / 4 == pytest.approx(exact, rel=0.25)


def test_draws_with_replacement_from_a_large_context_have_the_variance_of_draws_without():
    rng = np.random.default_rng(0)
    for n, m in ((2_000, 600), (2_000, 1_400), (400, 100), (5_000, 3)):
        scores = rng.exponential(size=n)
        stack, table = left_over([0] * n, (np.arange(n) < m).astype(int), scores)
        pools = tests_module._Pools.of(stack.contexts, table.table, 1)
        drawn = pools._draw(np.random.default_rng(1), 4_000)[:, 0]
        off = scores - scores.mean()
        variance = m * (n - m) / (n * (n - 1)) * (off**2).sum()
        assert pools.variance[0] == pytest.approx(variance)
        assert pools.observed[0] == pytest.approx(off[:m].sum())
        assert drawn.mean() == pytest.approx(0, abs=4 * (variance / 4_000) ** 0.5)
        assert drawn.var() == pytest.approx(variance, rel=0.12)
        skewness = ((drawn / variance**0.5) ** 3).mean()
        assert skewness * (1 if m < n / 2 else -1) > -0.15  # a long tail on the side of the rows that are drawn


def test_more_draws_are_made_where_fewer_than_twenty_are_as_extreme():
    """One row of a value of 3,000 has the largest score: 1 of 3,000."""
    scores = np.zeros(3_000)
    scores[0] = 1.0
    scores[1:1000] = np.linspace(-0.1, 0.1, 999)
    apart = four(*left_over([0] * 3_000, (np.arange(3_000) == 0).astype(int), scores))[1]
    assert apart == pytest.approx(1 / 3_000, rel=0.5)
    assert apart * 50_001 == pytest.approx(round(apart * 50_001))  # 2 of 5,000 were not enough
    usual = four(*left_over([0] * 3_000, (np.arange(3_000) == 700).astype(int), scores))[1]
    assert usual * 501 == pytest.approx(round(usual * 501))  # 500 draws, and the observed one


def test_a_fit_that_expects_more_variance_than_it_left_makes_scores_less_extreme():
    rng = np.random.default_rng(4)
    context, values = np.arange(400) % 4, rng.integers(0, 3, 400)
    scores = rng.normal(size=400) + 0.3 * values
    stack, table = scored(context, values, scores)
    off, n = off_mean(context, scores), 400
    ranks = np.array([0.1, 0.4, 0.8])
    plain = four(stack, table, rank=ranks)
    for expected, factor in ((1.0, 1.0), (3.0, 3.0 * n / (off**2).sum())):
        found = four(stack, Scores(table.table, np.full((n, 1), expected if factor > 1 else 1e-9)), rank=ranks)
        for p, other, freedom in zip((plain[0], plain[3]), (found[0], found[3]), (2, 1), strict=True):
            assert other == pytest.approx(chi2.sf(chi2.isf(p, freedom) / factor, freedom))
        assert (found[2] > plain[2]) == (factor > 1)


def test_scores_of_a_rare_value_are_less_extreme_too():
    scores = np.r_[np.linspace(-1, 1, 30), 1.05]
    values = np.r_[np.zeros(30, int), 1]
    stack, table = scored([0] * 31, values, scores)
    total = ((scores - scores.mean()) ** 2).sum()
    found = [four(stack, Scores(table.table, np.full((31, 1), expected)))[1] for expected in (0.0, 4 * total / 31)]
    assert found[0] == pytest.approx(2 / 31, abs=0.03)  # only the lowest score is as far
    limit = (scores[-1] - scores.mean()) / 2
    exact = np.mean(np.abs(scores - scores.mean()) >= limit)
    assert exact > 0.4
    assert found[1] == pytest.approx(exact, abs=0.1)


@pytest.mark.parametrize("excess", [1.0, 1.7])
@pytest.mark.parametrize("seed", range(3))
def test_of_more_rows_the_tail_has_the_moments_of_all_draws(monkeypatch, seed, excess):
    """The draws of few rows, as if they were many: mean, variance and skewness, and the tails on both sides."""
    monkeypatch.setattr(tests_module, "MOST_DRAWN", 2)
    rng = np.random.default_rng(seed)
    context, values = np.repeat([0, 1], [7, 5]), np.array([1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    scores = rng.exponential(size=12)
    off = off_mean(context, scores)
    sums = np.array([off[list(two)].sum() + off[one] for two in combinations(range(7), 2) for one in range(7, 12)])
    stack, table = left_over(context, values, scores)
    pools = tests_module._Pools.of(stack.contexts, table.table, 1)
    assert pools.variance[0] == pytest.approx(sums.var())
    assert pools.third[0] == pytest.approx((sums**3).mean())
    z, skewness = abs(off[values == 1].sum()) / (sums.std() * excess**0.5), (sums**3).mean() / sums.std() ** 3
    expected = pearson3.sf(z, skewness) + pearson3.cdf(-z, skewness)
    assert pools.p_value(excess) == pytest.approx(expected, abs=1e-9)


def test_rows_are_drawn_up_to_fifteen():
    scores = np.random.default_rng(0).exponential(size=400)
    for m, is_drawn in ((15, True), (16, False), (385, True)):
        stack, table = left_over([0] * 400, (np.arange(400) < m).astype(int), scores)
        pools = tests_module._Pools.of(stack.contexts, table.table, 1)
        p = pools.p_value(1.0)
        assert any(p * (n + 1) == pytest.approx(round(p * (n + 1)), abs=1e-6) for n in (500, 5_000)) == is_drawn


def test_rows_of_most_of_a_context_are_drawn_as_those_left_out():
    """One row of six in a context, five of six in another: the sum has the moments of all 36 draws."""
    scores = np.array([0.0, 0, 0, 0, 1, 5, 9, 0, 0, 1, 0, 0])
    context, values = np.repeat([0, 1], 6), np.array([1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    stack, table = left_over(context, values, scores)
    drawn = tests_module._Pools.of(stack.contexts, table.table, 1)._draw(np.random.default_rng(0), 20_000)[:, 0]
    off = off_mean(context, scores)
    every = np.array([off[one] - off[other] for one in range(6) for other in range(6, 12)])
    assert drawn.var() == pytest.approx(every.var(), rel=0.03)
    assert (drawn**3).mean() == pytest.approx((every**3).mean(), rel=0.1)
    assert np.unique(np.round(drawn, 9)).tolist() == pytest.approx(np.unique(np.round(every, 9)).tolist())


# ---------------------------------------------------------------- one p-value per feature


def test_a_feature_has_the_smallest_of_its_tests_times_their_number():
    rng = np.random.default_rng(0)
    rows, labels = np.column_stack([rng.integers(0, 3, 300), rng.integers(0, 2, 300)]), rng.integers(0, 2, 300)
    ranks = ranks_of(np.bincount(rows[:, 0]), False)
    stack, scores = classed(rows, labels)
    tests = [p for p in four(stack, scores, ranks) if not math.isnan(p)]
    assert len(tests) == 3
    assert p_values_of(stack, scores, [ranks])[0] == pytest.approx(min(1, 3 * min(tests)))


def test_pairs_are_counted_and_features_without_them_have_no_p_value():
    labels, rows = [0, 0, 1, 1, 0, 1], [(0, 0), (0, 0), (1, 0), (1, 0), (0, 1), (1, 1)]
    table = coded(rows, labels)
    contexts = find_contexts(table, [0])[0]
    stack = Stack.of([contexts, Contexts.none(), contexts])
    first, none, last = tests_module.test_stack(stack, Scores.of_classes(table.label_sizes()), [None] * 3)
    assert none is None
    assert first == last
    assert (first.n_pairs, first.index) == (4 + 1, 1.0)
    assert tests_module.test_stack(Stack.of([Contexts.none()]), Scores.of_classes(np.array([1, 1])), [None]) == [None]


def test_labels_that_never_differ_in_a_context_have_no_p_value():
    assert np.isnan(p_values_of(*classed([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 1, 1]), [None])).all()


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 5, 8])
def test_no_p_value_lies_below_the_smallest_possible(n_pairs):
    rows = [(value, context) for context in range(n_pairs) for value in (0, 1)]
    labels = [value for value, _ in rows]
    p = relevance(rows, labels, given="all").p_value[0]
    assert p >= 2 * 0.5**n_pairs - 1e-12


def test_no_assignment_in_a_tiny_table_is_less_likely_than_its_p_value():
    """All twenty ways to give three of six rows one label: no p-value lies below 2 of 20."""
    rows = [(0,)] * 3 + [(1,)] * 3
    for chosen in combinations(range(6), 3):
        p = relevance(rows, [int(r in chosen) for r in range(6)], given="all").p_value[0]
        assert p >= 2 / 20 - 1e-12


@pytest.mark.parametrize(("n_ones", "expected"), [(997, 997 / 2000), (998, 998 / 2000), (20, 0.01), (1000, 1.0)])
def test_a_single_row_of_a_value_has_the_chance_of_its_label(n_ones, expected):
    rows, labels = [("b",)] + [("a",)] * 1999, [1] * n_ones + [0] * (2000 - n_ones)
    assert relevance(rows, labels, given="all").p_value[0] == pytest.approx(expected)


def few_rows(sizes, n):
    """A value that nearly all rows have, and others of the given sizes."""
    return np.repeat(np.arange(len(sizes) + 1), [n - sum(sizes), *sizes])


def drawn(rng, n, share):
    """Eight values, seven of them rare."""
    return rng.choice(8, size=n, p=[1 - 7 * share] + [share] * 7)


RARE = {
    "a single row, 50 classes": (lambda rng: (few_rows([1], 2000), rng.integers(0, 50, 2000))),
    "seven values of .3 %, seven classes of 1 %": (lambda rng: (drawn(rng, 1000, 0.003), drawn(rng, 1000, 0.01))),
    "five values of two rows, label of 3 %": (lambda rng: (few_rows([2] * 5, 2000), rng.random(2000) < 0.03)),
    "20 single rows, label of 10 %": (lambda rng: (few_rows([1] * 20, 2000), rng.random(2000) < 0.1)),
    "20 single rows, label of 3 %": (lambda rng: (few_rows([1] * 20, 2000), rng.random(2000) < 0.03)),
    "a single row, label of 16 %": (lambda rng: (few_rows([1], 2000), rng.random(2000) < 0.16)),
    "a single row, label of 10 %": (lambda rng: (few_rows([1], 2000), rng.random(2000) < 0.1)),
}


@pytest.mark.parametrize("is_number", [False, True])
@pytest.mark.parametrize("setting", RARE)
def test_rare_values_and_labels_are_rarely_significant_by_chance(setting, is_number):
    """150 tables of each; many more are in benchmarks/coverage. The limit is three standard errors above .05."""
    rng = np.random.default_rng(23)
    p_values = []
    for _ in range(150):
        values, labels = RARE[setting](rng)
        rank = ranks_of(np.bincount(values), False) if is_number else None
        p_values += p_values_of(*classed(values[:, None], labels), [rank]).tolist()
    p = np.array(p_values)
    assert min(p) > 0
    for level in (0.05, 0.01, 0.001):
        assert np.mean(p <= level) <= level + 3 * (level * (1 - level) / 150) ** 0.5


def test_no_p_value_is_zero():
    values = np.repeat([0, 1], 100_000)
    assert p_values_of(*classed(values[:, None], values), [None])[0] == sys.float_info.min


def test_real_effect_has_a_small_p_value_and_a_column_of_noise_has_not():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(400, 4))
    labels = rows[:, 0] ^ (rng.random(400) < 0.1)
    p = relevance(rows, labels).p_value
    assert p[0] < 1e-6
    assert (p[1:] > 0.05).all()


# ---------------------------------------------------------------- what must not change a p-value


def p_of(rows, labels, weights=None, feature=0):
    table = coded(rows, labels, weights)
    contexts = find_contexts(table, [feature])[feature]
    (tested,) = tests_module.test_stack(Stack.of([contexts]), Scores.of_classes(table.label_sizes()), [None])
    return math.nan if tested is None else tested.p_value


@st.composite
def tables(draw):
    """Tables with rare values, ties and contexts of all sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.sampled_from([8, 30, 120, 400]))
    n_values, n_labels = draw(st.sampled_from([2, 3, 5, 12])), draw(st.sampled_from([2, 3, 10]))
    steep = draw(st.sampled_from([0.0, 0.5, 1.5]))
    columns = [
        rng.choice(k, size=n, p=np.exp(-steep * np.arange(k)) / np.exp(-steep * np.arange(k)).sum())
        for k in (n_values, draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 3])), n_labels)
    ]
    return np.column_stack(columns[:3]), columns[3], rng


@settings(max_examples=60)
@given(tables())
def test_numbering_and_order_do_not_change_p(table):
    rows, labels, rng = table
    expected = p_of(rows, labels)
    renamed = np.column_stack([rng.permutation(int(column.max()) + 1)[column] for column in rows.T])
    relabelled = rng.permutation(int(labels.max()) + 1)[labels]
    order = rng.permutation(len(rows))
    for other in (
        p_of(renamed, labels),
        p_of(rows, relabelled),
        p_of(rows[order], labels[order]),
        p_of(rows[:, [0, 2, 1]], labels),
        p_of(rows[:, [2, 1, 0]], labels, feature=2),
    ):
        assert other == pytest.approx(expected, rel=1e-6, nan_ok=True)


@settings(max_examples=40)
@given(tables())
def test_a_weight_is_so_many_rows_for_p(table):
    rows, labels, rng = table
    weights = rng.integers(0, 4, len(rows))
    weights[labels.argmax()], weights[rows[:, 0].argmax()] = 1, 1
    expected = p_of(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    assert p_of(rows, labels, weights) == pytest.approx(expected, rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_order_and_numbering_of_values_do_not_change_what_is_drawn(seed):
    rng = np.random.default_rng(seed)
    context, values = rng.integers(0, 3, 60), rng.choice(4, 60, p=[0.85, 0.05, 0.05, 0.05])
    scores, order, names = np.round(rng.normal(size=(60, 2)), 3), rng.permutation(60), rng.permutation(4)
    expected = four(*left_over(context, values, scores))
    assert not math.isnan(expected[1])
    assert four(*left_over(context[order], values[order], scores[order])) == pytest.approx(expected, nan_ok=True)
    assert four(*left_over(2 - context, names[values], scores)) == pytest.approx(expected, nan_ok=True)


# ---------------------------------------------------------------- many tests, many features


def test_the_smallest_of_the_known_p_values_counts_as_often_as_there_are():
    assert combine([0.2, 0.01]) == 0.02
    assert combine([0.2, 0.01, 0.5]) == 0.03
    assert combine([math.nan, 0.01]) == 0.01
    assert combine([0.7, 0.8]) == 1.0
    assert math.isnan(combine([math.nan, math.nan]))
    assert math.isnan(combine([]))


def test_a_test_that_could_not_be_so_small_does_not_count():
    found = smallest_of([PValue(0.01, 0.001), PValue(0.3, 0.2), PValue(0.5, 0.005), PValue(math.nan)])
    assert found == pytest.approx(0.02)
    assert smallest_of([PValue(0.25, 0.2), PValue(0.25, 0.2)]) == 0.5
    assert math.isnan(smallest_of([]))


def slow_holm(p_values):
    """For each p-value the largest of those up to it, each times how many are not below it in order; at most 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    times = [p_values[i] * (len(order) - place) for place, i in enumerate(order)]
    adjusted = [0.0] * len(order)
    for place, i in enumerate(order):
        adjusted[i] = min(1.0, max(times[: place + 1]))
    return adjusted


@pytest.mark.parametrize("seed", range(10))
def test_adjusted_p_values_are_those_of_holm(seed):
    p = np.random.default_rng(seed).random(9) ** 4
    p[3] = p[5]
    assert adjust_for_features(p) == pytest.approx(slow_holm(p.tolist()))
    gaps = np.insert(p, [0, 4, 9], np.nan)
    adjusted = adjust_for_features(gaps)
    assert np.isnan(adjusted).tolist() == np.isnan(gaps).tolist()
    assert adjusted[~np.isnan(gaps)] == pytest.approx(slow_holm(p.tolist()))


def test_unknown_p_values_alone_stay_unknown():
    assert np.isnan(adjust_for_features(np.full(3, np.nan))).all()
    assert len(adjust_for_features(np.zeros(0))) == 0


def test_a_larger_variance_of_a_few_rows_is_rarely_taken_for_a_difference_of_means():
    rng, small = np.random.default_rng(6), 0
    for _ in range(200):
        context, values = rng.integers(0, 3, 300), (rng.random(300) < 0.1).astype(int)
        y = rng.normal(size=300) * np.array([1, 4])[values] + context
        found = relevance(np.column_stack([values, context]).astype(str), y, given=["x1"])
        small += found.p_value[0] <= 0.05
    assert small / 200 <= 0.06
