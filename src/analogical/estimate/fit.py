"""What some features leave of the label: an additive fit, and for each row the label less its prediction.

A class is fitted by a logistic regression on the values of features, and of features that act together; of several
classes each against the others. A number is fitted by least squares. The prediction of a row is corrected for its own
label: with leverage h, what is left is (y - p) / (1 - h), as if the row had been left out of the fit (of a number
exactly, of a class to first order).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analogical._types import Codes, Floats, Ints, Positions
from analogical.count.threads import one_blas_thread

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


def explained_share(left: Floats, nothing: Floats, weights: Ints) -> float:
    """Share of the squares that a fit of nothing leaves, and another fit does not; each row is left out of both."""
    squares = (float(weights @ (of_row**2).sum(axis=1)) for of_row in (left, nothing))
    return round(1 - next(squares) / next(squares), 12)  # the order of rows must not matter


def further_shares(codes: Iterable[Codes], left: Floats, nothing: Floats, weights: Ints) -> list[float]:
    """The further share that each of some columns would explain: of what is left, the mean of its value is subtracted.

    The mean is that of the other rows with this value, and of one row of 0: in ``n`` rows with sum ``s`` and squares
    ``q``, what is left of ``r`` is ``((n + 1) r - s) / n``, and its squares are ``((n + 1)^2 q - (n + 2) s^2) / n^2``.
    """
    columns, total = list(zip(left.T, (left**2).T, strict=True)), float(weights @ (nothing**2).sum(axis=1))
    shares = []
    for of_row in codes:
        n, fall = np.maximum(np.bincount(of_row, weights), 1.0), 0.0
        for scores, squares in columns:
            s, q = np.bincount(of_row, weights * scores), np.bincount(of_row, weights * squares)
            fall += float(((n + 2) / n**2 * s**2 - (2 * n + 1) / n**2 * q).sum())
        shares.append(fall / total)
    return shares


def what_is_left(
    terms: Sequence[Term],
    labels: Floats,
    weights: Ints | None,
    fitted_on: Positions,
    start: Floats | None = None,
    *,
    are_classes: bool = True,
) -> Left:
    """What the terms leave of the labels.

    ``labels`` have the shape (rows, columns): 0 or 1 for each class, or numbers. The fit is made on some rows; if there
    are others, one more step is made on all of them. ``start`` are coefficients to begin with.
    """
    design = _Design.of(terms, len(labels), fitted_on)
    sizes = np.ones(len(labels)) if weights is None else weights.astype(np.float64)
    left, expected = np.empty_like(labels), np.empty_like(labels)
    found = np.zeros((labels.shape[1], len(design.mean)))
    with one_blas_thread():
        inside = design.columns(fitted_on)
        for k in range(labels.shape[1]):
            y, w = labels[:, k], found[k]
            rows_inside = [(inside, y[fitted_on], sizes[fitted_on])]

            def all_rows(y: Floats = y) -> Iterator[_Rows]:
                return ((design.columns(rows), y[rows], sizes[rows]) for rows in design.blocks())

            def some_rows(rows: list[_Rows] = rows_inside) -> Iterator[_Rows]:
                return iter(rows)

            if are_classes:
                share = (sizes[fitted_on] @ y[fitted_on] + 0.5) / (sizes[fitted_on].sum() + 1)
                w[0] = np.log(share / (1 - share))
                value, n_steps = _value(w, rows_inside), STEPS
                if start is not None and (at_start := _value(start[k], rows_inside)) > value:
                    w[:], value, n_steps = start[k], at_start, STEPS_AGAIN
                for _ in range(n_steps):
                    step, inverse = _newton(w, rows_inside)
                    value = _climb(w, step, value, some_rows)
                    if np.abs(step).max() < 1e-3:
                        break
                if len(fitted_on) < len(labels):
                    step, inverse = _newton(w, all_rows())
                    _climb(w, step, _value(w, all_rows()), all_rows)
            else:  # the first step of least squares is the last one
                step, inverse = _newton(w, all_rows(), are_classes=False)
                w += step
            for rows in design.blocks():
                columns = design.columns(rows)
                p = _share(columns, w) if are_classes else columns @ w
                variance = np.maximum(p * (1 - p), 1e-6) if are_classes else 1.0
                leverage = variance * np.einsum("ij,ij->i", columns @ inverse, columns)
                left[rows, k] = (y[rows] - p) / (1 - np.minimum(leverage, MOST_LEVERAGE))
                if are_classes:
                    p = np.clip(y[rows] - left[rows, k], 1e-6, 1 - 1e-6)
                    expected[rows, k] = p * (1 - p)
            if not are_classes:
                expected[:, k] = sizes @ left[:, k] ** 2 / sizes.sum()
    return Left(left, expected, found)


_Rows: TypeAlias = tuple[Floats, Floats, Floats]
"""The columns of some rows, their labels and their numbers."""


def _climb(w: Floats, step: Floats, value: float, rows: Callable[[], Iterable[_Rows]]) -> float:
    """Move the coefficients w by a step, halved as long as the penalized log-likelihood falls; returns that."""
    for _ in range(MOST_HALVED):  # from far away a whole step may lead further away
        if (after := _value(w + step, rows())) >= value:
            break
        step /= 2
    w += step
    return after


def _value(w: Floats, parts: Iterable[_Rows]) -> float:
    """The penalized log-likelihood."""
    value = -RIDGE / 2 * float(w[1:] @ w[1:])
    for columns, y, sizes in parts:
        score = np.clip(columns @ w, -30, 30)
        value += float(sizes @ (y * score - np.logaddexp(0.0, score)))
    return value


def _newton(w: Floats, parts: Iterable[_Rows], *, are_classes: bool = True) -> tuple[Floats, Floats]:
    """One step from the coefficients w, and the inverse of the penalized information."""
    penalty = np.full(len(w), RIDGE)
    penalty[0] = 1e-6
    information, slope = np.diag(penalty), -penalty * w
    for columns, y, sizes in parts:
        p = _share(columns, w) if are_classes else columns @ w
        weighted = columns * (sizes * (np.maximum(p * (1 - p), 1e-6) if are_classes else 1.0))[:, None]
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
