"""Observed less expected rows and their covariance, against all deals of the labels."""

import math

import numpy as np
import pytest
from conftest import coded
from naive import naive_deals, naive_value_label_counts
from scipy.sparse import csc_array
from scipy.stats import chi2, fisher_exact, hypergeom

from analogical.count.contexts import Stack
from analogical.count.pairs import find_contexts
from analogical.estimate.permutations import smallest_of
from analogical.estimate.tests import (
    DirectionTests,
    Kinds,
    TableSums,
    informative_tables,
    moments_of_tables,
    quadratic_forms,
    rooms_of_tables,
)


def small_table(seed, n_labels=3):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [3, 2], size=(8, 2))
    rows[:3, 0] = 0, 1, 2
    labels = rng.integers(0, n_labels, size=8)
    labels[:n_labels] = np.arange(n_labels)
    return rows, labels


def apart(n):
    """So many kinds, from frequent to rare, as they are numbered."""
    return Kinds.of(np.arange(n, 0, -1))


def p_values_of(tables, times=None):
    """P-values of frequent and of rare cells, for tables whose values and labels are numbered from frequent to rare."""
    kinds, owner = ([apart(tables.shape[1])], apart(tables.shape[2])), np.zeros(len(tables), np.intp)
    (tests,) = DirectionTests.of_tables(tables, np.ones(len(tables)) if times is None else times, owner, *kinds)
    return tests.frequent, tests.rare


def sums_of(tables, times):
    """Deviations and covariances of all of such tables."""
    (sums,) = TableSums.of(tables, [csc_array(times[None])], apart(tables.shape[1]), apart(tables.shape[2]))
    return sums.deviation[0], sums.covariance[0]


def tables_of(rows, labels):
    """Informative contexts of the first feature."""
    contexts = find_contexts(coded(rows, labels), [0])[0]
    if not len(contexts):
        return np.zeros((0, 3, 3)), np.zeros(0)
    (found,) = informative_tables(Stack.of([contexts]), [apart(3)], apart(int(labels.max()) + 1))
    return found.tables, found.times.astype(float)


def all_counts(rows, labels, n_labels=3):
    """Rows by value and label under every deal, as an array, and as observed."""
    plain = [tuple(row) for row in rows.tolist()]
    deals = np.array(
        [
            naive_value_label_counts(plain, dealt, 0, range(3), range(n_labels))
            for dealt in naive_deals(plain, labels.tolist(), 0)
        ],
        float,
    )
    return deals, np.array(naive_value_label_counts(plain, labels.tolist(), 0, range(3), range(n_labels)), float)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_deviation_and_covariance_are_those_of_all_deals(seed, n_labels):
    rows, labels = small_table(seed, n_labels)
    deals, observed = all_counts(rows, labels, n_labels)
    summed_deviation, summed_covariance = sums_of(*tables_of(rows, labels))
    assert summed_deviation == pytest.approx(observed - deals.mean(axis=0), abs=1e-9)
    assert summed_covariance == pytest.approx(np.cov(deals.T, bias=True), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_moments_of_single_tables_add_up_to_the_sums(seed):
    tables, times = tables_of(*small_table(seed))
    deviation, covariance = moments_of_tables(tables)
    weights = np.array([3.0, 2.0][: len(times)])
    summed_deviation, summed_covariance = sums_of(tables, weights)
    assert summed_deviation == pytest.approx(weights @ deviation)
    assert summed_covariance == pytest.approx(np.einsum("c,cij->ij", weights, covariance))


@pytest.mark.parametrize("times", [1, 20])
def test_two_values_and_labels_give_the_mantel_haenszel_statistic(times):
    """Three contexts: (sum of a - E a)^2 / sum of Var a, with one degree of freedom; exactly if rows are few."""
    tables = times * np.array([[[17, 13], [12, 18]], [[14, 11], [15, 15]], [[11, 13], [12, 19]]], float)
    a, rows, columns = tables[:, 0, 0], tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    expected = rows[:, 0] * columns[:, 0] / n
    variance = rows.prod(axis=1) * columns.prod(axis=1) / (n**2 * (n - 1))
    statistic = (a - expected).sum() ** 2 / variance.sum()
    first, *others = p_values_of(tables)
    if times == 1:
        assert first.p == pytest.approx(mantelhaen_exact(tables))
        assert first.p == pytest.approx(chi2.sf(statistic, 1), rel=0.2)
    else:
        assert first.p == pytest.approx(chi2.sf(statistic, 1))
        assert [math.isnan(rare.p) for rare in others] == [True]


def mantelhaen_exact(tables):
    """Rows of the first value with the first label, over all contexts: not more likely than what was observed."""
    law = np.ones(1)
    for table in tables.astype(int):
        a, b, n = table[0].sum(), table[:, 0].sum(), table.sum()
        law = np.convolve(law, hypergeom(n, a, b).pmf(np.arange(a + 1)))
    return law[law <= law[int(tables[:, 0, 0].sum())] * (1 + 1e-7)].sum()


def test_directions_that_cannot_vary_are_no_degrees_of_freedom():
    deviations = np.array([[1.0, -1.0], [0.0, 0.0], [1.0, 2.0]])
    covariances = np.array([[[2.0, -2.0], [-2.0, 2.0]], np.zeros((2, 2)), np.diag([4.0, 1.0])])
    statistics, freedoms = quadratic_forms(deviations, covariances)
    assert statistics.tolist() == pytest.approx([0.5, 0.0, 4.25])
    assert freedoms.tolist() == [1, 0, 2]


def test_no_context_that_tells_gives_no_p_value():
    assert all(math.isnan(found.p) for found in p_values_of(np.zeros((0, 2, 2))))


def test_contexts_with_one_value_or_one_label_are_left_out():
    rows = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (0, 2)]
    tables, times = tables_of(np.array([*rows, (2, 3)]), np.array([0, 0, 0, 1, 0, 1, 1]))
    assert tables.tolist() == [[[1, 0], [0, 1], [0, 0]]]
    assert times.tolist() == [1.0]


