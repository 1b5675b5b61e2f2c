"""How sure a score is: standard errors, intervals, the noise floor and a test against it. Arrays only.

Rows are the independent units, not pairs: one row sits in many pairs. For a feature with P pairs, C of
them changed, and theta = C / P, let row r sit in d_r pairs, c_r of them changed. Without row r the index
is (C - c_r) / (P - d_r): the jackknife over rows in closed form. A pair hangs on two rows, so the
jackknife counts the spread of the single pairs, theta (1 - theta) / P, twice; it is taken out once
(Efron and Stein 1981; the same correction makes a variance robust to dyads, Aronow et al. 2015).

All sizes come from groups of rows: d_r = rows with r's context - rows equal to r, and the same within
r's label for the pairs that keep the label. The groups of equal rows serve all features.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._progress import progress_line

__all__ = [
    "Cells",
    "Grouped",
    "Uncertainty",
    "bootstrap_rows",
    "collapse_cells",
    "corrected_variance",
    "group_by_context",
    "jackknife_variance",
    "noise_interval",
    "pair_interval",
    "pearson_tail",
    "permutation_p_value",
    "sort_rows",
    "uncertainty",
]

Codes = NDArray[np.unsignedinteger[Any]]
Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT_IN_FLOATS = 5_000
"""Up to this many rows in a context its three moments are summed in floats, above in whole numbers."""
ROUNDING = 1e-7
"""A variance below this is the rounding error of a sum of floats."""


@dataclass(frozen=True)
class Uncertainty:
    """How sure each index is, in column order; NaN where there are no pairs."""

    std_error: Floats
    ci_low: Floats
    ci_high: Floats
    p_value: Floats
    """Chance of as many changed pairs if each context dealt its labels to its rows at random."""
    noise_low: float
    """Interval of the flip rate among identical rows; NaN if no row repeats."""
    noise_high: float


def uncertainty(
    codes: Codes,
    labels: Codes,
    n_values: Ints,
    weights: Ints | None,
    confidence: float,
    *,
    pairs: Ints | None = None,
    test: bool = True,
) -> Uncertainty:
    """Standard error, interval and p-value of every feature, for about one sort of the rows each.

    ``pairs`` says how many pairs each feature has, if that is known: those without any cost nothing. With
    ``test=False`` the p-values are NaN: for rows that are no independent draws.
    """
    cells = collapse_cells(codes, labels, n_values, weights)
    n_features = codes.shape[1]
    std_error, low, high, p_value = (np.full(n_features, np.nan) for _ in range(4))
    for i in range(n_features) if pairs is None else np.flatnonzero(pairs).tolist():
        grouped = group_by_context(cells, i)
        row_weights = cells.weights[grouped.order]
        n_pairs, n_changed = _total(grouped.pairs, row_weights), _total(grouped.changed, row_weights)
        if n_pairs == 0:
            continue
        std_error[i], low[i], high[i] = pair_interval(
            n_pairs, n_changed, grouped.pairs, grouped.changed, row_weights, confidence
        )
        if test:
            p_value[i] = permutation_p_value(cells, grouped)
    return Uncertainty(std_error, low, high, p_value, *noise_interval(cells, confidence))


def noise_interval(cells: "Cells", confidence: float) -> tuple[float, float]:
    """Interval of the flip rate among identical rows: pairs that have no feature to differ on."""
    pairs, changed = cells.row_sizes - 1, cells.row_sizes - cells.weights
    n_pairs, n_changed = _total(pairs, cells.weights), _total(changed, cells.weights)
    if n_pairs == 0:
        return math.nan, math.nan
    _, low, high = pair_interval(n_pairs, n_changed, pairs, changed, cells.weights, confidence)
    return min(low, n_changed / n_pairs), max(high, n_changed / n_pairs)


def _total(per_row: Ints, weights: Ints) -> int:
    """Pairs, from how many each row sits in; every pair has two rows."""
    return int((per_row * weights).sum()) // 2


# ---------------------------------------------------------------- groups of rows


@dataclass(frozen=True)
class Cells:
    """Distinct (row, label), ordered by row and then by label, with what all features share."""

    codes: Codes
    labels: Codes
    n_values: Ints
    weights: Ints
    """Rows that each cell stands for."""
    positions: Ints
    """Where each cell first occurs in the table."""
    row_sizes: Ints
    """Rows equal to this one, whatever their label, itself included."""
    is_first: NDArray[np.bool_]
    """Whether this cell is the first one of its row."""
    keys: Keys
    """A number for each row, by which :func:`sort_rows` sorts."""


@dataclass(frozen=True)
class Grouped:
    """The cells of a table brought together by their context for one feature, and then by label."""

    order: NDArray[np.intp]
    """The cells in that order; per-cell arrays below follow it."""
    starts: NDArray[np.intp]
    """Where a new context begins."""
    label_starts: NDArray[np.intp]
    """Where a new label begins within a context."""
    sizes: Ints
    """Rows in each context."""
    label_sizes: Ints
    """Rows in each (context, label)."""
    pairs: Ints
    """Per cell: pairs that each of its rows sits in."""
    changed: Ints
    """Per cell: those of them whose labels differ."""


def collapse_cells(codes: Codes, labels: Codes, n_values: Ints, weights: Ints | None) -> Cells:
    """Bring equal rows with equal labels together, once for all features."""
    keys = row_keys(codes, n_values)
    order, new_row = sort_rows(codes, labels, n_values, keys=keys)
    starts = np.flatnonzero(new_row | _differs_from_last(labels[order]))
    counts = np.ones(len(codes), dtype=np.int64) if weights is None else weights
    cell_weights = np.add.reduceat(counts[order], starts)
    positions = np.minimum.reduceat(order, starts)
    is_first = new_row[starts]
    row_sizes = np.add.reduceat(cell_weights, np.flatnonzero(is_first))
    return Cells(
        codes=codes[positions],
        labels=labels[positions],
        n_values=n_values,
        weights=cell_weights,
        positions=positions.astype(np.int64),
        row_sizes=row_sizes[np.cumsum(is_first) - 1],
        is_first=is_first,
        keys=keys[positions],
    )


def group_by_context(cells: Cells, feature: int) -> Grouped:
    """The cells by context of a feature and label, from one sort."""
    order, new_context = sort_rows(cells.codes, cells.labels, cells.n_values, feature, cells.keys)
    starts = np.flatnonzero(new_context)
    label_starts = np.flatnonzero(new_context | _differs_from_last(cells.labels[order]))
    weights = cells.weights[order]
    sizes = np.add.reduceat(weights, starts)
    label_sizes = np.add.reduceat(weights, label_starts)
    pairs = _spread(sizes, starts, len(order)) - cells.row_sizes[order]
    unchanged = _spread(label_sizes, label_starts, len(order)) - weights
    return Grouped(order, starts, label_starts, sizes, label_sizes, pairs, pairs - unchanged)


def sort_rows(
    codes: Codes, labels: Codes, n_values: Ints, left_out: int | None = None, keys: Keys | None = None
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Rows in an order that brings equal ones together, then equal labels; and where a new row begins.

    Rows are equal if they agree on all features but ``left_out``; ``keys`` saves making :func:`row_keys`
    again. Rows that a sum of random numbers throws together are compared value by value, and the sums are
    drawn again if some of them differ.
    """
    n_classes = int(labels.max()) + 1
    for seed in count():
        key = row_keys(codes, n_values, seed) if keys is None or seed > 0 else keys
        if left_out is not None:
            key = key - _key_part(codes, n_values, left_out, seed)
        if math.prod(n_values.tolist()) * n_classes <= 2**64:
            order = np.argsort(key * np.uint64(n_classes) + labels, kind="stable")
        else:
            order = np.lexsort((labels, key))
        new = _differs_from_last(key[order])
        if _fits(n_values):
            break
        together = np.flatnonzero(~new)
        differs = codes[order[together]] != codes[order[together - 1]]
        if left_out is not None:
            differs[:, left_out] = False
        if not differs.any():
            break
    return order, new


