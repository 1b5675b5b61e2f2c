"""Does a label go with a value in the same direction everywhere? The Cochran-Mantel-Haenszel test within contexts.

In a context of n rows with n_v rows of value v and L_l rows of label l, the rows of v that have l are expected to be
n_v L_l / n if the rows had received their labels in any order, with a covariance that is known as well. Observed less
expected adds up over contexts, and so does the covariance; their quadratic form is the generalised
Cochran-Mantel-Haenszel statistic (general association; Landis, Heyman and Koch 1978). It sees a change that has the
same direction in many contexts, needs no repeated rows, and is blind to changes that cancel.
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import Bools, Floats, Ints
from analogical.counting.contexts import Contexts

__all__ = [
    "DirectionSums",
    "hold_two",
    "informative_tables",
    "margins",
    "merge_rare",
    "moments_of_tables",
    "quadratic_forms",
]

MAX_KINDS = 8
"""Values, or labels, that are told apart; the rarest of more are taken together, which no label can influence."""


@dataclass(frozen=True)
class DirectionSums:
    """Observed less expected rows by value and label, and their covariance; without the last value and label."""

    deviation: Floats
    """Shape (k,)."""
    covariance: Floats
    """Shape (k, k)."""

    @classmethod
    def of_tables(cls, tables: Floats, times: Floats) -> "DirectionSums":
        """From tables of counts (contexts, values, labels), and how often each occurs."""
        n_values, n_labels = tables.shape[1] - 1, tables.shape[2] - 1
        deviation, of_values, of_labels = _margins(tables)
        # The sum over contexts of (values x values) times (labels x labels), as one matrix product.
        flat_values = (times[:, None, None] * of_values).reshape(len(tables), n_values**2)
        summed = flat_values.T @ of_labels.reshape(len(tables), n_labels**2)
        covariance = summed.reshape(n_values, n_values, n_labels, n_labels).transpose(0, 2, 1, 3)
        size = n_values * n_labels
        return cls(times @ deviation, covariance.reshape(size, size))

    def __add__(self, other: "DirectionSums") -> "DirectionSums":
        return DirectionSums(self.deviation + other.deviation, self.covariance + other.covariance)

    def p_value(self) -> float:
        """Probability of a statistic at least this large if the feature had no effect; NaN if no context tells."""
        from scipy.special import chdtrc

        (statistic,), (freedom,) = quadratic_forms(self.deviation[None], self.covariance[None])
        return float(chdtrc(freedom, statistic)) if freedom else math.nan


def merge_rare(sizes: Ints, limit: int = MAX_KINDS) -> Ints:
    """For each value its kind: the most frequent ones keep their own, the others share the last one."""
    if len(sizes) <= limit:
        return np.arange(len(sizes))
    kinds = np.full(len(sizes), limit - 1)
    kinds[np.argsort(-sizes, kind="stable")[: limit - 1]] = np.arange(limit - 1)
    return kinds


def informative_tables(contexts: Contexts, value_kinds: Ints, label_kinds: Ints) -> tuple[Floats, Floats]:
    """Tables of counts (contexts, kinds of values, kinds of labels) with two of each, and how often each occurs."""
    n_values, n_labels = int(value_kinds.max()) + 1, int(label_kinds.max()) + 1
    place = (contexts.owner * n_values + value_kinds[contexts.values]) * n_labels + label_kinds[contexts.labels]
    flat = np.bincount(place, contexts.sizes, minlength=len(contexts) * n_values * n_labels)
    tables = flat.astype(np.float64).reshape(len(contexts), n_values, n_labels)
    tells = hold_two(tables)
    return tables[tells], contexts.times[tells].astype(np.float64)


def hold_two(tables: Floats) -> Bools:
    """Which tables of counts (contexts, values, labels) hold two values and two labels."""
    by_value, by_label = margins(tables)
    two: Bools = ((by_value > 0) @ np.ones(by_value.shape[1]) > 1) & ((by_label > 0) @ np.ones(by_label.shape[1]) > 1)
    return two


def margins(tables: Floats) -> tuple[Floats, Floats]:
    """Rows by value and by label of tables (contexts, values, labels).

    Textbook: tables.sum(axis=2), tables.sum(axis=1); products with ones are several times quicker on short axes.
    """
    return tables @ np.ones(tables.shape[2]), np.ones(tables.shape[1]) @ tables


def moments_of_tables(tables: Floats) -> tuple[Floats, Floats]:
    """Observed less expected and its covariance for each table, without the last value and label."""
    deviation, of_values, of_labels = _margins(tables)
    size = deviation.shape[1]
    return deviation, np.einsum("cvw,clm->cvlwm", of_values, of_labels).reshape(len(tables), size, size)


def _margins(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Observed less expected of each table, and the two factors of its covariance, one of values and one of labels.

    The rows of value v with label l follow the multivariate hypergeometric distribution: with a_v rows of v, b_l of l
    and n in all, cov = (n a_v [v = w] - a_v a_w) (n b_l [l = m] - b_l b_m) / (n^2 (n - 1)).
    """
    a, b = margins(tables)
    n = a @ np.ones(a.shape[1])
    expected = a[:, :, None] * b[:, None, :] / n[:, None, None]
    size = (tables.shape[1] - 1) * (tables.shape[2] - 1)
    deviation = (tables - expected)[:, :-1, :-1].reshape(len(tables), size)
    a, b = a[:, :-1], b[:, :-1]
    of_values = n[:, None, None] * _diagonals(a) - a[:, :, None] * a[:, None, :]
    of_labels = n[:, None, None] * _diagonals(b) - b[:, :, None] * b[:, None, :]
    return deviation, of_values / (n**2 * (n - 1))[:, None, None], of_labels


def quadratic_forms(deviations: Floats, covariances: Floats) -> tuple[Floats, Ints]:
    """Deviation' covariance^-1 deviation of each row in the directions that can vary, and how many there are."""
    scale = np.trace(covariances, axis1=1, axis2=2)
    values, vectors = np.linalg.eigh(covariances)
    varies = (values > 1e-9 * scale[:, None]) & (scale[:, None] > 0)
    along = (deviations[:, None, :] @ vectors)[:, 0]
    parts = np.divide(along**2, values, out=np.zeros_like(values), where=varies)
    return parts.sum(axis=1), np.count_nonzero(varies, axis=1)


def _diagonals(rows: Floats) -> Floats:
    """A diagonal matrix for each row."""
    square = np.zeros((*rows.shape, rows.shape[1]))
    k = np.arange(rows.shape[1])
    square[:, k, k] = rows
    return square
