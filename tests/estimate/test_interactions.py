"""Effect, interval and test of two features together, from the definitions."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import coded
from naive import naive_interaction_effect

from analogical.count.given import RowContexts
from analogical.count.squares import pair_tables
from analogical.estimate.interactions import (
    Cells,
    SquareSums,
    _test_sums,
    interaction_projection,
    label_products,
    rank_pairs,
    square_matrix,
    sum_pairs,
    sum_squares,
)
from analogical.estimate.sizes import t_quantile


def sums_of(*parts):
    """The sums of one pair from tables of contexts, which come in some parts."""
    n_first, n_second = np.shape(parts[0])[1:3]
    return sum_squares((Cells.of_classes(np.asarray(part)) for part in parts), n_first * n_second)


def sums_of_pairs(tables, n_contexts):
    """Sums of several pairs, which have so many contexts each."""
    return [sums_of(some) for some in np.split(tables, len(tables) // n_contexts)]


def numbers_of(sums):
    return list(vars(sums).values())


def as_rows(tables):
    """One row per count: value, value, context; and the labels."""
    rows, labels = [], []
    for (g, u, v, label), n in np.ndenumerate(np.asarray(tables)):
        rows += [(u, v, g)] * int(n)
        labels += [label] * int(n)
    return rows, labels


@pytest.mark.parametrize("seed", range(60))
def test_effect_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    shape = (2, int(rng.integers(2, 4)), 2, int(rng.integers(2, 4)))
    tables = rng.integers(0, 3, size=shape)
    if tables.sum() > 26:
        tables = np.minimum(tables, 1 + (np.arange(tables.size).reshape(shape) % 3 == 0))
    effect, n_squares = naive_interaction_effect(*as_rows(tables), 0, 1)
    for turned in (tables, tables.transpose(0, 2, 1, 3)):
        found = sums_of(turned)
        assert found.effect_squares == n_squares
        if effect is None:
            assert math.isnan(found.effect())
            assert all(map(math.isnan, (*found.interval(0.95), found.p_value())))
        else:
            assert found.effect() == pytest.approx(float(effect), abs=1e-12)


def test_sums_add_over_contexts():
    tables = np.random.default_rng(3).integers(0, 6, size=(7, 3, 3, 2))
    whole, both = sums_of(tables), sums_of(tables[:4]) + sums_of(tables[4:]) + SquareSums()
    assert (both.squares, both.broken, both.effect_squares) == (whole.squares, whole.broken, whole.effect_squares)
    assert numbers_of(both) == pytest.approx(numbers_of(whole))
    assert numbers_of(sums_of(tables[:4], tables[4:])) == pytest.approx(numbers_of(whole))


def test_sums_do_not_depend_on_how_many_contexts_are_looked_at_at_a_time():
    tables = np.random.default_rng(4).integers(0, 6, size=(4000, 3, 4, 3))  # more than 2**18 pairs of cells
    parts = np.split(tables, 40)
    assert numbers_of(sums_of(tables)) == pytest.approx(numbers_of(sums_of(*parts)))


def brute_matrix(n):
    """Q from all squares, one at a time."""
    n_u, n_v = n.shape
    found = np.zeros((n_u * n_v, n_u * n_v))
    for u, w in product(range(n_u), repeat=2):
        for v, x in product(range(n_v), repeat=2):
            if u < w and v < x:
                signs = np.zeros((n_u, n_v))
                signs[u, v] = signs[w, x] = 1
                signs[w, v] = signs[u, x] = -1
                found += n[u, v] * n[w, v] * n[u, x] * n[w, x] * np.outer(signs, signs)
    return found


def test_square_matrix_holds_the_signs_of_all_squares():
    n = np.random.default_rng(0).integers(0, 5, size=(3, 3, 4)).astype(float)
    for found, one in zip(square_matrix(n), n, strict=True):
        assert found == pytest.approx(brute_matrix(one))


@pytest.mark.parametrize("seed", range(20))
def test_projection_leaves_what_weighted_least_squares_leaves(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 6, size=(1, 3, 4)).astype(float)
    n[:, :, rng.integers(4)] = 0
    if seed % 3 == 0:  # two parts without a connection
        n[0] = np.kron(np.eye(2), np.ones((2, 2)))[:3] * 3
    design = np.zeros((12, 7))
    for c, (u, v) in enumerate(product(range(3), range(4))):
        design[c, [u, 3 + v]] = 1
    root = np.sqrt(n.reshape(-1))
    weighted = root[:, None] * design
    expected = np.diag((root > 0).astype(float)) - weighted @ np.linalg.pinv(weighted)
    assert interaction_projection(n)[0] == pytest.approx(expected, abs=1e-12)


def test_the_statistic_is_the_sum_over_different_rows_and_its_mean_is_0():
    """By all outcomes of additive shares, from the definition in single rows."""
    sizes, shares = [3, 2, 4, 2], np.array([0.2, 0.4, 0.5, 0.7])
    n = np.array(sizes).reshape(1, 2, 2)
    projection = interaction_projection(n.astype(float))[0]
    cell_of = np.repeat(np.arange(4), sizes)
    root = np.sqrt(np.array(sizes, float))
    a = projection[cell_of][:, cell_of] / (root[cell_of][:, None] * root[cell_of])
    own = np.array([projection[c, c] / (sizes[c] - 1) for c in cell_of])
    a = np.where(cell_of[:, None] == cell_of, own[:, None], a)
    np.fill_diagonal(a, 0)
    mean = 0.0
    for outcome in product((0, 1), repeat=len(cell_of)):
        ones = np.bincount(cell_of, outcome, minlength=4).reshape(1, 2, 2)
        e = np.eye(2)[list(outcome)]
        cells = Cells.of_classes(np.stack([n - ones, ones], axis=-1))
        found = _test_sums(n.astype(float), cells.means, cells.spread, 2)
        if ones.sum() > 1 and (n.sum() - ones.sum()) > 1:  # otherwise a single row would decide
            assert found[0] == pytest.approx((a * (e @ e.T)).sum(), abs=1e-9)
        chance = np.prod(np.where(outcome, shares[cell_of], 1 - shares[cell_of]))
        mean += chance * (a * (e @ e.T)).sum()
    assert mean == pytest.approx(0, abs=1e-9)


def test_mean_and_variance_are_those_of_additive_shares_enlarged_for_the_parameters_of_the_fit():
    # Eight rows, three parameters of the additive fit: shares of 1/2 fit, so covariances are 8 / 5 times theirs.
    n = np.full((1, 2, 2), 2.0)
    _, mean, variance = _test_sums(n, np.full((1, 2, 2, 2), 0.5), np.full((1, 2, 2), 0.5), 2)
    projection = interaction_projection(n)[0]
    assert mean == pytest.approx(np.trace(projection) * 0.5 * 8 / 5)
    twice = projection**2 + np.diag(np.diag(projection) ** 2)  # n / (n - 1) = 2 within cells
    assert variance == pytest.approx(2 * twice.sum() * 0.25 * (8 / 5) ** 2)


def test_p_values_are_tails_of_the_scaled_chi_squared_variable_of_this_mean_and_variance():
    from scipy import stats

    for freedom in (0.7, 1, 4, 30):
        for q in (0.5, 3.0, 40.0):
            sums = SquareSums(statistic=0.3 * (q - freedom), null_mean=0.3 * freedom, null_variance=0.18 * freedom)
            assert sums.p_value() == pytest.approx(stats.chi2.sf(q, freedom))
    assert SquareSums(statistic=-5.0, null_mean=1.0, null_variance=1.0).p_value() == 1.0
    assert math.isnan(SquareSums().p_value())


def test_fitted_shares_are_half_a_row_away_from_0_so_that_rules_have_p_values():
    rule = np.zeros((1, 2, 2, 2), np.int64)
    rule[0, :, :, 0] = 30
    assert math.isnan(sums_of(rule).p_value())  # no rare label is expected anywhere
    rule[0, 1] = [[0, 30], [0, 30]]  # the label is the first feature
    sums = sums_of(rule)
    assert sums.null_mean > 0
    assert sums.p_value() > 0.3


def test_cells_in_which_one_row_would_decide_are_left_out_of_the_test():
    tables = np.array([[[[900, 20], [90, 2]], [[90, 2], [9, 1]]]])  # share of about .02: .2 rows expected in the last
    found = sums_of(tables)
    assert found.effect_squares > 0
    assert math.isnan(found.p_value())
    tables[0, 1, 1] = [12, 1]
    assert sums_of(tables).p_value() <= 1
    wider = np.zeros((1, 2, 3, 2), np.int64)
    wider[:, :, :2] = [[[[900, 20], [90, 2]], [[90, 2], [9, 1]]]]
    wider[0, :, 2] = [[90, 2], [90, 3]]
    kept = wider.copy()
    kept[0, 1, 1] = 0
    assert sums_of(wider).p_value() == pytest.approx(sums_of(kept).p_value(), rel=0.05)


def test_significant_pairs_come_first_by_their_lower_end_then_unclear_pairs_by_p():
    nan = math.nan
    effect = np.array([0.5, 0.1, 0.2, 0.9, nan, nan, 0.3, nan, 0.0, nan])
    index = np.array([0.6, 0.6, 0.6, 0.6, 0.2, 0.4, 0.5, nan, 0.6, nan])
    p = np.array([0.2, 0.001, 0.002, 0.3, nan, nan, nan, nan, 0.1, nan])
    status = ["unclear"] * 10
    status[1] = status[2] = "effect"
    status[8], status[9] = "none", "same"
    low = effect - 0.05
    assert rank_pairs(status, effect, low, index, p, np.ones(10)).tolist() == [2, 1, 0, 3, 6, 5, 4, 7, 8, 9]
    low[1:3] = 0.08, 0.01  # the larger effect is less sure
    assert rank_pairs(status, effect, low, index, p, np.ones(10)).tolist() == [1, 2, 0, 3, 6, 5, 4, 7, 8, 9]
    low[1:3] = 0.0
    assert rank_pairs(status, effect, low, index, p, np.ones(10)).tolist() == [1, 2, 0, 3, 6, 5, 4, 7, 8, 9]
    same = np.full(3, 0.5)
    assert rank_pairs(["unclear"] * 3, same, same, same, same, np.array([1.0, 2.0, 1.0])).tolist() == [1, 0, 2]


# ---------------------------------------------------------------- tables of the values and labels of each context


def in_places(counts, n_places):
    """One context with places for the values that it holds, and empty ones."""
    axes = [np.flatnonzero(counts.sum(axis=tuple({0, 1, 2} - {axis}))) for axis in range(2)]
    table = np.zeros((1, *n_places, counts.shape[2]), np.int64)
    table[0, : len(axes[0]), : len(axes[1])] = counts[np.ix_(*axes)]
    return table


@pytest.mark.parametrize("n_labels", [2, 3, 12])
def test_places_for_the_values_of_each_context_change_nothing(n_labels):
    rng = np.random.default_rng(6)
    tables = rng.integers(0, 4, size=(8, 6, 7, n_labels)) * (rng.random((8, 6, 7, n_labels)) < 5 / n_labels)
    for k, table in enumerate(tables):
        table[rng.permutation(6)[:3]] = 0
        table[:, rng.permutation(7)[: k // 2]] = 0
        table[..., 5:11] = 0
    placed = (Cells.of_classes(in_places(table, (4 + k % 2, 7))) for k, table in enumerate(tables))
    found = sum_squares(placed, 42)
    whole = sums_of(tables)
    assert found.null_variance > 0
    assert numbers_of(found) == pytest.approx(numbers_of(whole), rel=1e-9)


@pytest.mark.parametrize("n_labels", [17, 40])
def test_of_many_labels_those_outside_a_context_change_nothing(n_labels):
    rng = np.random.default_rng(n_labels)
    rows, labels = rng.integers(0, [3, 20, 40], size=(900, 3)), rng.integers(0, n_labels, size=900)
    rows[:, 1] = np.digitize(rows[:, 1], [9, 18])
    rows[labels < n_labels // 2, 2] %= 4  # few contexts with many labels, many with few
    labels[(rows[:, 1] == 2) | (rows[:, 2] % 5 == 4)] = 3  # small cells and whole contexts that have a single one
    table = coded(rows, labels, rng.integers(1, 4, size=900))
    cells = RowContexts.by(table, [2])
    shapes = {tables.shape[3] for tables, *_ in pair_tables(table, cells, 0, 1)}
    assert min(shapes) == 1
    assert max(shapes) < n_labels
    (found,) = sum_pairs(table, [(0, 1)], [[2]])
    counts = np.zeros((len(cells), 3, 3, n_labels), np.int64)
    np.add.at(counts, (cells.of_row, rows[:, 0], rows[:, 1], labels), table.weights)
    whole = sums_of(counts)
    assert (found.squares, found.broken, found.effect_squares) == (whole.squares, whole.broken, whole.effect_squares)
    assert numbers_of(found) == pytest.approx(numbers_of(whole), rel=1e-9)
    assert not math.isnan(found.p_value())


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_products_of_covariances_are_those_of_matrices(n_labels):
    p = np.random.default_rng(n_labels).dirichlet(np.ones(n_labels), size=(1, 4))
    s = [np.diag(one) - np.outer(one, one) for one in p[0]]
    expected = [[np.trace(one @ other) for other in s] for one in s]
    assert label_products(p)[0] == pytest.approx(np.array(expected), rel=1e-12)


# ---------------------------------------------------------------- how sure


def test_the_effective_number_of_squares_of_single_squares_is_their_number():
    tables = np.ones((9, 2, 2, 2), np.int64)  # two rows per cell: each context is worth less than its 16 squares
    found = sums_of(tables)
    assert found.effect_squares == 9 * 16
    # Each of the 8 rows of a context sits in 8 squares: 4 * 144^2 / (72 * 64).
    assert found.n_effective() == pytest.approx(4 * 144**2 / (72 * 64))


def test_an_interval_without_noise_is_that_of_a_share():
    xor = np.zeros((1, 2, 2, 2), np.int64)
    xor[0, [0, 1], [0, 1], 0] = xor[0, [0, 1], [1, 0], 1] = 50
    found = sums_of(xor)
    low, high = found.interval(0.95)
    assert found.effect() == 1.0
    assert found.n_effective() == pytest.approx(50)
    assert high == 1.0
    assert low == pytest.approx(50 / (50 + 1.959964**2))
    assert found.p_value() < 1e-6


def naive_variances(tables, effect):
    """The parts of the variance of the sum of effects, from all squares one at a time."""
    labels = products = roots = rows = 0.0
    for table in tables:
        n = table.sum(axis=2).astype(float)
        p = table / n[..., None]
        matrix = brute_matrix(n)
        c = n.size
        flat = p.reshape(c, -1)
        smooth = (table.reshape(c, -1) + 0.25) / (n.reshape(-1) + 0.25 * table.shape[2])[:, None]
        spread = [(np.diag(q) - np.outer(q, q)) / (m - 1) for q, m in zip(smooth, n.reshape(-1), strict=True)]
        slope = matrix @ flat
        labels += 4 * sum(slope[k] @ spread[k] @ slope[k] for k in range(c)) / 64
        twice = 2 * sum(matrix[k, m] ** 2 * np.trace(spread[k] @ spread[m]) for k in range(c) for m in range(c)) / 64
        products += twice
        roots += (twice / 2) ** 1.5
        noise = (1 - (p**2).sum(axis=2)) / (n - 1)
        part, weight = np.zeros(n.shape), np.zeros(n.shape)
        for u, w in product(range(n.shape[0]), repeat=2):
            for v, x in product(range(n.shape[1]), repeat=2):
                if u < w and v < x:
                    cells = [(u, v), (w, v), (u, x), (w, x)]
                    times = np.prod([n[cell] for cell in cells])
                    d = p[u, v] - p[w, v] - p[u, x] + p[w, x]
                    value = ((d**2).sum() - sum(noise[cell] for cell in cells)) / 8
                    for cell in cells:
                        part[cell] += times * value
                        weight[cell] += times
        rows += ((part - effect * weight) ** 2 / n).sum()
    return labels, products, roots, rows


Z = 1.959963984540054


def ends_of(found, tables):
    """Both ends of the 95 % interval, from the definitions."""
    size, effect = found.effect_squares, found.effect()
    labels, products, roots, rows = naive_variances(tables, effect)
    least, rows = products / size**2, rows / size**2
    labels = max(labels / size**2 - least, least)
    deviation = math.sqrt(labels + rows)
    slope = (labels - least) / effect if effect > 2 * deviation else 4 * roots / products / size
    start = max(effect, 0)
    high = np.roots([1, -2 * start - Z**2 * slope, start**2 - Z**2 * (least + rows)]).max()
    return max(effect - Z * deviation, 0), high


def test_the_interval_of_a_large_effect_rests_on_labels_and_on_rows():
    rng = np.random.default_rng(8)
    tables = rng.integers(4, 30, size=(4, 2, 3, 2))
    tables[:, 0, 0, 1] += 60
    found = sums_of(tables)
    low, high = found.interval(0.95)
    assert found.n_effective() > 30
    assert (low, high) == pytest.approx(ends_of(found, tables))
    assert 0 < low < found.effect() < high < 1


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_of_a_small_effect_begins_at_0(seed):
    rng = np.random.default_rng(seed)
    tables = rng.integers(20, 40, size=(3, 3, 2, 3))
    found = sums_of(tables)
    assert found.interval(0.95) == pytest.approx(ends_of(found, tables), abs=1e-12)
    assert found.interval(0.95)[0] == 0
    assert found.interval(0.5)[1] < found.interval(0.95)[1] < found.interval(0.99)[1]


def test_few_squares_take_students_quantile():
    tables = np.full((1, 2, 2, 2), 2)
    tables[0, 0, 0, 1] = 6
    found = sums_of(tables)
    n = found.n_effective()
    assert 3 < n < 30
    from scipy import stats

    assert t_quantile(n, 0.95) == pytest.approx(stats.t.ppf(0.975, n))
    assert t_quantile(1.0, 0.95) == pytest.approx(stats.t.ppf(0.975, 3))
    assert t_quantile(30.0, 0.95) == pytest.approx(stats.norm.ppf(0.975))


@pytest.mark.parametrize("n_values", [32, 33])
def test_beyond_512_cells_only_the_effect_is_known(n_values):
    tables = np.random.default_rng(1).integers(2, 9, size=(1, 16, n_values, 2))
    found = sums_of(tables)
    is_known = 16 * n_values <= 512
    assert found.effect() == pytest.approx(sums_of(tables.transpose(0, 2, 1, 3)).effect(), rel=1e-9)
    assert [math.isnan(x) for x in (*found.interval(0.95), found.p_value())] == [not is_known] * 3


# ---------------------------------------------------------------- numbers


def number_rows(seed, n_rows=60):
    """Two features and a context, with weights, and a number with few values that differs between their cells."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [3, 4, 3], size=(n_rows, 3))
    return rows, (rows[:, 0] * rows[:, 1] + rng.integers(0, 4, n_rows)) % 7, rng.integers(1, 3, size=n_rows)