# ---------------------------------------------------------------- which values are told apart


def test_the_rarest_values_are_taken_together():
    kinds = Kinds.of(np.array([3, 10, 1, 8, 2, 9, 7, 6, 5, 4]))
    assert kinds.of_value.tolist() == [7, 0, 7, 2, 7, 1, 3, 4, 5, 6]
    assert (kinds.n, kinds.levels, kinds.all_apart) == (8, (8, 7, 6, 5, 4, 3, 2), False)
    assert Kinds.of(np.array([9, 8, 7, 6, 5, 4, 3, 2, 1])).of_value.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7]


def test_values_of_the_same_size_are_merged_together_or_not_at_all():
    assert Kinds.of(np.array([9, *[4] * 8])).of_value.tolist() == [0, *[1] * 8]
    equal = Kinds.of(np.full(24, 4))
    assert (equal.n, equal.levels, equal.all_apart) == (24, (24,), True)  # three times the limit, rather than none
    assert Kinds.of(np.full(25, 4)).n == 1
    assert Kinds.of(np.array([9, 9, 5, 5, 1])).levels == (5, 3)  # 9 9 and the rest, but never 9 and the rest


def test_values_without_rows_are_no_kinds():
    kinds = Kinds.of(np.array([0, 5, 0, 7]))
    assert (kinds.n, kinds.levels, kinds.all_apart) == (2, (2,), True)
    assert kinds.of_value[[3, 1]].tolist() == [0, 1]
    assert Kinds.of(np.array([0, 5])).levels == ()


def test_sets_are_all_kinds_and_the_rest_of_each_level():
    kinds = Kinds.of(np.array([9, 7, 5, 3]))
    assert kinds.levels == (4, 3, 2)
    assert kinds.sets()[4:].tolist() == [[0, 0, 1, 1], [0, 1, 1, 1]]
    assert [kinds.members(level) for level in kinds.levels] == [[0, 1, 2, 3], [0, 1, 4], [0, 5]]


def test_room_is_what_a_cell_could_have_below_and_above_its_expectation():
    """4 rows of 10 have the value, 7 the label: 2.8 are expected, 1 to 4 are possible; with 2 of the label 0 to 2."""
    tables = np.array([[[3.0, 1.0], [4.0, 2.0]], [[1.0, 3.0], [1.0, 5.0]]])
    one, two = rooms_of_tables(tables, apart(2), apart(2))
    assert one == pytest.approx(np.full((2, 2), min(2.8 - 1, 4 - 2.8)))
    assert two == pytest.approx(np.full((2, 2), min(0.8 - 0, 2 - 0.8)))


def test_room_is_little_where_contexts_have_opposite_majorities():
    """All pooled expected cells are near 500, and yet one row of each context can move."""
    tables = np.array([[[500.0, 0.0], [499.0, 1.0]], [[0.0, 500.0], [1.0, 499.0]]])
    assert rooms_of_tables(tables, apart(2), apart(2)).sum(axis=0).max() < 1.1
    frequent, rare = p_values_of(tables)
    assert math.isnan(frequent.p)
    assert rare.p == pytest.approx(1.0)  # 501, 500, 500 or 499 rows: the observed 500 is the likeliest


def test_room_below_in_one_context_and_above_in_another_is_no_room():
    """Two rows of a value in each of ten contexts, and a majority of 97 % that changes: hardly a row can move."""
    even = np.array([[95.0, 3.0], [2.0, 0.0]])
    tables = np.array([even, even[:, ::-1]])
    assert 5 * rooms_of_tables(tables, apart(2), apart(2))[:, 1, 0].sum() == pytest.approx(10 * 2 * 3 / 100)
    assert math.isnan(p_values_of(tables, np.array([5.0, 5.0]))[0].p)


