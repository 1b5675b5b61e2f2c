"""AnalogicalSelector: a scikit-learn shell around relevance, without maths of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from analogical._encoding import is_frame
from analogical._relevance import Duplicates, Relevance, relevance
from analogical.errors import InputError

__all__ = ["AnalogicalSelector"]


class AnalogicalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that change the label with all else equal.

    Parameters
    ----------
    k : int or "all", optional
        Keep the k best features. Fewer only if the table has fewer, or ``threshold`` leaves fewer.
    threshold : float, optional
        Keep features with at least this score (0 to 1); features without evidence have none.
    duplicates : {"count", "once"}
        As in :func:`analogical.relevance`.

    With neither ``k`` nor ``threshold``, every feature that changed some label is kept: the paper's
    relevant features.

    Attributes
    ----------
    relevance_ : Relevance
        What was counted; its ``ranking()`` is the order in which features are chosen.
    scores_ : ndarray of shape (n_features,)
        Score of each feature, NaN without evidence.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if ``X`` was a dataframe with string names.

    Notes
    -----
    A constant feature, or one without evidence, is never chosen before one with evidence; ties go to
    the feature with more pairs, then to the earlier column.

    Examples
    --------
    >>> import numpy as np
    >>> from analogical import AnalogicalSelector
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> selector = AnalogicalSelector(k=2).fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), selector.scores_.tolist()
    (['x0', 'x2'], [1.0, 0.0, 1.0])
    """

    def __init__(
        self, k: int | str | None = None, *, threshold: float | None = None, duplicates: Duplicates = "count"
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.duplicates = duplicates

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AnalogicalSelector":
        """Count the evidence for every feature.

        Parameters
        ----------
        X : dataframe, array or list of rows
            A categorical table.
        y : array-like
            The label, with two or more classes.
        sample_weight : array-like of whole numbers, optional
            How many rows each row stands for.
        """
        _check_k(self.k)
        _check_threshold(self.threshold)
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X, y = validate_data(self, X, _one_column(y), dtype=None)
        self.relevance_: Relevance = relevance(X, y, weights=sample_weight, duplicates=self.duplicates)
        self.scores_: NDArray[np.float64] = self.relevance_.score
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        order = self.relevance_.order()
        if self.threshold is not None:
            order = order[self.scores_[order] >= self.threshold]
        elif self.k is None:
            order = order[self.scores_[order] > 0]
        if self.k is not None and self.k != "all":
            order = order[: self.k]
        mask = np.zeros(len(self.scores_), dtype=np.bool_)
        mask[order] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _check_k(k: Any) -> None:
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not (k is None or k == "all" or (whole and k >= 1)):
        raise InputError(f'k must be a whole number from 1, "all" or None, got {k!r}.')


def _check_threshold(threshold: Any) -> None:
    number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if not (threshold is None or (number and 0 <= threshold <= 1)):
        raise InputError(f"threshold must be a number from 0 to 1 or None, got {threshold!r}.")


def _one_column(y: Any) -> Any:
    """Labels in one dimension; a column vector is flattened with scikit-learn's warning."""
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return column_or_1d(y, warn=True)
    return y
