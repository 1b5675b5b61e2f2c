"""Columns that predict the label nearly alone: possible leaks of the label."""

from collections.abc import Iterable

import numpy as np

from analogical._types import CodedRows, Codes, Ints
from analogical.count.given import Cells, tables_given

__all__ = ["FEWEST_ROWS", "cut_share", "find_leaks", "predicted_by_cut"]

PREDICTED_SHARE = 0.9
"""Share of the rows outside the largest class that a column must predict to be named."""
N_FIRST = 100
"""Rows that are compared first: they rule out nearly all columns."""
FEWEST_OF_COPY = 20
FEWEST_ROWS = 50
"""In tables with fewer rows a column may be a copy of the label, or nearly predict it, by chance."""
MAX_VALUES = 64
"""Columns with more values are not tried: with few rows per value, they seem to predict anything."""
N_SAMPLE = 5_000
N_CELLS = 4_000_000
FEWEST_SAMPLED = 200
"""Rows that are tried first: ``N_SAMPLE``, or ``N_CELLS`` / columns if that is less, at least ``FEWEST_SAMPLED``:
time."""


def find_leaks(rows: CodedRows, most: float = PREDICTED_SHARE) -> dict[int, float]:
    """Columns that predict the label in nearly all rows, with the share of rows that they predict."""
    return dict(sorted((_nearly_tell(rows, most) | dict.fromkeys(_copies(rows), 1.0)).items()))


def _copies(rows: CodedRows) -> list[int]:
    """Columns that are the label with other names for its values, if there are enough rows."""
    if rows.n_rows < FEWEST_OF_COPY:
        return []
    few = slice(0, N_FIRST)
    same = rows.codes[few] == rows.codes[0]
    possible = (same == (rows.labels[few] == rows.labels[0])[:, None]).all(axis=0) & (rows.n_values == rows.n_labels)
    leaks = []
    for i in np.flatnonzero(possible).tolist():
        partner = np.empty(rows.n_labels, rows.labels.dtype)
        partner[rows.codes[:, i]] = rows.labels
        if (partner[rows.codes[:, i]] == rows.labels).all():
            leaks.append(i)
    return leaks


def _nearly_tell(rows: CodedRows, most: float) -> dict[int, float]:
    """Columns with few values that predict the label in nearly all rows."""
    if rows.n_rows < FEWEST_ROWS or not 2 <= rows.n_labels <= MAX_VALUES:
        return {}
    few = np.flatnonzero((rows.n_values > 1) & (rows.n_values <= MAX_VALUES)).tolist()
    n_sampled = max(FEWEST_SAMPLED, min(N_SAMPLE, N_CELLS // max(1, len(few))))
    step = -(-len(rows.codes) // n_sampled)
    likely = _telling(rows.take(np.arange(0, len(rows.codes), step)), few, most) if step > 1 else few
    return _telling(rows, likely, most)


def predicted_by_cut(ranks: Ints, labels: Codes, weights: Ints | None) -> float | None:
    """The share of the rows whose label a threshold of a number predicts; None unless that is nearly all.

    ``ranks`` are the ranks of the values, -1 for missing ones. With two classes one threshold may fail in a few rows,
    as after rounding; with more classes every class must be an interval of values.
    """
    if len(ranks) < FEWEST_ROWS:
        return None
    if len(ranks) > 2 * N_SAMPLE:  # a few rows rule out nearly all columns
        some = slice(None, None, len(ranks) // N_SAMPLE)
        if cut_share(ranks[some], labels[some], None if weights is None else weights[some]) is None:
            return None
    return cut_share(ranks, labels, weights)


def cut_share(ranks: Ints, labels: Codes, weights: Ints | None, most: float = PREDICTED_SHARE) -> float | None:
    """The same from all rows, however few they are."""
    n_labels = int(labels.max()) + 1
    if not 2 <= n_labels <= MAX_VALUES:
        return None
    sizes = np.bincount(labels, weights, minlength=n_labels)
    n_rows, base = float(sizes.sum()), float(sizes.max())
    is_there = ranks >= 0
    _, places = np.unique(ranks[is_there], return_inverse=True)
    keys = places * n_labels + labels[is_there]
    table = np.bincount(
        keys, None if weights is None else weights[is_there], minlength=(places.max(initial=-1) + 1) * n_labels
    )
    table = table.reshape(-1, n_labels)
    if n_labels == 2:
        up_to = np.cumsum(table, axis=0)
        above = up_to[-1:] - up_to
        predicted = max((up_to[:, 0] + above[:, 1]).max(initial=0), (up_to[:, 1] + above[:, 0]).max(initial=0))
    else:
        of_value = table.argmax(axis=1)
        is_span = ((table > 0).sum(axis=1) == 1).all() and np.count_nonzero(np.diff(of_value)) == n_labels - 1
        predicted = table.sum() if is_span else 0
    return float(predicted) / n_rows if predicted - base >= most * (n_rows - base) else None


def _telling(rows: CodedRows, columns: Iterable[int], most: float) -> dict[int, float]:
    """The columns that predict the label in nearly all rows, with the share of rows that they predict."""
    telling: dict[int, float] = {}
    sizes = rows.label_sizes()
    n_rows, base = int(sizes.sum()), int(sizes.max())
    for block, tables in tables_given(rows, Cells.of([], len(rows.codes)), columns):
        largest = tables[:, 0].max(axis=2)
        predicted = np.where(largest > 1, largest, 0).sum(axis=1)  # a value of one row predicts nothing
        is_leak = predicted - base >= most * (n_rows - base)
        telling |= {block[k]: float(predicted[k]) / max(n_rows, 1) for k in np.flatnonzero(is_leak).tolist()}
    return telling