# ---------------------------------------------------------------- rare cells


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_rare_cells_have_the_p_values_of_all_deals(seed, n_labels):
    rows, labels = small_table(seed, n_labels)
    deals, observed = all_counts(rows, labels, n_labels)
    frequent, rare = p_values_of(*tables_of(rows, labels))
    assert math.isnan(frequent.p)  # eight rows
    # all_counts leaves out the last value and label: the others follow from sums
    shape = (2, n_labels - 1)
    full = [_with_last(counts.reshape(shape), rows, labels) for counts in (*deals, observed)]
    cells = []
    for v in range(3):
        for c in range(1 if n_labels == 2 else n_labels):
            outcomes = np.array([table[v, c] for table in full])
            dealt, seen = outcomes[:-1], outcomes[-1]
            chance = {x: np.mean(dealt == x) for x in np.unique(dealt)}
            if len(chance) > 1:
                p, smallest = (
                    sum(q for q in chance.values() if q <= limit + 1e-9)
                    for limit in (chance[seen], min(chance.values()))
                )
                cells.append((p, smallest))
    expected = min((min(1.0, p * sum(m <= p + 1e-9 for _, m in cells)) for p, _ in cells), default=math.nan)
    assert rare.p == pytest.approx(expected, nan_ok=True)


def _with_last(counts, rows, labels):
    """Counts with the last value and label, from the rows of all values and labels."""
    by_value = np.bincount(rows[:, 0], minlength=3)
    by_label = np.bincount(labels, minlength=counts.shape[1] + 1)
    table = np.zeros((3, counts.shape[1] + 1))
    table[:2, :-1] = counts
    table[:2, -1] = by_value[:2] - counts.sum(axis=1)
    table[2] = by_label - table[:2].sum(axis=0)
    return table


def test_one_rare_cell_is_fishers_exact_test():
    frequent, rare = p_values_of(np.array([[[1900.0, 60.0], [10.0, 4.0]]]))
    assert math.isnan(frequent.p)
    assert rare.p == pytest.approx(fisher_exact([[1900, 60], [10, 4]]).pvalue)


def test_frequent_values_are_tested_together_and_the_rare_one_alone():
    table = np.array([[[80.0, 20.0], [60.0, 30.0], [1.0, 3.0]]])
    frequent, rare = p_values_of(table)
    merged = table[0, 1:].sum(axis=0)
    assert frequent.p == pytest.approx(fisher_exact([table[0, 0], merged]).pvalue, rel=1e-6)
    cells = [fisher_exact([table[0, v], table[0].sum(axis=0) - table[0, v]]).pvalue for v in range(3)]
    assert rare.p == pytest.approx(cells[2])


def test_more_than_two_frequent_values_are_a_chi_square_test(monkeypatch):
    table = np.array([[60.0, 40.0], [30.0, 40.0], [20.0, 25.0]])
    n = table.sum()
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / n
    statistic = ((table - expected) ** 2 / expected).sum() * (n - 1) / n
    frequent, rare = p_values_of(table[None])
    assert frequent.p == pytest.approx(chi2.sf(statistic, 2))
    assert math.isnan(rare.p)


@pytest.mark.parametrize("turned", [False, True])
def test_the_finest_table_with_room_is_taken(turned):
    """Labels of 300, 200 and 4 rows: the third is merged with the second, for both values."""
    table = np.array([[170.0, 90.0, 1.0], [130.0, 110.0, 3.0]])
    table = table.T if turned else table
    merged = np.add.reduceat(table, [0, 1], axis=0 if turned else 1)
    assert p_values_of(table[None])[0].p == pytest.approx(fisher_exact(merged).pvalue)


def test_a_test_that_could_not_be_so_small_does_not_count():
    from analogical.estimate.permutations import PValue

    found = smallest_of([PValue(0.01, 0.001), PValue(0.3, 0.2), PValue(0.5, 0.005), PValue(math.nan)])
    assert found.p == pytest.approx(0.02)
    assert found.smallest == pytest.approx(0.001)
    assert smallest_of([PValue(0.25, 0.2), PValue(0.25, 0.2)]).p == 0.5
    assert math.isnan(smallest_of([]).p)


def test_a_label_that_never_varies_does_not_stand_in_the_way():
    rng = np.random.default_rng(3)
    varied = rng.integers(5, 20, size=(40, 3, 2)).astype(float)
    varied[:, 0, 0] += 6
    with_constant = np.concatenate([np.zeros((40, 3, 1)), varied], axis=2)  # the most frequent label, elsewhere
    expected, found = p_values_of(varied)[0].p, p_values_of(with_constant)[0].p
    assert found == pytest.approx(expected, rel=1e-9)
    assert found < 0.01