def row_keys(codes: Codes, n_values: Ints, seed: int = 0) -> Keys:
    """A number per row: its values as digits where they fit in 64 bits, otherwise a sum of random numbers."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    for i in range(codes.shape[1]):
        keys += _key_part(codes, n_values, i, seed)
    return keys


def _fits(n_values: Ints) -> bool:
    return bool(math.prod(n_values.tolist()) <= 2**64)


def _key_part(codes: Codes, n_values: Ints, feature: int, seed: int) -> Keys:
    """What one feature adds to the numbers of the rows."""
    if _fits(n_values):
        place = math.prod(n_values[:feature].tolist())
        part: Keys = codes[:, feature] * np.uint64(place % 2**64)  # only constants can follow a place of 2^64
        return part
    return _random_numbers(seed, feature, int(n_values[feature]))[codes[:, feature]]


def _random_numbers(seed: int, feature: int, n_values: int) -> Keys:
    """A 64-bit number per value of a feature, the same ones for the same seed."""
    return np.random.default_rng((seed, feature)).integers(0, 2**64, size=n_values, dtype=np.uint64)


def _differs_from_last(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a value differs from the one before it; the first one does."""
    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def _spread(per_group: NDArray[Any], starts: NDArray[np.intp], n: int) -> NDArray[Any]:
    """The value of its group for each of n members."""
    return np.repeat(per_group, np.diff(starts, append=n))


