"""Rows that depend on each other: the score test of units against slow loops, and how often it is wrong or right."""

import itertools
import math

import numpy as np
import pytest
from conftest import coded
from scipy.special import comb, ndtri
from scipy.stats import binomtest, pearsonr
from scipy.stats import t as student

from analogical import InputError, relevance
from analogical.estimate import groups as groups_module
from analogical.estimate.groups import group_p_value


def repeated(rng, *, n_groups=40, rows_each=6, within=0.0, between=0.0, own=0.4, n_contexts=1, sizes=None):
    """Rows (a feature that varies within units, one that does not, a context), labels and units.

    A unit changes the chance of the label by up to ``own``; ``within`` and ``between`` are what the features do.
    """
    unit = np.repeat(np.arange(n_groups), rows_each if sizes is None else sizes)
    varies, fixed = rng.integers(0, 2, len(unit)), rng.permutation(n_groups)[unit] % 2
    context = rng.integers(0, n_contexts, len(unit))
    chance = 0.5 + rng.uniform(-own, own, n_groups)[unit] + within * (varies - 0.5) + between * (fixed - 0.5)
    return np.column_stack([varies, fixed, context]), (rng.random(len(unit)) < chance).astype(int), unit


def p_of(rows, labels, unit, columns=(0, 2), weights=None):
    """The p-value of the first of some columns given the others."""
    return group_p_value(coded(np.column_stack([np.asarray(rows)[:, list(columns)], unit]), labels, weights))


# ---------------------------------------------------------------- within units


