"""AnalogicalSelector: a scikit-learn shell around relevance, without maths of its own."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from analogical._checks import check_choice, check_number, check_whole, is_whole, seed_from
from analogical._redundancy import Dropped, name_dropped
from analogical._relevance import Duplicates, Relevance, relevance_of
from analogical._types import Bools, Floats, Positions
from analogical.encoding.choosing import unknown_column
from analogical.encoding.frames import is_frame
from analogical.encoding.table import EncodedTable, encode_table
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.attribution import AttributionMethod
from analogical.scoring.dependencies import Resolution, resolve
from analogical.scoring.radius import Radius

__all__ = ["AnalogicalSelector"]

Redundancy = Literal["resolve", "keep"]


class AnalogicalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that change the label with all else equal.

    Parameters
    ----------
    k : int or "all", optional
        Keep the k best features. Fewer only if the table has fewer, or ``threshold`` leaves fewer.
    threshold : float, optional
        Keep features with at least this score (0 to 1); features without evidence have none.
    alpha : float, optional
        Keep features that noise alone explains badly: those whose p-values pass Benjamini and Hochberg's
        control of false discoveries, so that among the features kept at most this share is expected to
        do nothing. Needs repeated rows, without which noise is unknown.
    redundancy : {"resolve", "keep"}
        What to do if features without pairs are determined by others: leave out one after the other until
        the rest can be compared, or keep them all, so that none of them has evidence.
    radius : int or "auto"
        On how many features two rows may differ and still be compared, as in :func:`analogical.relevance`.
    priority : sequence of feature names, optional
        Which features to keep if some carry the same information, most wanted first (names as in
        ``get_feature_names_out``); the others follow in column order.
    attribution, duplicates, random_state, n_jobs
        As in :func:`analogical.relevance`.

    With none of ``k``, ``threshold`` and ``alpha``, every feature that changed some label is kept: the
    paper's relevant features; if the score had to look beyond distance 1, where hardly any score is exactly 0,
    those with at least the mean score. With several of them, a feature must pass all.

    Attributes
    ----------
    relevance_ : Relevance
        What was counted on the features that were not dropped; its ``ranking()`` is the order in which
        features are chosen.
    scores_ : ndarray of shape (n_features,)
        Score of each feature, NaN without evidence and for dropped features.
    pvalues_ : ndarray of shape (n_features,)
        P-value of each feature, NaN where nothing tells it from noise; only with ``alpha``.
    dropped_ : tuple of Dropped
        Features left out as constant or redundant, why, and in favour of which ones.
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

    A copy of a column takes all pairs away from both; one of them is left out:

    >>> X = np.tile(np.column_stack([X, X[:, 0]]), (2, 1))
    >>> selector = AnalogicalSelector().fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), str(selector.dropped_[0])
    (['x0', 'x2'], 'x3: the same information as x0 (14 tests)')
    """

    def __init__(
        self,
        k: int | str | None = None,
        *,
        threshold: float | None = None,
        alpha: float | None = None,
        radius: Radius = "auto",
        attribution: AttributionMethod = "noisy-or",
        redundancy: Redundancy = "resolve",
        priority: Sequence[str] | None = None,
        duplicates: Duplicates = "count",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.alpha = alpha
        self.radius = radius
        self.attribution = attribution
        self.redundancy = redundancy
        self.priority = priority
        self.duplicates = duplicates
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        self._check_parameters()
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X, y = validate_data(self, X, _one_column(y), dtype=None)
        names = self._names()
        first = _check_priority(self.priority, names)
        table = encode_table(X, y, weights=sample_weight, feature_names=None if is_frame(X) else names)
        _refuse_role_in_features(table)
        engine = MemoryEngine(self.n_jobs)
        resolution = self._resolve(table, engine, first)
        remaining = resolution.remaining
        self.dropped_: tuple[Dropped, ...] = name_dropped(resolution.left_out, names)
        self._remaining: Positions = np.array(remaining, dtype=np.intp)
        self.relevance_: Relevance = relevance_of(
            table.select(remaining) if resolution.left_out else table,
            engine,
            radius=min(self.radius, len(remaining)) if is_whole(self.radius) else self.radius,
            attribution=self.attribution,
            duplicates=self.duplicates,
            seed=seed_from(self.random_state),
            confidence=None if self.alpha is None else 0.95,
            redundancies=False,
        )
        self.scores_: Floats = self._spread(self.relevance_.score)
        if self.relevance_.p_value is not None:
            self.pvalues_: Floats = self._spread(self.relevance_.p_value)
            _refuse_unknown_noise(self.pvalues_, self.alpha, self.duplicates, len(self.relevance_.names))
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be meant."""
        if not (self.k is None or self.k == "all"):
            check_whole("k", self.k, low=1, other=', "all" or None')
        if self.threshold is not None:
            check_number("threshold", self.threshold, expected="a number from 0 to 1 or None", ends=True)
        if self.alpha is not None:
            check_number("alpha", self.alpha, expected="a number between 0 and 1, such as 0.05, or None")
        check_choice("redundancy", self.redundancy, ("resolve", "keep"))

    def _names(self) -> list[str]:
        """Names of the columns, as ``get_feature_names_out`` gives them."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _resolve(self, table: EncodedTable, engine: MemoryEngine, first: list[int]) -> Resolution:
        """Columns to use; all of them unless redundancy is to be resolved."""
        everything = Resolution(remaining=tuple(range(len(table.names))))
        if self.redundancy == "keep":
            return everything
        order = [*first, *(i for i in range(len(table.names)) if i not in first)]
        resolution = resolve(engine, table.coded, order)
        return resolution if any(item.reason != "constant" for item in resolution.left_out) else everything

    def _spread(self, of_remaining: Floats) -> Floats:
        """Numbers of the features used, at their places among all features; NaN for the dropped ones."""
        spread = np.full(self.n_features_in_, np.nan)
        spread[self._remaining] = of_remaining
        return spread

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        order = self._remaining[self.relevance_.order()]
        if self.alpha is not None:
            order = order[_discoveries(self.pvalues_[order], self.alpha)]
        if self.threshold is not None:
            order = order[self.scores_[order] >= self.threshold]
        elif self.k is None and self.alpha is None:
            order = order[self._is_relevant(self.scores_[order])]
        if self.k is not None and self.k != "all":
            order = order[: self.k]
        mask = np.zeros(len(self.scores_), dtype=np.bool_)
        mask[order] = True
        return mask

    def _is_relevant(self, scores: Floats) -> Bools:
        """Above 0 at distance 1; beyond, where hardly any score is exactly 0, at least the mean."""
        with np.errstate(invalid="ignore"):
            above = scores > 0
            if self.relevance_.settings.radius > 1 and above.any():
                above &= scores >= np.nanmean(scores)
        return above

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _check_priority(priority: Any, names: Sequence[str]) -> list[int]:
    """Positions of the wanted features, in their order."""
    if priority is None:
        return []
    if isinstance(priority, str) or not isinstance(priority, Sequence | np.ndarray):
        raise InputError(f"priority must be a list of feature names, most wanted first, got {priority!r}.")
    for name in priority:
        if name not in names:
            raise unknown_column(str(name), names, "priority")
    return [names.index(name) for name in dict.fromkeys(priority)]


def _refuse_role_in_features(table: EncodedTable) -> None:
    """The label and the weights are not features, and a selector must not choose them."""
    for note in table.notes:
        if note.kind in ("label-taken-out", "weights-taken-out"):
            what = note.kind.removesuffix("-taken-out")
            raise InputError(f"X has the column {note.columns[0]!r}, which is the {what}; leave it out of X.")


def _refuse_unknown_noise(pvalues: Floats, alpha: Any, duplicates: str, n_features: int) -> None:
    if np.isnan(pvalues).all():
        once = duplicates == "once"
        why = "repeated rows were counted once" if once else "no row repeats where two rows differ on one feature only"
        how = ', or duplicates="count"' if once else ", or fewer columns, so that rows repeat"
        raise InputError(
            f"alpha={alpha} needs to tell features from noise, and for none of the {n_features} features that can be"
            f" done, because {why}; use threshold or k instead{how}."
        )


def _discoveries(pvalues: Floats, alpha: float) -> Bools:
    """Which p-values pass the control of the false discovery rate; unknown ones do not."""
    from scipy.stats import false_discovery_control

    found = np.zeros(len(pvalues), dtype=np.bool_)
    known = ~np.isnan(pvalues)
    found[known] = false_discovery_control(pvalues[known]) <= alpha
    return found


def _one_column(y: Any) -> Any:
    """Labels in one dimension; a column vector is flattened with scikit-learn's warning."""
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return column_or_1d(y, warn=True)
    return y