# ---------------------------------------------------------------- intervals


def jackknife_variance(n_pairs: int, total: float, pairs: Ints, parts: NDArray[Any], weights: Ints) -> float:
    """Variance of total / n_pairs by leaving out one row at a time.

    ``pairs`` and ``parts`` say per row how many pairs and how much of ``total`` go with it; a row of
    weight w is w rows. A row that sits in every pair takes all of them away: without it there is no
    ratio, and since its pull on the ratio, parts - ratio * pairs, is 0, it counts as changing nothing.
    """
    ratio = total / n_pairs
    left = n_pairs - pairs
    moves = np.where(left > 0, (ratio * pairs - parts) / np.maximum(left, 1), 0.0)
    n_rows = int(weights.sum())
    mean = float((weights * moves).sum()) / n_rows
    return (n_rows - 1) / n_rows * (float((weights * moves**2).sum()) - n_rows * mean**2)


def corrected_variance(jackknife: float, pair_variance: float) -> float:
    """The jackknife variance less the spread of single pairs, which it counts twice.

    The truth lies between half of the jackknife variance and all of it, whatever the pairs share.
    """
    return min(max(jackknife - pair_variance, jackknife / 2), jackknife)


def pair_interval(
    n_pairs: int, n_changed: int, pairs: Ints, changed: Ints, weights: Ints, confidence: float
) -> tuple[float, float, float]:
    """Standard error of the share of changed pairs, and its interval.

    Wilson's interval for a share, on as many pairs as independent ones would have this variance. Where
    no pair or every pair changed the variance is 0 and says nothing; half of the rows that sit in pairs
    then stand for independent pairs.
    """
    share = n_changed / n_pairs
    spread = share * (1 - share)
    variance = corrected_variance(jackknife_variance(n_pairs, n_changed, pairs, changed, weights), spread / n_pairs)
    in_pairs = int(weights[pairs > 0].sum())
    n_effective = spread / variance if variance > 0 else in_pairs / 2
    low, high = wilson(share, min(n_effective, n_pairs), confidence)
    return math.sqrt(variance), low, high


def wilson(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))


# ---------------------------------------------------------------- more than noise?