def sums_of_numbers(rows, labels, weights, numbers, given=(2,)):
    return sum_pairs(coded(rows, labels, weights), [(0, 1)], [list(given)], np.asarray(numbers, float))[0]


def naive_number_effect(rows, numbers, i, j):
    """Mean over all squares of repeated cells of (m_a - m_b - m_c + m_d)^2 / 4, less the variance of the means."""
    total, n_squares = 0.0, 0
    for context in {row[2] for row in rows}:
        cells = {}
        for row, number in zip(rows, numbers, strict=True):
            if row[2] == context:
                cells.setdefault((row[i], row[j]), []).append(number)
        cells = {cell: np.array(held) for cell, held in cells.items() if len(held) > 1}
        for u, w in product(range(4), repeat=2):
            for v, x in product(range(4), repeat=2):
                four = [(u, v), (w, v), (u, x), (w, x)]
                if u < w and v < x and all(cell in cells for cell in four):
                    times = math.prod(len(cells[cell]) for cell in four)
                    a, b, c, d = (cells[cell].mean() for cell in four)
                    noise = sum(cells[cell].var(ddof=1) / len(cells[cell]) for cell in four)
                    total, n_squares = total + times * ((a - b - c + d) ** 2 - noise) / 4, n_squares + times
    return total / n_squares, n_squares


