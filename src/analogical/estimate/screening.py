"""Sets of two or three features whose values together explain what a prediction leaves of the labels: all are screened.

For each combination of values of two features the residuals (label minus prediction) are summed, squared and divided by
their variance; the sum over all combinations is about chi-square if the pair explains nothing. The sums over all pairs
are matrix products of indicator columns, made in blocks of features, so memory does not grow with their number.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Floats, Ints, Positions
from analogical.count.threads import one_blas_thread

__all__ = ["SCREENED_ROWS", "n_screened", "screen_pairs", "screen_threes"]

SCREENED_ROWS = {2: 5_000, 3: 2_000}
"""Rows, evenly spaced, on which sets of two and of three features are screened."""
LIKELY = 4
"""Pairs, or sets of three, whose gain is computed after screening; the true pair was first or second in known tables,
and with 12 no more of the known rules were found."""
WORK_OF_PAIRS, WORK_OF_THREES = 1e12, 6e9
"""Products of two numbers that screening may take: half a minute, and half a second, of one core. That is all pairs of
12,500 features of three values in 1,500 rows, and all sets of three of 130 such features."""
CELL = 100
"""What it costs to divide and sum a cell of two values, in products: as much as so many rows."""
ENOUGH = 1.001
"""Least variance of the residuals of a cell that counts: about five rows."""
TIED = 1e-4
"""Difference of normal scores that rounding may cause."""
BLOCK = 1_000
"""Indicator columns that are multiplied at a time: memory."""

Indicators: TypeAlias = NDArray[np.float32]
"""Shape (rows, values - 1, features): 1 where a row has the value; the last value follows from the others."""


def n_screened(n_values: Ints, n_rows: int, n_classes: int, size: int) -> int:
    """How many features, the first ones, are screened in sets of two or three; ``n_values`` are in their order.

    ``n_classes`` is the number of columns of residuals.
    """
    products = (min(n_rows, SCREENED_ROWS[size]) + CELL) * n_classes * np.cumsum(n_values - 1.0) ** 2
    if size == 3:
        products *= np.arange(len(n_values)) / 3
    return int(np.searchsorted(products, WORK_OF_PAIRS if size == 2 else WORK_OF_THREES, side="right"))


def screen_pairs(codes: Codes, n_values: Ints, residuals: Floats, variances: Floats) -> list[tuple[int, ...]]:
    """The pairs of features that explain most of some residuals, best first; of equal ones, those of earlier columns.

    ``codes`` has shape (rows, features); ``residuals`` and their ``variances`` have shape (rows, classes), with the
    weight of the row. One class may be left out: its residuals follow from the others.
    """
    blocks, best = _blocks(n_values), _Best()
    with one_blas_thread():
        for place, first in enumerate(blocks):
            left = _indicators(codes, n_values, first)
            for second in blocks[place:]:
                right = left if second is first else _indicators(codes, n_values, second)
                z = _z_scores(*_chi_square(left, right, residuals, variances))
                best.add(_above_diagonal(z) if second is first else z, first, second)
    return best.sets()


def screen_threes(codes: Codes, n_values: Ints, residuals: Floats, variances: Floats) -> list[tuple[int, ...]]:
    """The same for three features: pairs within the rows of each value of a third one.

    Sets with more combinations of values than rows are left out.
    """
    blocks, best = _blocks(n_values), _Best()
    held = [_indicators(codes, n_values, block) for block in blocks]
    with one_blas_thread():
        for place, block in enumerate(blocks):
            for k, third in enumerate(block.tolist()):
                parts = [np.flatnonzero(codes[:, third] == value) for value in np.unique(codes[:, third])]
                later = [(block[k + 1 :], held[place][:, :, k + 1 :])] if k + 1 < len(block) else []
                later += zip(blocks[place + 1 :], held[place + 1 :], strict=True)
                for i, (first, left) in enumerate(later):
                    for j, (second, right) in enumerate(later[i:]):
                        sums = [_chi_square(left[p], right[p], residuals[p], variances[p]) for p in parts]
                        z = _z_scores(*np.sum(sums, axis=0))
                        n_cells = n_values[third] * n_values[first][:, None] * n_values[second]
                        z[n_cells > len(codes)] = -math.inf
                        best.add(z if j else _above_diagonal(z), first, second, third)
    return best.sets()


def _blocks(n_values: Ints) -> list[Positions]:
    """Features of similar numbers of values, together of about ``BLOCK`` indicator columns."""
    blocks: list[list[int]] = []
    for feature in np.argsort(n_values, kind="stable").tolist():
        n = int(n_values[feature])  # the most of the block: the others have columns of 0
        if not blocks or n > 2 * n_values[blocks[-1][0]] or len(blocks[-1]) * (n - 1) >= BLOCK:
            blocks.append([])
        blocks[-1].append(feature)
    return [np.array(block) for block in blocks]


def _indicators(codes: Codes, n_values: Ints, features: Positions) -> Indicators:
    """The indicators of some features."""
    values = np.arange(max(int(n_values[features].max()) - 1, 1))
    held: Indicators = (codes[:, None, features] == values[:, None]).astype(np.float32)
    return held


def _chi_square(left: Indicators, right: Indicators, residuals: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Statistic and degrees of freedom of each feature on the left with each on the right."""
    statistic, freedom = np.zeros((2, left.shape[2], right.shape[2]))
    for residual, variance in zip(residuals.T, variances.T, strict=True):
        summed, spread = _cells(left, right, residual), _cells(left, right, variance)
        is_enough = spread > ENOUGH
        summed *= summed
        statistic += np.divide(summed, spread, out=np.zeros_like(summed), where=is_enough).sum(axis=(0, 2))
        freedom += np.count_nonzero(is_enough, axis=(0, 2))
    return statistic, freedom


