"""Several methods on one table, side by side: scores, shares and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._encoding import encode_table
from analogical.errors import InputError
from analogical.experiments.methods import Method, choose_methods
from analogical.experiments.protocol import normalise

__all__ = ["Comparison", "compare_methods"]

MAX_ROWS = 3_000
"""Rows that methods which compare all rows with each other are given, unless told otherwise."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of every feature by several methods, in column order.

    Attributes
    ----------
    names : tuple of str
        The features.
    methods : tuple of Method
        What they were scored by.
    scores, shares : dict of str to ndarray
        By name of the method: its score, and the score as a share of the sum (negative ones count as 0).
        NaN where the method has no evidence.
    ranks : dict of str to ndarray of int
        By name of the method: 1 for the best; equal scores share the better rank, and features without
        evidence the last.
    notes : tuple of str
        What was done to large tables.
    """

    names: tuple[str, ...]
    methods: tuple[Method, ...]
    scores: dict[str, NDArray[np.float64]]
    notes: tuple[str, ...] = ()

    @property
    def shares(self) -> dict[str, NDArray[np.float64]]:
        """Scores as shares of their sum."""
        return {name: normalise(scores) for name, scores in self.scores.items()}

    @property
    def ranks(self) -> dict[str, NDArray[np.int64]]:
        """Ranks, 1 for the best."""
        return {name: _ranks(scores) for name, scores in self.scores.items()}

    def order(self) -> NDArray[np.intp]:
        """Positions of the features by their rank in the first method, then in column order."""
        return np.argsort(self.ranks[self.methods[0].name], kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; the features in column order, None where there is no evidence."""
        shares, ranks = self.shares, self.ranks
        return {
            "methods": [{"name": m.name, "title": m.title, "about": m.about} for m in self.methods],
            "notes": list(self.notes),
            "features": [
                {
                    "name": name,
                    **{
                        method: {
                            "score": _plain(self.scores[method][i]),
                            "share": _plain(shares[method][i]),
                            "rank": int(ranks[method][i]),
                        }
                        for method in self.scores
                    },
                }
                for i, name in enumerate(self.names)
            ],
        }


def compare_methods(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    methods: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    max_rows: int = MAX_ROWS,
    random_state: int = 0,
) -> Comparison:
    """Score a table by several methods, side by side.

    Parameters
    ----------
    X, y, weights, feature_names
        As in :func:`analogical.relevance`; rows with a weight are repeated so many times.
    methods : sequence of str, optional
        Names from :data:`METHODS`; all of them if not given.
    max_rows : int
        Methods that compare all rows with each other (Relief, ReliefF) see at most so many, drawn at random.
        The result's notes say so.
    random_state : int
        Seed of that draw.

    Returns
    -------
    Comparison
        Scores, shares and ranks by method.

    Notes
    -----
    The scores of different methods have different scales and mean different things; compare their ranks, and
    how a method's shares are spread. χ² and MI look at one feature at a time and cannot see an interaction.
    The relaxed index bounds its own work on large tables, with a fixed seed (see :func:`analogical.relevance`).

    Examples
    --------
    The exclusive or of two features, which no single feature tells anything about:

    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> found = compare_methods(rows, [a ^ b for a, b, c in rows], methods=["ari", "chi2"])
    >>> found.ranks["ari"].tolist(), found.ranks["chi2"].tolist()
    ([1, 1, 3], [1, 1, 1])
    """
    if max_rows < 2:
        raise InputError(f"max_rows must be a whole number from 2, got {max_rows}.")
    chosen = choose_methods(methods)
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    codes, labels = table.codes.astype(np.int64), table.labels.astype(np.int64)
    if table.weights is not None:
        codes, labels = np.repeat(codes, table.weights, axis=0), np.repeat(labels, table.weights)
    scores, sampled = {}, []
    for method in chosen:
        rng = np.random.default_rng(random_state)
        rows = np.arange(len(codes))
        if method.is_quadratic and len(codes) > max_rows:
            rows = np.sort(rng.permutation(len(codes))[:max_rows])
            sampled.append(method.title)
        scores[method.name] = method(codes[rows], labels[rows], rng)
    note = (
        f"{' and '.join(sampled)} saw {max_rows:,} random rows of {len(codes):,} (seed {random_state});"
        " change that with max_rows"
    )
    return Comparison(table.names, chosen, scores, (note,) if sampled else ())


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """1 for the best; scores that are equal but for rounding share the better rank, NaN comes last."""
    keys = np.where(np.isnan(scores), -np.inf, np.round(scores, 12))
    return np.array([(keys > key).sum() + 1 for key in keys], dtype=np.int64)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