@pytest.mark.parametrize("seed", range(20))
def test_the_effect_of_numbers_is_that_of_the_definition(seed):
    rows, labels, weights = number_rows(seed)
    numbers = np.array([-3.0, 0.5, 1, 4, 10, 11, 20])
    every = np.repeat(rows, weights, axis=0).tolist()
    effect, n_squares = naive_number_effect(every, numbers[np.repeat(labels, weights)], 0, 1)
    for given in ((2,), (2, 2)):
        found = sums_of_numbers(rows, labels, weights, numbers, given)
        assert found.effect_squares == n_squares
        assert found.broken == 0
        assert found.effect() * np.ptp(numbers) ** 2 == pytest.approx(effect, rel=1e-9)
    turned = sums_of_numbers(rows[:, [1, 0, 2]], labels, weights, numbers)
    assert numbers_of(turned) == pytest.approx(numbers_of(found), rel=1e-9)


def test_sums_of_numbers_do_not_depend_on_unit_or_on_the_number_of_tables(monkeypatch):
    rows, labels, weights = number_rows(1, 300)
    numbers = np.array([0.0, 1, 2, 3, 5, 8, 13])
    whole = sums_of_numbers(rows, labels, weights, numbers)
    assert 0 < whole.p_value() < 1
    assert numbers_of(sums_of_numbers(rows, labels, weights, 1e6 - 20 * numbers)) == pytest.approx(numbers_of(whole))
    monkeypatch.setattr("analogical.count.squares.MAX_CELLS", 20)
    rows[:, 2] = rows[:, 2] * 100 + np.arange(300) % 3  # many contexts, so that tables have places of their own
    few = sums_of_numbers(rows, labels, weights, numbers)
    monkeypatch.undo()
    assert numbers_of(few) == pytest.approx(numbers_of(sums_of_numbers(rows, labels, weights, numbers)))