@pytest.mark.parametrize(("n_units", "n_up"), [(10, 5), (10, 7), (10, 9), (10, 10), (30, 20), (30, 22), (30, 24)])
def test_two_rows_of_each_unit_are_nearly_the_sign_test(n_units, n_up):
    """Units have one row of each value; in so many of them the second value has the label."""
    rows = [[value] for _ in range(n_units) for value in (0, 1)]
    labels = [label for k in range(n_units) for label in ((0, 1) if k < n_up else (1, 0))]
    p, exact = p_of(rows, labels, np.arange(2 * n_units) // 2, (0,)), binomtest(n_up, n_units).pvalue
    assert 0.55 * exact < p < 1.3 * exact
    if n_up in (5, 10):
        assert p == pytest.approx(exact)


@pytest.mark.parametrize(
    ("values", "contexts"),
    [
        ([0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1], [0] * 11),
        ([0, 1, 2, 2, 0, 1, 1, 0, 0, 2, 1], [0] * 11),
        ([0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_no_p_is_more_frequent_than_it_says_if_labels_are_dealt_within_units(values, contexts):
    """All deals of the labels of three units of 4, 3 and 4 rows: too few for the score test."""
    unit = np.repeat([0, 1, 2], [4, 3, 4])
    deals = [sorted(set(itertools.permutations(labels))) for labels in ((0, 0, 1, 1), (0, 0, 1), (0, 1, 1, 1))]
    found = np.array(
        [p_of(np.column_stack([values, contexts]), sum(deal, ()), unit, (0, 1)) for deal in itertools.product(*deals)]
    )
    assert len(found) == 6 * 3 * 4
    assert found.min() < 0.25
    for p in np.unique(found):  # the smooth tail of the sums of squares of eleven rows may be a tenth too small
        assert np.mean(found <= p + 1e-12) <= 1.12 * p


def test_what_units_have_in_common_with_their_labels_does_not_count_within_them():
    """Every row of a unit has its label, so rows of a unit never differ, and the units say it all."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), 5)
    labels = rng.integers(0, 2, 60)[unit]
    assert p_of(rng.integers(0, 2, (300, 1)), labels, unit, (0,)) > 0.05


def test_more_units_than_the_codes_can_number_are_kept_apart():
    rows = np.zeros((300, 1), np.uint8)
    rows[0], labels, unit = 1, np.zeros(300, int), np.arange(300)
    labels[256] = 1  # units 0 and 256 have the same last byte
    assert math.isnan(p_of(np.vstack([rows, rows[:1]]), [*labels, 0], [*unit, 0], (0,)))


# ---------------------------------------------------------------- the score test


def standardised(z):
    """Numbers with mean 0 and variance 1."""
    mean = sum(z) / len(z)
    scale = (sum((v - mean) ** 2 for v in z) / len(z)) ** 0.5
    return [(v - mean) / scale for v in z]


def naive_score(x, y, unit, context):
    """The t value, the degrees of freedom and p of two values and two labels, in loops over rows and units."""
    every, names = range(len(x)), sorted(set(unit))
    mine = {g: [r for r in every if unit[r] == g] for g in names}
    same = {c: [r for r in every if context[r] == c] for c in set(context)}
    n = {g: len(mine[g]) for g in names}

    def less_means(z, of, weight):
        mean = {c: sum(weight[r] * of[r] for r in same[c]) / sum(weight[r] for r in same[c]) for c in same}
        return [z[r] - mean[context[r]] for r in every]

    off = less_means(y, y, [1] * len(y))
    n_pairs = sum(n[g] * (n[g] - 1) for g in names)
    together = sum(off[r] * off[s] for g in names for r in mine[g] for s in mine[g] if r != s) / n_pairs
    alike = min(max(together / (sum(v**2 for v in off) / len(y)), 0), 1 - 1e-9)
    rate = {g: 1 + (n[g] - 1) * alike for g in names}
    says = [1 / rate[g] for g in unit]
    share = {
        (g, c): sum(says[r] for r in same[c] if unit[r] == g) / sum(says[r] for r in same[c])
        for g in names
        for c in same
    }
    free = {g: sum(1 - share[g, context[r]] for r in mine[g]) / n[g] for g in names}
    means, rests = [], []
    for z in (standardised(x), standardised(y)):
        off = less_means(z, z, says)
        own = {g: alike / rate[g] * sum(off[r] for r in mine[g]) for g in names}
        off = less_means(z, [z[r] - own[unit[r]] for r in every], [1] * len(z))
        means.append({g: sum(off[r] for r in mine[g]) / n[g] for g in names})
        rests.append([off[r] - means[-1][unit[r]] for r in every])

    def sums(i, j):
        """Of products within units and between them, divided by the root of what is free."""
        within = [sum(rests[i][r] * rests[j][r] for r in mine[g]) / (1 - alike) / free[g] ** 0.5 for g in names]
        return within, [means[i][g] * means[j][g] * n[g] / rate[g] / free[g] ** 0.5 for g in names]

    (w_xy, b_xy), (w_xx, b_xx), (w_yy, b_yy) = sums(0, 1), sums(0, 0), sums(1, 1)
    xy, xx = ([v + w for v, w in zip(*part, strict=True)] for part in ((w_xy, b_xy), (w_xx, b_xx)))
    roots = [free[g] ** 0.5 for g in names]
    step = min(abs(v) for v in xy if abs(v) > 1e-9)

    def total(products):
        return sum(v * root for v, root in zip(products, roots, strict=True))

    def hc2(products, squares):
        if sum(squares) < 1e-9:
            return 0
        found = np.sign(total(products)) * max(abs(total(products)) - step, 0)
        levers = [v / sum(squares) for v in squares]
        return sum((v - found * lever) ** 2 / (1 - lever) for v, lever in zip(products, levers, strict=True))

    dealt = (sum(b_xx) * sum(b_yy) - total(b_xy) ** 2) / (sum(free.values()) - 1)
    t = max(abs(total(xy)) - step, 0) / (hc2(xy, xx) + max(dealt - hc2(b_xy, b_xx), 0)) ** 0.5
    x_counts = [v * sum(w_yy) + w * sum(b_yy) for v, w in zip(w_xx, b_xx, strict=True)]
    y_counts = [v * sum(w_xx) + w * sum(b_xx) for v, w in zip(w_yy, b_yy, strict=True)]
    even = [min(1, 2 * sum(z) ** 2 / (len(z) * sum(v**2 for v in z))) for z in (x_counts, y_counts)]
    freedom = sum(free.values()) * even[0] * even[1] - 1
    return t, freedom, 2 * student.sf(t, freedom)


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("n_contexts", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_units_are_compared_as_slow_loops_say(seed, n_contexts, column):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 16)
    rows, labels, unit = repeated(rng, n_groups=16, sizes=sizes, between=0.3, within=0.2, n_contexts=n_contexts)
    table = coded(np.column_stack([rows[:, [column, 2]], unit]), labels)
    arguments = (part.tolist() for part in (rows[:, column], labels, unit, rows[:, 2]))
    _, freedom, expected = naive_score(*arguments)
    assert freedom > 4
    scores = labels[:, None].astype(float)
    groups = groups_module._Groups.of(table, scores.T)
    found = groups.p_value(groups.split(rows[:, column] == 0), groups.split(scores[:, 0]))
    assert found == pytest.approx(expected, rel=1e-9)
    if n_contexts == 1:
        assert group_p_value(table) == pytest.approx(expected, rel=1e-9)


def test_units_of_one_row_are_compared_nearly_as_in_the_test_of_a_correlation():
    rng = np.random.default_rng(1)
    x = np.arange(100) % 2
    y = (rng.random(100) < 0.35 + 0.3 * x).astype(int)
    p = pearsonr(x, y).pvalue
    assert p <= p_of(x[:, None], y, np.arange(100), (0,)) <= 1.5 * p


def test_copies_of_rows_are_no_evidence():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (60, 2))
    labels = (rng.random(60) < 0.2 + 0.6 * rows[:, 0]).astype(int)
    once = p_of(rows, labels, np.arange(60), (0, 1))
    copied = p_of(np.repeat(rows, 20, axis=0), np.repeat(labels, 20), np.repeat(np.arange(60), 20), (0, 1))
    assert 1e-6 < once < 0.05
    assert copied == pytest.approx(once, rel=0.05)


def test_labels_that_are_equal_in_a_unit_are_compared_between_units():
    """Whatever varies within units says nothing, and takes nothing from what does."""
    rng = np.random.default_rng(12)
    unit = np.repeat(np.arange(100), 6)
    for _ in range(5):
        often = rng.uniform(0.1, 0.9, 100)
        x, labels = rng.random(600) < often[unit], (rng.random(100) < often)[unit]
        p = pearsonr(np.bincount(unit, x), labels[::6]).pvalue
        assert 0.4 * p < p_of(x[:, None], labels, unit, (0,)) < 2.5 * p


@pytest.mark.parametrize(("n_first", "expected"), [(5, 2 / comb(10, 5)), (4, 1 / comb(10, 4))])
def test_no_p_is_below_that_of_the_most_extreme_deal(n_first, expected):
    """Ten units, of which the first ones have the value and the label in all rows, and the others neither."""
    unit = np.repeat(np.arange(10), 3)
    first = (unit < n_first).astype(int)
    found = p_of(first[:, None], first, unit, (0,))
    assert found >= expected - 1e-12
    if n_first == 5:
        assert found == pytest.approx(expected)


def test_no_p_is_zero():
    unit = np.repeat(np.arange(2000), 2)
    assert p_of((unit % 2)[:, None], unit % 2, unit, (0,)) > 0


@pytest.mark.parametrize("n_groups", [8, 50])
def test_a_value_of_two_units_is_hardly_judged_by_them(n_groups):
    unit = np.repeat(np.arange(n_groups), 4)
    x = (unit < 2).astype(int)
    p = p_of(x[:, None], x, unit, (0,))
    assert math.isnan(p) if n_groups == 50 else p >= 1 / comb(8, 2) - 1e-12
    if n_groups == 50:  # two units are about four effective ones
        assert math.isnan(p_of(x[:, None], unit % 2, unit, (0,)))


def test_a_unit_alone_in_its_contexts_says_nothing():
    rng = np.random.default_rng(3)
    rows, labels, unit = repeated(rng, between=0.4)
    alone = np.column_stack([rng.integers(0, 2, 50), np.ones(50, int), np.full(50, 1)])
    more = np.vstack([rows, alone]), np.append(labels, np.ones(50, int)), np.append(unit, np.full(50, 99))
    assert p_of(*more, (1, 2)) == pytest.approx(p_of(rows, labels, unit, (1, 2)), rel=0.2)


# ---------------------------------------------------------------- both


@pytest.mark.parametrize(
    ("n_groups", "sizes", "column", "n_contexts"),
    [(12, None, 1, 1), (30, None, 1, 4), (30, "one large", 1, 1), (30, "uneven", 1, 4), (20, "uneven", 0, 4)],
)
def test_features_that_do_nothing_are_rarely_found(n_groups, sizes, column, n_contexts):
    """200 tables: at most 6 % with p <= .05, and three standard errors."""
    rng = np.random.default_rng([n_groups, column])
    found = []
    for _ in range(200):
        n = {"one large": np.array([5 * n_groups, *[5] * (n_groups - 1)]), "uneven": rng.geometric(0.15, n_groups)}
        rows, labels, unit = repeated(rng, n_groups=n_groups, own=0.5, n_contexts=n_contexts, sizes=n.get(sizes))
        found.append(p_of(rows, labels, unit, (column, 2)))
    share = np.mean(np.array(found) <= 0.05)
    assert share <= 0.06 + 3 * (0.06 * 0.94 / 200) ** 0.5
    assert share > 0


def test_rare_values_of_few_units_are_rarely_found():
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(60), 5)
    found = []
    for _ in range(300):
        x = (rng.permutation(60) < rng.integers(3, 9))[unit]
        found.append(p_of(x[:, None], (rng.random(60) < 0.2).astype(int)[unit], unit, (0,)))
    assert np.mean(np.array(found) <= 0.05) <= 0.06


def test_an_effect_within_units_is_found_whatever_the_units_have_in_common():
    rows, labels, unit = repeated(np.random.default_rng(5), n_groups=300, own=0.4, within=0.2)
    assert p_of(rows, labels, unit, (0, 2)) < 1e-8
    assert p_of(rows, labels, unit, (1, 2)) > 0.05


def test_an_effect_between_units_is_found_by_whole_units():
    rows, labels, unit = repeated(np.random.default_rng(6), n_groups=60, own=0.2, between=0.3)
    assert p_of(rows, labels, unit, (1, 2)) < 1e-3
    assert p_of(rows, labels, unit, (0, 2)) > 0.05


def exclusive_or(rng, *, n_groups, rows_each, points, fixed):
    """Two features, each of them varying or fixed in units, labels, and units."""
    unit = np.repeat(np.arange(n_groups), rows_each)
    half = np.arange(n_groups) % 2
    columns = [rng.permutation(half)[unit] if is_fixed else rng.integers(0, 2, len(unit)) for is_fixed in fixed]
    own = 0.6**0.5 * rng.normal(size=n_groups)[unit] + 0.4**0.5 * rng.normal(size=len(unit))
    return np.column_stack(columns), own + ndtri(0.5 + points / 200) * (2 * (columns[0] ^ columns[1]) - 1) > 0, unit


@pytest.mark.parametrize("fixed", [(False, False), (False, True), (True, False), (True, True)])
def test_an_exclusive_or_is_found_where_no_two_rows_of_a_unit_can_be_compared(fixed):
    """30 units of two rows: 92 to 100 % of the tables; nothing was detected by comparing rows within units."""
    rng = np.random.default_rng(8)
    tables = [exclusive_or(rng, n_groups=30, rows_each=2, points=80, fixed=fixed) for _ in range(20)]
    assert np.mean([p_of(*table, (0, 1)) <= 0.05 for table in tables]) >= 0.7


def test_effects_that_differ_between_contexts_have_a_tenth_of_the_level():
    rows, labels, unit = repeated(np.random.default_rng(7), n_groups=60, within=0.2, n_contexts=3)
    table = coded(np.column_stack([rows[:, [0, 2]], unit]), labels)
    groups = groups_module._Groups.of(table, [labels.astype(float)])
    y, value = groups.split(labels.astype(float)), rows[:, 0] == 0
    everywhere = groups.p_value(groups.split(value), y)
    apart = min(groups.p_value(groups.split(value & (rows[:, 2] == c)), y) for c in range(3))
    assert group_p_value(table) == pytest.approx(min(everywhere / 0.9, 3 * apart / 0.1))
    constant = np.column_stack([rows[:, [0, 2]], np.zeros(len(rows), int), unit])
    assert group_p_value(coded(constant, labels)) == pytest.approx(group_p_value(table))


@pytest.mark.parametrize("n_groups", [20, 50])
def test_rows_that_depend_on_the_row_before_do_not_make_an_effect_of_time(n_groups):
    """Labels change slowly and the value once, in the middle: comparing rows within units finds this in 64 to 96 %."""
    rng = np.random.default_rng([9, n_groups])
    unit, x, found = np.repeat(np.arange(n_groups), 8), np.tile(np.repeat([0, 1], 4), n_groups), []
    for _ in range(200):
        z = rng.normal(size=(n_groups, 8))
        for t in range(1, 8):
            z[:, t] = 0.8 * z[:, t - 1] + 0.6 * z[:, t]
        found.append(p_of(x[:, None], z.ravel() > 0.3, unit, (0,)))
    assert np.mean(np.array(found) <= 0.05) <= 0.06 + 3 * (0.06 * 0.94 / 200) ** 0.5


def test_labels_may_be_numbers():
    rng = np.random.default_rng(10)
    rows, _, unit = repeated(rng, n_groups=50, n_contexts=3)
    numbers = rng.normal(size=50)[unit] + 0.4 * rows[:, 0] + rng.normal(size=len(unit))
    table = coded(np.column_stack([rows[:, [0, 2]], unit]), np.zeros(len(unit), int))
    p = group_p_value(table, numbers[:, None])
    assert p < 0.01
    assert group_p_value(table, 5 - 1e-6 * numbers[:, None]) == pytest.approx(p)
    other = table.select([1, 2])
    assert group_p_value(other, numbers[:, None]) > 0.05


def test_scores_of_three_classes_are_their_unit_vectors():
    rng = np.random.default_rng(11)
    rows, _, unit = repeated(rng, n_contexts=2)
    labels = (rows[:, 0] + rng.integers(0, 2, len(unit)) + unit) % 3
    table = coded(np.column_stack([rows[:, [0, 2]], unit]), labels)
    assert group_p_value(table, np.eye(3)[labels]) == group_p_value(table)
    assert math.isnan(group_p_value(table, np.ones((len(unit), 1))))


@pytest.mark.parametrize("seed", range(6))
def test_p_depends_on_no_order_and_no_numbering(seed):
    rng = np.random.default_rng(seed)
    n = 240
    unit = rng.integers(0, 24, n)
    rows = np.column_stack([(rng.integers(0, 4, n) + unit) % 4, rng.integers(0, 3, n), rng.integers(0, 2, n)])
    labels = (rows[:, 0] + rng.integers(0, 2, n) + unit % 2) % 3
    expected = p_of(rows, labels, unit, (0, 1, 2))
    order = rng.permutation(n)
    assert p_of(rows[order], labels[order], unit[order], (0, 1, 2)) == pytest.approx(expected)
    assert p_of(rows, labels, unit, (0, 2, 1)) == pytest.approx(expected)
    names = [rng.permutation(k) for k in (4, 3, 24)]
    renamed = np.column_stack([names[0][rows[:, 0]], rows[:, 1:]])
    assert p_of(renamed, names[1][labels], names[2][unit], (0, 1, 2)) == pytest.approx(expected)
    weights = rng.integers(1, 4, n)
    times = (np.repeat(part, weights, axis=0) for part in (rows, labels, unit))
    assert p_of(rows, labels, unit, (0, 1, 2), weights) == pytest.approx(p_of(*times, (0, 1, 2)))


def test_groups_exclude_rows_counted_once():
    with pytest.raises(InputError, match="groups need every row"):
        relevance([(0,), (1,), (1,)], [0, 1, 1], groups=[0, 0, 1], duplicates="once")
