"""Effect, interval and test of two features together, from the definitions."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import coded
from naive import naive_interaction_effect
from scipy.stats import chi2

from analogical.count import squares
from analogical.count.given import Cells
from analogical.count.squares import PairTables, pair_tables
from analogical.estimate.interaction_tests import (
    AdditiveFits,
    CommonSums,
    additive_cumulants,
    interaction_projection,
    label_products,
    mixed_shares,
    null_cumulants,
    tail_probability,
)
from analogical.estimate.interactions import Moment, PairSums, SquareSums, rank_pairs, square_matrix, sum_pairs
from analogical.estimate.sizes import t_quantile


def sum_squares(tables, n_contexts):
    """Sums of several pairs, which have so many contexts each."""
    n_pairs = len(tables) // n_contexts
    sums = PairSums([tables.shape[1:3]] * n_pairs, tables.shape[3])
    for k in range(n_pairs):
        sums.add(k, PairTables.whole(tables[k * n_contexts : (k + 1) * n_contexts]))
    return sums.finished()


def sums_of(tables):
    tables = np.asarray(tables)
    (found,) = sum_squares(tables, len(tables))
    return found


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
    whole = sums_of(tables)
    one, two = sums_of(tables[:4]), sums_of(tables[4:])
    both = one + two + SquareSums.none()
    assert (both.squares, both.broken, both.effect_squares) == (whole.squares, whole.broken, whole.effect_squares)
    assert both.moments == pytest.approx(whole.moments)


def test_sums_do_not_depend_on_how_many_contexts_are_looked_at_at_a_time():
    tables = np.random.default_rng(4).integers(0, 6, size=(2000, 3, 4, 3))
    parts = [sums_of(tables[k : k + 100]) for k in range(0, 2000, 100)]
    assert sums_of(tables).moments == pytest.approx(sum(parts, SquareSums.none()).moments)


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


def enumerate_statistics(sizes, shares, projection):
    """The statistic for every outcome of the labels, with its probability, from the definition in single rows."""
    cell_of = [c for c, n in enumerate(sizes) for _ in range(int(n))]
    a = np.array(
        [
            [
                0.0
                if r == s
                else projection[c, d] / np.sqrt(sizes[c] * sizes[d])
                if c != d
                else projection[c, c] / (sizes[c] - 1)
                for s, d in enumerate(cell_of)
            ]
            for r, c in enumerate(cell_of)
        ]
    )
    values, chances = [], []
    n_labels = shares.shape[1]
    for outcome in product(range(n_labels), repeat=len(cell_of)):
        e = np.eye(n_labels)[list(outcome)]
        values.append((a * (e @ e.T)).sum())
        chances.append(np.prod([shares[c, label] for c, label in zip(cell_of, outcome, strict=True)]))
    return np.array(values), np.array(chances)


@pytest.mark.parametrize(
    ("sizes", "p"),
    [
        ([2, 3, 2, 2], [[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]]),
        ([4, 2, 2, 3], [[0.95, 0.05], [0.9, 0.1], [0.9, 0.1], [0.85, 0.15]]),
        ([2, 2, 2, 2], [[0.2, 0.3, 0.5]] * 4),
    ],
)
def test_cumulants_are_those_of_all_outcomes_of_additive_shares(sizes, p):
    n, shares = np.array([sizes], float), np.array(p)
    projection = interaction_projection(n.reshape(1, 2, 2))
    values, chances = enumerate_statistics(sizes, shares, projection[0])
    mean = (chances * values).sum()
    second, third = ((chances * (values - mean) ** k).sum() for k in (2, 3))
    assert chances.sum() == pytest.approx(1)
    assert mean == pytest.approx(0, abs=1e-9)
    variance, skewed = null_cumulants(n, shares[None], projection, np.ones((1, 4)), np.ones(shares.shape[1]))
    assert variance[0] == pytest.approx(second, rel=1e-6)
    assert skewed[0] == pytest.approx(third, rel=1e-6)
    larger = null_cumulants(n, shares[None], projection, np.full((1, 4), 2.0), np.ones(shares.shape[1]))
    assert larger[0] == pytest.approx(4 * variance)


def test_statistic_is_the_sum_over_different_rows():
    sizes = [3, 2, 4, 2]
    tables = np.array([[[[1, 2], [2, 0]], [[1, 3], [0, 2]]]], float)
    n = tables.sum(axis=3).reshape(1, 4)
    assert n.tolist() == [sizes]
    p = tables.reshape(1, 4, 2) / n[..., None]
    projection = interaction_projection(n.reshape(1, 2, 2))
    outcome = [0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
    e = np.eye(2)[outcome]
    cell_of = np.repeat(np.arange(4), sizes)
    expected = 0.0
    for r, c in enumerate(cell_of):
        for s, d in enumerate(cell_of):
            if r != s:
                a = projection[0, c, d] / (np.sqrt(sizes[c] * sizes[d]) if c != d else sizes[c] - 1)
                expected += a * e[r] @ e[s]
    found = additive_cumulants(n, p, projection, np.array([[4 / 11, 7 / 11]]), np.ones(2))[0]
    assert found[0] == pytest.approx(expected, rel=1e-6)
    assert found[1] > 0


def test_covariances_are_enlarged_for_the_parameters_of_the_fit():
    # Eight rows, three parameters of the additive fit: shares of 1/2 fit, so the variance is (8 / 5)^2 times theirs.
    tables = np.ones((1, 2, 2, 2))
    n = tables.sum(axis=3).reshape(1, 4)
    projection = interaction_projection(n.reshape(1, 2, 2))
    expected = null_cumulants(n, np.full((1, 4, 2), 0.5), projection, np.full((1, 4), 8 / 5), np.ones(2))
    found = additive_cumulants(n, np.full((1, 4, 2), 0.5), projection, np.full((1, 2), 0.5), np.ones(2))[0]
    assert found[1:] == pytest.approx([expected[0][0], expected[1][0]])


def test_tail_of_a_normal_and_of_a_chi_squared_variable():
    from scipy import stats

    assert tail_probability(1.96, 1.0, 0.0) == pytest.approx(stats.norm.sf(1.96))
    for nu in (1, 4, 30):  # mean nu, variance 2 nu, third cumulant 8 nu
        for q in (0.5, 3.0, 9.0):
            x = nu + q * math.sqrt(2 * nu)
            assert tail_probability(x - nu, 2 * nu, 8 * nu) == pytest.approx(stats.chi2.sf(x, nu))
    assert tail_probability(-100.0, 2.0, 8.0) == 1.0
    assert math.isnan(tail_probability(0.0, 0.0, 0.0))


def test_an_extremely_skewed_statistic_near_its_mean_is_not_significant():
    from scipy import stats

    assert tail_probability(0.001, 1.0, 1000.0) == pytest.approx(stats.chi2.sf(0.501, 0.5))
    nu = 8 / 1000**2  # far out, the tail of the skewed distribution is the larger one
    assert tail_probability(400.0, 1.0, 1000.0) == pytest.approx(stats.chi2.sf(nu + 400 * math.sqrt(2 * nu), nu))
    assert tail_probability(400.0, 1.0, 1000.0) > stats.chi2.sf(400.5, 0.5)


def test_small_cells_with_fitted_shares_near_0_have_the_noise_of_the_context():
    fit = np.array([[[1.0, 0.0], [0.99, 0.01], [0.5, 0.5], [1.0, 0.0]]])
    pooled = np.array([[0.9, 0.1]])
    n, larger = np.array([[2.0, 1000.0, 4.0, 50.0]]), np.ones((1, 4))
    found = mixed_shares(fit, pooled, n, larger, np.ones(2))[0]
    spread = 1 - (found**2).sum(axis=1)
    whole = 1 - 0.81 - 0.01
    assert found[1:3] == pytest.approx(fit[0, 1:3])  # more than half a row of the rarer label is expected
    assert found.sum(axis=1) == pytest.approx(1)
    assert spread[0] > 0.8 * whole
    assert 0 < spread[3] < whole
    twice = mixed_shares(fit, pooled, n, 2 * larger, np.ones(2))[0]
    assert 1 - (twice[0] ** 2).sum() < 0.6 * spread[0]  # the covariances are enlarged afterwards


def test_shares_are_mixed_until_the_rarer_label_has_half_a_row():
    """A cell of 4 rows with a spread of .0392 that should be .25, in a context whose spread is .5."""
    fit, pooled = np.array([[[0.02, 0.98]]]), np.array([[0.5, 0.5]])
    (found,) = mixed_shares(fit, pooled, np.array([[4.0]]), np.array([[1.0]]), np.ones(2))
    assert found[0] == pytest.approx(fit[0, 0] + (0.25 - 0.0392) / (0.5 - 0.0392) * (pooled[0] - fit[0, 0]))


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


# ---------------------------------------------------------------- an interaction that is the same in all contexts


def common_of(*parts):
    """The sums of contexts that come in some parts."""
    found = CommonSums(*np.shape(parts[0])[1:])
    for tables in parts:
        found.add(PairTables.whole(np.asarray(tables)), AdditiveFits.of(np.asarray(tables, float)))
    return found


def least_squares_left(design, y):
    return ((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum()


def test_the_common_statistic_is_the_extra_sum_of_squares_of_a_linear_model():
    tables = np.random.default_rng(2).integers(0, 5, size=(4, 2, 3, 2))
    rows, labels = as_rows(tables)
    own = np.zeros((len(rows), 4 * 5))
    both = np.zeros((len(rows), 6))
    for r, (u, v, g) in enumerate(rows):
        own[r, [5 * g + u, 5 * g + 2 + v]] = 1
        both[r, 3 * u + v] = 1
    y = np.array(labels, float)
    expected = least_squares_left(own, y) - least_squares_left(np.hstack([own, both]), y)
    found = common_of(tables)
    inverse = np.linalg.pinv(found.weight, rcond=1e-7)
    assert found.n_contexts == 4
    assert found.score[0] @ inverse @ found.score[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_common_p_value_has_the_mean_and_variance_of_a_sum_of_squares(n_labels):
    """By the eigenvalues of M^-1/2 V M^-1/2: the statistic is a sum of squared normals times these."""
    found = common_of(np.random.default_rng(n_labels).integers(3, 9, size=(4, 2, 3, n_labels)))
    values, vectors = np.linalg.eigh(found.weight)
    held = values > 1e-7 * values.max()
    root = vectors[:, held] / np.sqrt(values[held])
    eigenvalues = np.array([np.linalg.eigvalsh(root.T @ variance @ root) for variance in found.variance])
    statistic = ((found.score @ root) ** 2).sum()
    mean, variance = eigenvalues.sum(), 2 * (eigenvalues**2).sum() * (1 if n_labels == 2 else 2)
    assert found.p_value() == pytest.approx(chi2.sf(statistic * 2 * mean / variance, 2 * mean**2 / variance))


def test_the_covariance_of_the_common_score_is_that_of_all_outcomes():
    n = np.array([[[1, 2], [2, 1]], [[2, 1], [1, 3]]])
    shares = np.array([[0.2, 0.4], [0.5, 0.7]])
    cells = np.repeat(np.tile(shares.ravel(), 2), n.ravel())
    where = np.repeat(np.arange(8), n.ravel())
    scores, variances, chances = [], [], []
    for outcome in product((0, 1), repeat=len(cells)):
        ones = np.bincount(where, outcome, minlength=8).reshape(n.shape)
        found = common_of(np.stack([n - ones, ones], axis=-1))
        scores.append(found.score[0])
        variances.append(found.variance[0])
        chances.append(np.prod(np.where(outcome, cells, 1 - cells)))
    chances, scores = np.array(chances), np.array(scores)
    assert chances @ scores == pytest.approx(np.zeros(4), abs=1e-6)
    true = (chances[:, None, None] * scores[:, :, None] * scores[:, None]).sum(axis=0)
    mean = (chances[:, None, None] * np.array(variances)).sum(axis=0)
    assert mean[0, 0] == pytest.approx(true[0, 0], rel=0.05)  # exactly so where all cells have the same noise


def test_common_sums_add_over_contexts():
    tables = np.random.default_rng(3).integers(0, 6, size=(7, 3, 3, 3))
    whole, both = common_of(tables), common_of(tables[:4], tables[4:])
    for name in ("score", "weight", "variance"):
        assert getattr(both, name) == pytest.approx(getattr(whole, name))
    assert (whole.n_contexts, common_of(tables[:4]).n_contexts) == (7, 4)
    assert whole.score.shape == (3, 9)
    assert both.p_value() == pytest.approx(whole.p_value())


def in_places(counts, n_places):
    """One context with places for the values that it holds, and empty ones."""
    axes = [np.flatnonzero(counts.sum(axis=tuple({0, 1, 2} - {axis}))) for axis in range(2)]
    values = [np.append(axis, np.zeros(n - len(axis), int)) for axis, n in zip(axes, n_places, strict=True)]
    table = np.zeros((*n_places, counts.shape[2]), np.int64)
    table[: len(axes[0]), : len(axes[1])] = counts[np.ix_(*axes)]
    return PairTables(table[None], *(each[None] for each in values), np.arange(counts.shape[2])[None])


@pytest.mark.parametrize("n_labels", [2, 3, 12])
def test_places_for_the_values_of_each_context_change_nothing(n_labels):
    rng = np.random.default_rng(6)
    tables = rng.integers(0, 4, size=(8, 6, 7, n_labels)) * (rng.random((8, 6, 7, n_labels)) < 5 / n_labels)
    for k, table in enumerate(tables):
        table[rng.permutation(6)[:3]] = 0
        table[:, rng.permutation(7)[: k // 2]] = 0
        table[..., 5:11] = 0
    sums = PairSums([(6, 7)] * 2, n_labels)
    for k, table in enumerate(tables):
        sums.add(1, in_places(table, (4 + k % 2, 7)))
    none, found = sums.finished()
    whole = sums_of(tables)
    assert none.squares == 0
    assert (found.squares, found.broken, found.effect_squares) == (whole.squares, whole.broken, whole.effect_squares)
    assert found.moments == pytest.approx(whole.moments, rel=1e-9)
    assert found.p_common == pytest.approx(whole.p_common, rel=1e-9)
    assert not math.isnan(found.p_common)


def test_contexts_in_which_all_rows_have_one_label_of_many_count_like_the_others():
    """The same sums from tables that are made context by context and from whole ones; a quarter row for each label."""
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 3, size=(40, 2, 2, 12)) * (rng.random((40, 2, 2, 12)) < 0.3)
    tables[:20, ..., 1:] = 0
    tables[:20, ..., 0] += 2
    rows, labels = as_rows(tables)
    table = coded(rows, labels)
    (found,) = sum_pairs(table, [(0, 1)], [[2]])
    assert not next(pair_tables(table, Cells.by(table, [2]), 0, 1)).is_whole
    assert found.moments == pytest.approx(sums_of(tables).moments, rel=1e-9)


@pytest.mark.parametrize("n_labels", [17, 40])
def test_places_for_the_labels_of_each_context_change_nothing(monkeypatch, n_labels):
    rng = np.random.default_rng(n_labels)
    rows, labels = rng.integers(0, [3, 20, 40], size=(900, 3)), rng.integers(0, n_labels, size=900)
    rows[:, 1] = np.digitize(rows[:, 1], [9, 18])
    rows[labels < n_labels // 2, 2] %= 4  # few contexts with many labels, many with few
    labels[(rows[:, 1] == 2) | (rows[:, 2] % 5 == 4)] = 3  # small cells and whole contexts that have a single one
    table = coded(rows, labels, rng.integers(1, 4, size=900))
    pairs, contexts = [(0, 1), (0, 2)], [[2], []]
    found = sum_pairs(table, pairs, contexts)
    n_places = {tables.counts.shape[3] for tables in pair_tables(table, Cells.by(table, [2]), 0, 1)}
    assert min(n_places) == 2  # a single label, and an empty place for all others
    monkeypatch.setattr(squares, "FEW_LABELS", n_labels)
    assert {tables.counts.shape[3] for tables in pair_tables(table, Cells.by(table, [2]), 0, 1)} == {n_labels}
    for one, whole in zip(found, sum_pairs(table, pairs, contexts), strict=True):
        assert (one.squares, one.broken, one.effect_squares) == (whole.squares, whole.broken, whole.effect_squares)
        assert one.moments == pytest.approx(whole.moments, rel=1e-9)
        assert one.p_common == pytest.approx(whole.p_common, rel=1e-9, nan_ok=True)
    assert not math.isnan(found[0].p_common)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_products_of_covariances_are_those_of_matrices(n_labels):
    p = np.random.default_rng(n_labels).dirichlet(np.ones(n_labels), size=(1, 4))
    s = [np.diag(one) - np.outer(one, one) for one in p[0]]
    expected = [[np.trace(one @ other) for other in s] for one in s]
    assert label_products(p, np.ones(n_labels))[0] == pytest.approx(np.array(expected), rel=1e-12)


def test_a_small_interaction_that_is_the_same_in_many_small_contexts_is_significant():
    rng = np.random.default_rng(0)
    rates = np.array([[0.35, 0.65], [0.65, 0.35]])
    n = np.ones((150, 2, 2), np.int64)  # no cell repeats
    ones = rng.binomial(n, rates)
    found = sums_of(np.stack([n - ones, ones], axis=-1))
    assert found.effect_squares == 0
    assert found.p_value() < 1e-4
    turned = rng.binomial(n, np.where(rng.random(150)[:, None, None] < 0.5, rates, rates[::-1]))
    assert sums_of(np.stack([n - turned, turned], axis=-1)).p_value() > 0.05


def test_the_two_tests_count_as_two_and_a_single_context_has_one():
    tables = np.random.default_rng(5).integers(3, 12, size=(5, 2, 2, 2))
    found = sums_of(tables)
    p_any = tail_probability(*found.moments[Moment.TEST :])
    assert found.p_common == pytest.approx(common_of(tables).p_value())
    assert found.p_value() == pytest.approx(min(1, 2 * min(p_any, found.p_common)))
    single = sums_of(tables[:1])
    assert math.isnan(single.p_common)
    assert single.p_value() == tail_probability(*single.moments[Moment.TEST :])


def test_cells_of_few_rows_are_left_out_of_the_common_test():
    tables = np.zeros((3, 2, 3, 2))
    tables[:, :, :2] = 5
    tables[0, :, 2] = 1, 0  # two rows in all
    tables[0, 0, 0, 1] = 9
    kept = tables.copy()
    kept[:, :, 2] = 0
    assert common_of(tables).p_value() == pytest.approx(common_of(kept).p_value(), rel=0.2)
    assert math.isnan(common_of(np.ones((1, 2, 2, 2))).p_value())


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


# ---------------------------------------------------------------- do they hold their promise: a small simulation


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
    found = sum_squares(np.stack([n - ones, ones], axis=-1), 1)
    p = np.array([sums.p_value() for sums in found])
    assert (p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)
    assert (p <= 0.05).mean() > 0.02
    assert (p <= 0.005).mean() <= 0.005 + 3 * math.sqrt(0.005 / 3000)


@pytest.mark.parametrize(("rates", "n_rows"), [([[0.3, 0.3], [0.3, 0.3]], 1), ([[0.1, 0.3], [0.5, 0.7]], 3)])
def test_p_values_over_many_small_contexts_are_uniform_or_larger(rates, n_rows):
    rng = np.random.default_rng(7)
    n = np.full((40 * 1000, 2, 2), n_rows)
    ones = rng.binomial(n, rates)
    found = sum_squares(np.stack([n - ones, ones], axis=-1), 40)
    p = np.array([sums.p_value() for sums in found])
    assert (p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
    assert (p <= 0.05).mean() > 0.01


def test_intervals_cover_the_true_effect():
    rng = np.random.default_rng(9)
    rates = np.array([[0.2, 0.7], [0.6, 0.3]])
    n = rng.multinomial(200, [0.25] * 4, size=1500).reshape(-1, 2, 2)
    ones = rng.binomial(n, rates)
    found = sum_squares(np.stack([n - ones, ones], axis=-1), 1)
    truth = 2 * (0.2 - 0.7 - 0.6 + 0.3) ** 2 / 8
    ends = np.array([sums.interval(0.95) for sums in found])
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    assert 0.92 <= covered <= 0.985
    assert np.mean([sums.effect() for sums in found]) == pytest.approx(truth, abs=0.006)