def permutation_p_value(cells: Cells, grouped: Grouped) -> float:
    """Chance that noise alone sets the values of a feature as far apart; NaN if that cannot be told.

    Within a context, rows with the same value are identical: how often their labels differ is the noise
    at those very rows. The statistic is the mean number of other rows of its value that share a row's
    label, added up over all rows: the more the labels go with the values, the larger (the between-group part of
    Light and Margolin's analysis of variance for categories). If the feature does nothing, the rows of a
    context could have come by their labels in any order; over all orders the statistic has a known mean,
    variance and skewness, and these fix a gamma distribution (Pearson's type III, as in the tests
    of Mielke and Berry). Nothing is assumed on the noise, which may differ from context to context, nor on
    the number of pairs that a row sits in. A context tells something only if it holds two values, two labels
    and a repeated row. Without any such context the feature cannot be told from noise.
    """
    n_contexts, n_cells = len(grouped.starts), len(grouped.order)
    context_of_cell = _spread(np.arange(n_contexts), grouped.starts, n_cells)
    is_first = cells.is_first[grouped.order]
    values = _Parts(cells.row_sizes[grouped.order][is_first], context_of_cell[is_first])
    labels = _Parts(grouped.label_sizes, context_of_cell[grouped.label_starts])
    n_values, n_labels = (np.bincount(parts.context, minlength=n_contexts) for parts in (values, labels))
    n_rows = grouped.sizes
    tells = (n_values > 1) & (n_values < n_rows) & (n_labels > 1) & (n_labels < n_rows)
    weights, row_sizes = (
        numbers[grouped.order][tells[context_of_cell]] for numbers in (cells.weights, cells.row_sizes)
    )
    z = float((weights * (weights - 1) / (2 * row_sizes)).sum())
    variance = third = 0.0
    large = n_rows > EXACT_IN_FLOATS
    for some, kind in ((tells & ~large, np.float64), (tells & large, np.object_)):
        if some.any():
            moments = _coincidence_moments(
                n_rows[some].astype(kind), values.shapes(some, kind, shared=True), labels.shapes(some, kind)
            )
            z, variance, third = z - moments[0], variance + moments[1], third + moments[2]
    if variance <= ROUNDING:
        return math.nan
    return pearson_tail(z / math.sqrt(variance), third / variance**1.5)


