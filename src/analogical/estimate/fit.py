"""What some features leave of the label: an additive fit, and for each row the label less its prediction.

A class is fitted by a logistic regression on the values of features, and of features that act together; of several
classes each against the others. The prediction of a row is corrected for its own label: with leverage h, what is left
is (y - p) / (1 - h), as if the row had been left out of the fit (to first order).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analogical._types import Codes, Floats, Ints, Positions
from analogical.count.threads import one_blas_thread

__all__ = ["Left", "Term", "what_is_left"]

RIDGE = 0.1
"""Penalty of a squared coefficient: hardly any; it keeps the coefficients of values with a single label finite."""
FEWEST = 5.0
RAREST = 0.004
"""A value with fewer rows, or a smaller share of them, shares its coefficient with other such values."""
MOST_LEVERAGE = 0.95
STEPS, STEPS_AGAIN = 8, 3
"""Largest numbers of Newton's steps: of a new fit, and of one that begins near its end; where labels are nearly
determined, coefficients would grow on."""
MOST_HALVED = 5
"""How often a step is halved at most."""
AT_ONCE = 2**16
"""Rows of which the columns of the fit are made at once: memory."""


@dataclass(frozen=True)
class Term:
    """A part of the fit: a coefficient for each value, and one for the rank of a number."""

    codes: Codes
    """Value of each row."""
    column_of: Ints
    """The column of each value; the most frequent one has none, which is -1."""
    fine: Codes | None = None
    """Fine bin of each row of a number."""
    rank_of: Floats | None = None
    """Rank of each fine bin."""

    @classmethod
    def of(cls, codes: Codes, rows: Floats, fine: Codes | None = None, rank_of: Floats | None = None) -> "Term":
        """A term from values with so many rows."""
        is_rare = rows < max(FEWEST, RAREST * rows.sum())
        column_of = np.where(is_rare, np.count_nonzero(~is_rare), np.cumsum(~is_rare) - 1)
        sizes = np.bincount(column_of, rows)
        most = int(sizes.argmax())
        column_of = np.where(column_of == most, -1, column_of - (column_of > most))
        return cls(codes, column_of, fine, rank_of)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.column_of.max(initial=-1)) + 1 + (self.rank_of is not None)

    def fill(self, columns: Floats, rows: slice | Positions) -> None:
        """Write the columns of some rows."""
        places = self.column_of[self.codes[rows]]
        held = np.flatnonzero(places >= 0)
        columns[held, places[held]] = 1.0
        if self.rank_of is not None and self.fine is not None:
            columns[:, -1] = self.rank_of[self.fine[rows]]


@dataclass(frozen=True)
class Left:
    """What a fit leaves of the labels."""

    scores: Floats
    """Shape (rows, classes)."""
    variance: Floats
    """The variances that the fit expects, of the same shape."""
    coefficients: Floats
    """Shape (classes, columns); the first column is constant."""

    def standardized(self) -> tuple[Floats, Floats]:
        """Scores in units of their expected errors, and the variances that are expected of them.

        Tests assign scores to the rows of a context at random, but their errors differ between rows: with a feature
        tied to what is subtracted and a class of 3 %, p of the scores themselves was at most .05 in 19 % of tables
        without an effect. Errors below the average count as the average: otherwise a few rows that the fit is too sure
        of decide (of 14 effects in spambase 8 were left).
        """
        error = np.maximum(self.variance, self.variance.mean(axis=0))
        return self.scores / np.sqrt(error), self.variance / error


def what_is_left(
    terms: Sequence[Term], labels: Floats, weights: Ints | None, fitted_on: Positions, start: Floats | None = None
) -> Left:
    """What the terms leave of the labels.

    ``labels`` are 0 or 1, of shape (rows, classes). The fit is made on some rows; if there are others, one more step is
    made on all of them. ``start`` are coefficients to begin with.
    """
    design = _Design.of(terms, len(labels), fitted_on)
    sizes = np.ones(len(labels)) if weights is None else weights.astype(np.float64)
    left, expected = np.empty_like(labels), np.empty_like(labels)
    found = np.zeros((labels.shape[1], len(design.mean)))
    with one_blas_thread():
        inside = design.columns(fitted_on)
        for k in range(labels.shape[1]):
            y = labels[:, k]
            share = (sizes[fitted_on] @ y[fitted_on] + 0.5) / (sizes[fitted_on].sum() + 1)
            w = found[k]
            w[0] = np.log(share / (1 - share))
            rows_inside = inside, y[fitted_on], sizes[fitted_on]
            value, n_steps = _value(w, *rows_inside), STEPS
            if start is not None and (at_start := _value(start[k], *rows_inside)) > value:
                w[:], value, n_steps = start[k], at_start, STEPS_AGAIN
            for _ in range(n_steps):
                step, inverse = _newton(w, [rows_inside])
                for _ in range(MOST_HALVED):  # from far away a whole step may lead further away
                    if (after := _value(w + step, *rows_inside)) >= value:
                        break
                    step /= 2
                w += step
                value = after
                if np.abs(step).max() < 1e-3:
                    break
            if len(fitted_on) < len(labels):
                step, inverse = _newton(w, ((design.columns(rows), y[rows], sizes[rows]) for rows in design.blocks()))
                w += step
            for rows in design.blocks():
                columns = design.columns(rows)
                p = _share(columns, w)
                variance = np.maximum(p * (1 - p), 1e-6)
                leverage = variance * np.einsum("ij,ij->i", columns @ inverse, columns)
                left[rows, k] = (y[rows] - p) / (1 - np.minimum(leverage, MOST_LEVERAGE))
                p = np.clip(y[rows] - left[rows, k], 1e-6, 1 - 1e-6)
                expected[rows, k] = p * (1 - p)
    return Left(left, expected, found)


def _value(w: Floats, columns: Floats, y: Floats, sizes: Floats) -> float:
    """The penalized log-likelihood."""
    score = np.clip(columns @ w, -30, 30)
    return float(sizes @ (y * score - np.logaddexp(0.0, score))) - RIDGE / 2 * float(w[1:] @ w[1:])


def _newton(
    w: Floats, parts: Iterator[tuple[Floats, Floats, Floats]] | list[tuple[Floats, Floats, Floats]]
) -> tuple[Floats, Floats]:
    """One step from the coefficients w, and the inverse of the penalized information."""
    penalty = np.full(len(w), RIDGE)
    penalty[0] = 1e-6
    information, slope = np.diag(penalty), -penalty * w
    for columns, y, sizes in parts:
        p = _share(columns, w)
        weighted = columns * (sizes * np.maximum(p * (1 - p), 1e-6))[:, None]
        information += columns.T @ weighted
        slope += columns.T @ (sizes * (y - p))
    inverse = np.linalg.inv(information)
    return inverse @ slope, inverse


def _share(columns: Floats, w: Floats) -> Floats:
    """The predicted share of the class."""
    return np.asarray(1 / (1 + np.exp(-np.clip(columns @ w, -30, 30))))


@dataclass(frozen=True)
class _Design:
    """The columns of a fit: a constant, and those of all terms minus their mean."""

    terms: Sequence[Term]
    n_rows: int
    mean: Floats

    @classmethod
    def of(cls, terms: Sequence[Term], n_rows: int, fitted_on: Positions) -> "_Design":
        """With the means of some rows."""
        mean = cls(terms, n_rows, np.zeros(1 + sum(term.width for term in terms))).columns(fitted_on).mean(axis=0)
        mean[0] = 0.0
        return cls(terms, n_rows, mean)

    def columns(self, rows: slice | Positions) -> Floats:
        """The columns of some rows."""
        n_rows = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        columns, start = np.zeros((n_rows, len(self.mean))), 1
        columns[:, 0] = 1.0
        for term in self.terms:
            term.fill(columns[:, start : start + term.width], rows)
            start += term.width
        columns -= self.mean
        return columns

    def blocks(self) -> Iterator[slice]:
        """Consecutive rows."""
        return (slice(start, min(start + AT_ONCE, self.n_rows)) for start in range(0, self.n_rows, AT_ONCE))