def _cells(left: Indicators, right: Indicators, weights: Floats) -> NDArray[np.float32]:
    """Sums of weights by value of two features: shape (values, features on the left, values, features on the right).

    Textbook: a product of the indicators of all values. That of the last value is what the others leave.
    """
    (_, a, n), (_, b, m) = left.shape, right.shape
    weights = weights.astype(np.float32)
    weighted = (left * weights[:, None, None]).reshape(len(weights), -1)
    cells = np.empty((a + 1, n, b + 1, m), np.float32)
    cells[:-1, :, :-1] = (weighted.T @ right.reshape(len(weights), -1)).reshape(a, n, b, m)
    cells[:-1, :, -1] = weighted.sum(axis=0).reshape(a, n, 1) - cells[:-1, :, :-1].sum(axis=2)
    of_right = (weights @ right.reshape(len(weights), -1)).reshape(b, m)
    of_right = np.concatenate([of_right, weights.sum() - of_right.sum(axis=0, keepdims=True)])
    cells[-1] = of_right - cells[:-1].sum(axis=0)
    return cells


def _z_scores(statistic: Floats, freedom: Floats) -> Floats:
    """How far chi-square lies above its mean, as a normal score; minus infinity without degrees of freedom."""
    # Wilson and Hilferty: the cube root of chi-square divided by its degrees of freedom is nearly normal
    f = np.maximum(freedom, 1.0)
    z = (np.cbrt(statistic / f) - (1 - 2 / (9 * f))) / np.sqrt(2 / (9 * f))
    return np.where(freedom > 0, z, -math.inf)


def _above_diagonal(z: Floats) -> Floats:
    """Each pair once."""
    return np.where(np.tri(*z.shape, dtype=np.bool_), -math.inf, z)


class _Best:
    """The sets of features with the smallest p-values so far."""

    def __init__(self) -> None:
        self.found: list[tuple[float, tuple[int, ...]]] = []

    def add(self, z: Floats, first: Positions, second: Positions, *third: int) -> None:
        """Add the pairs of a block by their z-scores."""
        least = self.found[-1][0] if len(self.found) == LIKELY else -math.inf
        if z.size > LIKELY:
            least = max(least, float(np.partition(z, -LIKELY, axis=None)[-LIKELY]))
        places = np.argwhere((z >= least - TIED) & (z > -math.inf))
        for i, j in places.tolist():
            self.found.append((round(float(z[i, j]), 4), tuple(sorted((int(first[i]), int(second[j]), *third)))))
        self.found = sorted(self.found, key=lambda one: (-one[0], one[1]))[:LIKELY]

    def sets(self) -> list[tuple[int, ...]]:
        """The sets, best first."""
        return [features for _, features in self.found]