def pearson_tail(z: float, skewness: float) -> float:
    """Chance of at least z under the distribution of type III with mean 0, variance 1 and this skewness."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < 1e-4:
        return float(ndtr(-z))
    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))
    return float(gammainc(shape, max(shape - z * math.sqrt(shape), 0.0)))


@dataclass(frozen=True)
class _Parts:
    """Rows of contexts divided into parts: how large each part is, and of which context it is one."""

    sizes: Ints
    context: NDArray[np.intp]

    def shapes(self, some: NDArray[np.bool_], kind: Any, *, shared: bool = False) -> "_Shapes":
        """The shapes found in the parts of some contexts.

        With ``shared``, a pair of rows counts one over the size of its part, instead of one.
        """
        mine = some[self.context]
        starts = np.flatnonzero(_differs_from_last(self.context[mine]))
        n1 = self.sizes[mine].astype(kind)
        n2 = n1 * (n1 - 1)
        n3 = n2 * (n1 - 2)
        n4 = n3 * (n1 - 3)
        n5 = n4 * (n1 - 4)
        w = _ratio(n1**0, n1 if shared else n1**0)

        def total(terms: NDArray[Any]) -> NDArray[Any]:
            sums: NDArray[Any] = np.add.reduceat(terms, starts)
            return sums

        x = n2 * w
        two, two2, x2 = total(x), total(x * w), total(x**2)
        path2, four2 = total(n3 * w**2), total(n4 * w**2)
        four3 = total(n4 * w**3)
        return _Shapes(
            pair=two,
            pair_twice=two2,
            pair_thrice=total(x * w**2),
            path=path2,
            path_thrice=total(n3 * w**3),
            star=four3,
            apart=two**2 - x2 + four2,
            apart_thrice=two2 * two - total(x**2 * w) + four3,
            path_and_pair=path2 * two - total(n3 * w**2 * x) + total(n5 * w**3),
            all_apart=two**3
            - 3 * two * x2
            + 2 * total(x**3)
            + 3 * (four2 * two - total(n4 * w**2 * x))
            + total(n5 * (n1 - 5) * w**3),
        )


@dataclass(frozen=True)
class _Shapes:
    """Ways to place up to three pairs of rows, in order, so that both rows of each lie in one part.

    A placement counts with the product of the weights of its pairs; the names say how the pairs meet.
    """

    pair: NDArray[Any]
    pair_twice: NDArray[Any]
    pair_thrice: NDArray[Any]
    path: NDArray[Any]
    """Two pairs with a row in common."""
    path_thrice: NDArray[Any]
    """Three pairs on three rows: a triangle, or a path with one of its pairs twice."""
    star: NDArray[Any]
    """Three pairs that hold together four rows: a star or a path."""
    apart: NDArray[Any]
    apart_thrice: NDArray[Any]
    """Two pairs apart, the first of them twice."""
    path_and_pair: NDArray[Any]
    all_apart: NDArray[Any]


def _coincidence_moments(n: NDArray[Any], values: _Shapes, labels: _Shapes) -> tuple[float, float, float]:
    """Mean, variance and third central moment of the coincidences of all contexts of n rows together.

    A coincidence is a pair of rows with the same value and the same label, when labels are dealt at random. The
    powers of their number are sums over two or three pairs of rows; the chance of each way in which
    these meet is one for the values times one for the labels.
    """
    n2 = n * (n - 1)
    n3 = n2 * (n - 2)
    n4 = n3 * (n - 3)
    n5 = n4 * (n - 4)
    mean = _ratio(values.pair * labels.pair, 2 * n2)
    square = (
        _ratio(values.pair_twice * labels.pair_twice, 2 * n2)
        + _ratio(values.path * labels.path, n3)
        + _ratio(values.apart * labels.apart, 4 * n4)
    )
    cube = (
        _ratio(values.pair_thrice * labels.pair_thrice, 2 * n2)
        + 4 * _ratio(values.path_thrice * labels.path_thrice, n3)
        + 3 * _ratio(values.apart_thrice * labels.apart_thrice, 4 * n4)
        + 4 * _ratio(values.star * labels.star, n4)
        + 3 * _ratio(values.path_and_pair * labels.path_and_pair, 2 * n5)
        + _ratio(values.all_apart * labels.all_apart, 8 * n5 * (n - 5))
    )
    return (
        float(mean.sum()),
        float((square - mean**2).sum()),
        float((cube - 3 * square * mean + 2 * mean**3).sum()),
    )


def _ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[Any]:
    """The quotient, exact for whole numbers without limit; 0 where there are too few rows for the shape."""
    if numerator.dtype == np.object_:
        from fractions import Fraction

        pairs = zip(numerator.tolist(), denominator.tolist(), strict=True)
        return np.array([Fraction(a) / b if b else Fraction(0) for a, b in pairs], dtype=np.object_)
    quotient: NDArray[Any] = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return quotient


# ---------------------------------------------------------------- resampling, for scores without a closed form


def bootstrap_rows(
    score: Callable[[Ints], Floats],
    weights: Ints | int,
    n_resamples: int,
    confidence: float,
    seed: int | None = None,
    progress: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Standard errors and percentile intervals of scores, by drawing the rows again with repetition.

    ``score`` takes how often each row was drawn (0 for not at all) and gives a score per feature, NaN where
    there is none; ``weights`` says how many rows each row stands for, or how many rows of weight 1 there are. A feature
    without a score in more than half of the resamples gets none.
    """
    rng = np.random.default_rng(seed)
    counts = np.ones(weights, dtype=np.int64) if isinstance(weights, int) else weights
    n_rows = int(counts.sum())
    show = progress_line("resampling rows")
    scores = []
    for done in range(1, n_resamples + 1):
        scores.append(score(rng.multinomial(n_rows, counts / n_rows).astype(np.int64)))
        if progress:
            show(done, n_resamples)
    drawn = np.array(scores)
    enough = np.isfinite(drawn).sum(axis=0) > n_resamples / 2
    std_error, low, high = (np.full(drawn.shape[1], np.nan) for _ in range(3))
    known = drawn[:, enough]
    std_error[enough] = np.nanstd(known, axis=0, ddof=1)
    low[enough], high[enough] = np.nanquantile(known, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return std_error, low, high
