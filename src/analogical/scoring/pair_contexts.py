"""Which features form the contexts in which two features are compared, and why.

With all other features as contexts a square is "all else equal", exactly; that needs tables with many repeated rows. On
wider tables no four rows agree on all other features. Then only features that could mislead are held equal: those that
are told from noise, and go with other features. What has no effect on the label cannot mislead; nor can a feature that
is independent of the others, because shares that are additive where it is equal are additive in the mean, too. A
feature is told from noise

- by itself: its values and the labels depend on each other (Pearson's chi-squared test),
- with another one: the test of additive shares in the plain table of the two, or
- beyond: its status in the relaxed index is "effect", which sees what acts only together with several others,

each at a third of the level of the test, after Benjamini and Hochberg's correction. Features that only the relaxed
index tells from noise are held equal even if they are independent of all others: what they do shows nowhere else. All
are taken in the order of the relaxed index, as long as the rows can fill the cells.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Ints
from analogical.counting.groups import number_groups
from analogical.counting.squares import context_numbers, count_squares, pair_tables, repeated_cells
from analogical.scoring.interactions import SquareSums
from analogical.scoring.significance import adjust_for_features

__all__ = [
    "N_LOOKS",
    "ContextReason",
    "dependent_features",
    "features_that_fit",
    "label_tests",
    "told_from_noise",
    "try_all_others",
]

ContextReason = Literal[
    "asked", "no-others", "enough-repeats", "no-noise", "told-from-noise", "none-told", "independent", "none-fit"
]
N_LOOKS = 3
"""Ways in which a feature can be told from noise; each has its part of the level."""
ROWS_PER_CELL = 5
"""Rows that a cell of context, two values and any label must hold on average."""
PAIRS_TRIED = 15
"""Pairs of features on which it is tried whether all others can form the contexts."""
ENOUGH = 0.5
"""Share of the rows that must be part of squares."""
FEW_ROWS = 32
"""Rows without repeats up to which a table is taken as that of a rule."""
FEW_BROKEN, MANY_BROKEN = 0.25, 0.9
"""Where no row repeats, labels show no noise if some pair breaks fewer squares than this, or more: noise breaks .625 of
the squares of a fair coin."""


def try_all_others(rows: CodedRows, pairs: Sequence[tuple[int, int]], varying: Sequence[int]) -> ContextReason | None:
    """Why all other features can form the contexts; None if they cannot.

    They can if for most pairs at least half of the rows are in squares with four repeated cells, or in any squares
    where labels show no noise. Tried on up to 15 pairs.
    """
    if len(varying) <= 2:
        return "no-others"
    n_rows = rows.n_rows
    step = max(len(pairs) // PAIRS_TRIED, 1)
    in_squares, in_repeated, indices = [], [], []
    for i, j in list(pairs)[::step][:PAIRS_TRIED]:
        equal = [f for f in varying if f not in (i, j)]
        groups, n_groups = context_numbers(number_groups(rows.codes, rows.n_values, equal))
        if len(rows.codes) < 2 * n_groups:  # most rows are alone
            in_squares.append(0.0)
            in_repeated.append(0.0)
            continue
        held = repeated = squares = broken = 0
        for tables in pair_tables(rows, groups, n_groups, i, j):
            found, bad = count_squares(tables)
            sizes = tables.sum(axis=(1, 2, 3))
            held += int(sizes[found > 0].sum())
            told = repeated_cells(tables)
            repeated += int(sizes[count_squares(told.sum(axis=3, keepdims=True))[0] > 0].sum())
            squares, broken = squares + sum(found.tolist()), broken + sum(bad.tolist())
        in_squares.append(held / n_rows)
        in_repeated.append(repeated / n_rows)
        if squares:
            indices.append(broken / squares)
    if np.median(in_repeated) >= ENOUGH:
        return "enough-repeats"
    if np.median(in_squares) >= ENOUGH and _shows_no_noise(rows, indices):
        return "no-noise"
    return None


def _shows_no_noise(rows: CodedRows, indices: Sequence[float]) -> bool:
    """Whether identical rows always have the same label or, if none repeats, squares break as noise would not.

    So few rows that no test could tell noise are taken as the table of a rule.
    """
    groups, n_groups = context_numbers(number_groups(rows.codes, rows.n_values, range(rows.n_features)))
    counts = np.bincount(groups * rows.n_labels + rows.labels, rows.weights, minlength=n_groups * rows.n_labels)
    by_label = counts.reshape(n_groups, rows.n_labels)
    if (np.count_nonzero(by_label, axis=1) > 1).any():
        return False
    if by_label.sum(axis=1).max() > 1 or rows.n_rows <= FEW_ROWS:
        return True
    return min(indices) <= FEW_BROKEN or max(indices) >= MANY_BROKEN


def label_tests(rows: CodedRows, features: Sequence[int]) -> Floats:
    """P-values of Pearson's chi-squared test of each feature with the label."""
    weights = rows.weights_or_ones()
    shape = rows.labels, rows.n_labels
    return np.array([_chi_squared(rows.codes[:, i], int(rows.n_values[i]), *shape, weights) for i in features])


def dependent_features(rows: CodedRows, candidates: Sequence[int], others: Sequence[int], level: float) -> set[int]:
    """Candidates that go with another feature: chi-squared tests after Benjamini and Hochberg's correction."""
    weights = rows.weights_or_ones()
    twos = [(i, j) for i in candidates for j in others if i != j]
    columns = {i: (rows.codes[:, i], int(rows.n_values[i])) for i in {*candidates, *others}}
    p_values = np.array([_chi_squared(*columns[i], *columns[j], weights) for i, j in twos])
    return {i for (i, _), p in zip(twos, adjust_for_features(p_values), strict=True) if p <= level}


def _chi_squared(first: Codes, n_first: int, second: Codes, n_second: int, weights: Ints) -> float:
    """P-value of Pearson's chi-squared test of two columns; 1 if one of them has a single value."""
    from scipy.special import chdtrc

    keys = first.astype(np.int64) * n_second + second
    table = np.bincount(keys, weights, minlength=n_first * n_second).reshape(n_first, n_second)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    if not freedom:
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(chdtrc(freedom, ((table - expected) ** 2 / expected).sum()))


def told_from_noise(
    rows: CodedRows, features: Sequence[int], pairs: Sequence[tuple[int, int]], sums: Sequence[SquareSums], level: float
) -> set[int]:
    """Features that are told from noise in their own table or in the table of a pair."""
    alone = adjust_for_features(label_tests(rows, features))
    told = {i for i, p in zip(features, alone, strict=True) if p <= level}
    together = adjust_for_features(np.array([found.p_value() for found in sums]))
    for (i, j), p in zip(pairs, together, strict=True):
        if p <= level:
            told |= {i, j}
    return told


def features_that_fit(rows: CodedRows, candidates: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """As many candidates, in their order, as leave 5 rows to a cell of context, value of i and value of j on average.

    A candidate with too many values is passed over.
    """
    n_values = rows.n_values
    cells = float(np.median([n_values[i] * n_values[j] for i, j in pairs])) if pairs else 1.0
    room = rows.n_rows / (cells * ROWS_PER_CELL)
    chosen: list[int] = []
    for feature in candidates:
        if n_values[feature] <= room:
            chosen.append(feature)
            room /= float(n_values[feature])
    return chosen
