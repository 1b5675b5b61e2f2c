"""Rows that depend on each other: tests within and between units, and intervals that leave out whole units."""

import itertools
import math

import numpy as np
import pytest
from conftest import coded
from scipy.special import comb
from scipy.stats import binomtest, pearsonr
from scipy.stats import t as student

from analogical import InputError, relevance
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


@pytest.mark.parametrize("n_up", [5, 7, 9, 10])
def test_two_rows_of_each_unit_are_the_sign_test(n_up):
    """Ten units have one row of each value; in so many of them the second value has the label."""
    rows = [[value] for _ in range(10) for value in (0, 1)]
    labels = [label for k in range(10) for label in ((0, 1) if k < n_up else (1, 0))]
    assert p_of(rows, labels, np.arange(20) // 2, (0,)) == pytest.approx(binomtest(n_up, 10).pvalue)


@pytest.mark.parametrize(
    ("values", "contexts"),
    [
        ([0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1], [0] * 11),
        ([0, 1, 2, 2, 0, 1, 1, 0, 0, 2, 1], [0] * 11),
        ([0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_no_p_is_more_frequent_than_it_says_if_labels_are_dealt_within_units(values, contexts):
    """All deals of the labels of three units of 4, 3 and 4 rows; so few units say nothing between them."""
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


# ---------------------------------------------------------------- between units


def naive_between(x, y, unit):
    """The t value, the degrees of freedom and p, in loops: one context, two values, two labels."""
    names = sorted(set(unit))
    mine = {g: [r for r in range(len(x)) if unit[r] == g] for g in names}
    n = {g: len(mine[g]) for g in names}
    share = sum(y) / len(y)
    products = sum((y[r] - share) * (y[s] - share) for g in names for r in mine[g] for s in mine[g] if r != s)
    n_pairs = sum(n[g] * (n[g] - 1) for g in names)
    alike = min(max(products / n_pairs / (share * (1 - share)), 0), 1) if n_pairs else 0
    size = {g: n[g] / (1 + (n[g] - 1) * alike) for g in names}
    total = sum(size.values())
    off = []
    for z in (x, y):
        mean = {g: sum(z[r] for r in mine[g]) / n[g] for g in names}
        centre = sum(size[g] * mean[g] for g in names) / total
        off.append([size[g] ** 0.5 * (mean[g] - centre) / (1 - size[g] / total) ** 0.25 for g in names])
    left = [1 - size[g] / total for g in names]
    a, b = off
    free = sum(left)
    a2, b2 = sum(v**2 for v in a), sum(v**2 for v in b)
    score = sum(u * v * w**0.5 for u, v, w in zip(a, b, left, strict=True))
    dealt = score**2 * len(a) / (a2 * b2)
    own = sum(u**2 * ((v - score / a2 * u) / (1 - u**2 / a2)) ** 2 for u, v in zip(a, b, strict=True))
    t = min((dealt * (free - 1) / (free - dealt)) ** 0.5, abs(score) / own**0.5)
    even = [min(1, 2 * s**2 / (len(a) * sum(v**4 for v in z))) for z, s in ((a, a2), (b, b2))]
    freedom = free * even[0] * even[1] - 1
    return t, freedom, 2 * student.sf(t, freedom)


@pytest.mark.parametrize("seed", range(8))
def test_units_are_compared_as_the_definition_says(seed):
    rng = np.random.default_rng(seed)
    rows, labels, unit = repeated(rng, n_groups=16, sizes=rng.integers(1, 12, 16), between=0.3)
    _, freedom, expected = naive_between(rows[:, 1].tolist(), labels.tolist(), unit.tolist())
    assert freedom > 4
    assert p_of(rows, labels, unit, (1,)) == pytest.approx(expected)


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
def test_a_value_of_two_units_is_not_judged_by_them(n_groups):
    unit = np.repeat(np.arange(n_groups), 4)
    x = (unit < 2).astype(int)
    assert math.isnan(p_of(x[:, None], x, unit, (0,)))


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


def test_where_both_tell_twice_the_smaller_counts():
    rng = np.random.default_rng(7)
    rows, labels, unit = repeated(rng, n_groups=60, within=0.3)
    both = p_of(rows, labels, unit, (0,))
    means = np.bincount(unit, rows[:, 0]) / 6
    flat = [k for k in range(60) if means[k] == 0.5]  # among these, units do not differ
    held = np.isin(unit, flat)
    assert p_of(rows[held], labels[held], unit[held], (0,)) < 0.1
    from analogical.estimate import groups as groups_module

    table = coded(np.column_stack([rows[:, :1], unit]), labels)
    parts = groups_module._p_within(table), groups_module._p_between(table)
    assert not any(map(math.isnan, parts))
    assert both == 2 * min(parts)
    table = table.take(held)
    assert math.isnan(groups_module._p_between(table))
    assert p_of(rows[held], labels[held], unit[held], (0,)) == groups_module._p_within(table)


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