@pytest.mark.parametrize("values", [(0, 1), (-3, 7)])
def test_two_numbers_are_two_classes(values):
    rows, labels, weights = number_rows(2)
    labels = labels % 2
    (classes,) = sum_pairs(coded(rows, labels, weights), [(0, 1)], [[2]])
    assert sums_of_numbers(rows, labels, weights, values) == classes


def test_the_sums_of_numbers_are_those_of_two_classes_up_to_the_variances_of_the_test():
    """A third number that does not occur changes the variances only: those of cells replace those of fitted shares."""
    rows, labels, weights = number_rows(3)
    (classes,) = sum_pairs(coded(rows, labels % 2, weights), [(0, 1)], [[2]])
    found = sum_pairs(coded(rows, labels % 2, weights, n_labels=3), [(0, 1)], [[2]], np.array([0, 1, 0.5]))[0]
    same = [name for name in vars(found) if name not in ("broken", "labels", "products", "products_root")]
    same = [name for name in same if not name.startswith(("statistic", "null"))]
    assert len(same) == 7
    for name in same:
        assert getattr(found, name) == pytest.approx(getattr(classes, name), rel=1e-9)


def test_the_statistic_and_the_variances_of_numbers_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    sizes = [3, 2, 4, 2]
    cell_of = np.repeat(np.arange(4), sizes)
    y = rng.normal(size=len(cell_of))
    numbers = np.sort(y)
    rows = np.stack([cell_of // 2, cell_of % 2, 0 * cell_of], axis=1)
    found = sums_of_numbers(rows, np.argsort(np.argsort(y)), None, numbers)
    scaled, n = (y - y.min()) / np.ptp(y), np.array(sizes, float)
    projection = interaction_projection(n.reshape(1, 2, 2))[0]
    a = projection[cell_of][:, cell_of] / np.sqrt(n[cell_of][:, None] * n[cell_of])
    own = np.array([projection[c, c] / (sizes[c] - 1) for c in cell_of])
    a = np.where(cell_of[:, None] == cell_of, own[:, None], a)
    np.fill_diagonal(a, 0)
    assert found.statistic == pytest.approx(2 * scaled @ a @ scaled)
    design = np.stack([np.ones(len(y)), rows[:, 0], rows[:, 1]], axis=1)
    left = scaled - design @ np.linalg.lstsq(design, scaled, rcond=None)[0]
    squares = np.bincount(cell_of, left**2) / n  # about the additive fit
    smooth = 2 * (n * squares + 0.5 * (n @ squares) / n.sum()) / (n + 0.5)
    smooth /= 1 - (1 - np.diag(projection)) / n
    assert found.null_mean == pytest.approx(np.diag(projection) @ smooth)
    twice = projection**2 + np.diag(np.diag(projection) ** 2 / (n - 1))
    assert found.null_variance == pytest.approx(2 * smooth @ twice @ smooth)
    within = np.array([scaled[cell_of == c].var() for c in range(4)])
    spread = 2 * (n * within + 0.5 * (n @ within) / n.sum()) / (n + 0.5) / (n - 1)
    matrix = square_matrix(n.reshape(1, 2, 2))[0]
    slope = matrix @ np.array([scaled[cell_of == c].mean() for c in range(4)])
    assert found.labels == pytest.approx(2 * (spread * slope**2).sum() / 16)
    assert found.products == pytest.approx(2 * (spread @ matrix**2 @ spread) / 64)


# ---------------------------------------------------------------- do they hold their promise: a small simulation


@pytest.mark.parametrize("noise", ["normal", "lognormal", "unequal"])
def test_p_values_and_intervals_of_numbers_hold_their_promise(noise):
    rng = np.random.default_rng(4)
    p, covered, found = [], [], []
    for _ in range(400):
        rows = rng.integers(0, [2, 3, 2], size=(240, 3))
        error = rng.lognormal(size=240) if noise == "lognormal" else rng.normal(size=240)
        error *= 1 + 2 * ((rows[:, 0] > 0) & (rows[:, 1] > 0)) if noise == "unequal" else 1
        for size in (0, 1.5):
            y = rows[:, 0] - 2 * rows[:, 1] + error + size * ((rows[:, 0] > 0) ^ (rows[:, 1] > 0))
            numbers, labels = np.unique(y, return_inverse=True)
            sums = sums_of_numbers(rows, labels, None, numbers)
            if size:
                low, high = (np.ptp(numbers) ** 2 * end for end in sums.interval(0.95))
                covered.append(low <= 2 / 3 * (2 * size) ** 2 / 4 <= high)  # of three pairs of values, one adds up
                found.append(sums.p_value() <= 0.05)
            else:
                p.append(sums.p_value())
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    assert np.mean(covered) >= 0.9
    assert np.mean(found) > 0.8


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], 25),
        ([[0.1, 0.3], [0.5, 0.7]], 25),
        ([[0.1, 0.15, 0.2], [0.3, 0.35, 0.4], [0.6, 0.65, 0.7]], [[80, 40, 5], [40, 20, 3], [5, 3, 2]]),
    ],
)
def test_p_values_of_additive_shares_are_uniform_or_larger(rates, sizes):
    rng = np.random.default_rng(7)
    n = np.broadcast_to(sizes, (3000, *np.shape(rates)))
    ones = rng.binomial(n, rates)
    found = sums_of_pairs(np.stack([n - ones, ones], axis=-1), 1)
    p = np.array([sums.p_value() for sums in found])
    assert (p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)
    assert (p <= 0.05).mean() > 0.02
    assert (p <= 0.005).mean() <= 0.005 + 3 * math.sqrt(0.005 / 3000)


