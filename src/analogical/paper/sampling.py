"""Universes of rows and uniform samples from them, also from universes too large to enumerate."""

import numpy as np
from numpy.typing import NDArray

from analogical.errors import InputError
from analogical.paper.functions import function_named

__all__ = ["rows_at", "sample", "sample_rows", "universe"]

MAX_UNIVERSE = 2**26
"""Most rows of a universe that is enumerated."""

Rows = NDArray[np.uint8]


def universe(n_features: int, n_values: int) -> Rows:
    """All rows with n_values values per feature, in lexicographic order.

    Examples
    --------
    >>> universe(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    _check_shape(n_features, n_values)
    size = n_values**n_features
    if size > MAX_UNIVERSE:
        raise InputError(
            f"The universe of {n_features} features with {n_values} values has {size:,} rows;"
            f" only up to {MAX_UNIVERSE:,} are enumerated. Draw a sample of it instead."
        )
    return rows_at(np.arange(size), n_features, n_values)


def sample_rows(n_features: int, n_values: int, n_rows: int, rng: np.random.Generator) -> Rows:
    """Distinct rows drawn uniformly from the universe, in random order.

    The universe is not enumerated: values are drawn, and repeated rows are drawn again. If the sample is a large part
    of the universe, positions are drawn without replacement.

    Examples
    --------
    >>> sample_rows(40, 3, 5, np.random.default_rng(0)).shape
    (5, 40)
    """
    _check_shape(n_features, n_values)
    size = n_values**n_features
    if not 1 <= n_rows <= size:
        raise InputError(
            f"rows must be a whole number from 1 to {size:,} (all rows of {n_features} features with"
            f" {n_values} values), got {n_rows:,}."
        )
    if size <= 8 * n_rows:
        return rows_at(rng.permutation(size)[:n_rows], n_features, n_values)
    rows = np.empty((0, n_features), dtype=np.uint8)
    while len(rows) < n_rows:
        drawn = rng.integers(n_values, size=(n_rows - len(rows), n_features), dtype=np.uint8)
        rows = np.concatenate([rows, drawn])
        firsts = np.unique(rows, axis=0, return_index=True)[1]
        rows = rows[np.sort(firsts)]
    return rows


def sample(
    function: str, n_features: int, n_values: int = 2, n_rows: int | None = None, seed: int | None = None
) -> tuple[Rows, NDArray[np.uint8]]:
    """Rows and labels of one of the functions g1..g8.

    Parameters
    ----------
    function : str
        ``"g1"`` to ``"g8"``.
    n_features, n_values : int
        Shape of the universe.
    n_rows : int, optional
        Size of a uniform sample without replacement; the whole universe if not given.
    seed : int, optional
        Seed of the sample.

    Examples
    --------
    >>> X, y = sample("g2", n_features=3)
    >>> y.tolist()
    [0, 0, 1, 1, 1, 1, 0, 0]
    """
    label = function_named(function)
    if n_rows is None:
        rows = universe(n_features, n_values)
    else:
        rows = sample_rows(n_features, n_values, n_rows, np.random.default_rng(seed))
    return rows, label(rows)


def rows_at(positions: NDArray[np.int64], n_features: int, n_values: int) -> Rows:
    """Rows of the universe at these positions in lexicographic order."""
    rows = np.empty((len(positions), n_features), dtype=np.uint8)
    for i in reversed(range(n_features)):
        positions, rows[:, i] = np.divmod(positions, n_values)
    return rows


def _check_shape(n_features: int, n_values: int) -> None:
    if n_features < 1:
        raise InputError(f"features must be a whole number from 1, got {n_features}.")
    if not 2 <= n_values <= 256:
        raise InputError(f"values must be a whole number from 2 to 256, got {n_values}.")