@pytest.mark.parametrize(("rates", "n_rows"), [([[0.3, 0.3], [0.3, 0.3]], 2), ([[0.1, 0.3], [0.5, 0.7]], 3)])
def test_p_values_over_many_small_contexts_are_uniform_or_larger(rates, n_rows):
    rng = np.random.default_rng(7)
    n = np.full((40 * 1000, 2, 2), n_rows)
    ones = rng.binomial(n, rates)
    found = sums_of_pairs(np.stack([n - ones, ones], axis=-1), 40)
    p = np.array([sums.p_value() for sums in found])
    assert (p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
    assert (p <= 0.05).mean() > 0.01


def test_intervals_cover_the_true_effect():
    rng = np.random.default_rng(9)
    rates = np.array([[0.2, 0.7], [0.6, 0.3]])
    n = rng.multinomial(200, [0.25] * 4, size=1500).reshape(-1, 2, 2)
    ones = rng.binomial(n, rates)
    found = sums_of_pairs(np.stack([n - ones, ones], axis=-1), 1)
    truth = 2 * (0.2 - 0.7 - 0.6 + 0.3) ** 2 / 8
    ends = np.array([sums.interval(0.95) for sums in found])
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    assert 0.92 <= covered <= 0.985
    assert np.mean([sums.effect() for sums in found]) == pytest.approx(truth, abs=0.006)
