"""AnalogicalSelector: a scikit-learn shell around select and relevance, without maths of its own."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from analogical._checks import check_choice, check_confidence, check_number, check_whole
from analogical._types import Bools, Floats, Positions
from analogical.columns.binning import Bins
from analogical.columns.encode import encode_table
from analogical.columns.frames import is_frame
from analogical.columns.rules import Ids, LabelScale, Missing, Rules
from analogical.errors import InputError
from analogical.estimate.dependencies import predicted_by_cut
from analogical.questions.relevance import DEFAULT_CONFIDENCE, relevance
from analogical.questions.select import select
from analogical.study import Duplicates, Given, Study, check_given


class SelectionWarning(UserWarning):
    """No feature passed the criteria, so none is kept.

    Examples
    --------
    >>> import warnings
    >>> from analogical import AnalogicalSelector, SelectionWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector = AnalogicalSelector().fit([[0], [0], [1], [1]] * 5, [0, 1, 0, 1] * 5)
    >>> [warning.category.__name__ for warning in caught]
    ['SelectionWarning']
    """


@dataclass(frozen=True)
class Dropped:
    """A feature that was left out, why, and in favour of which ones.

    Examples
    --------
    >>> from analogical import AnalogicalSelector
    >>> rows = [[0, 0, 1], [0, 0, 2], [1, 1, 1], [1, 1, 2]] * 5
    >>> selector = AnalogicalSelector().fit(rows, [0, 0, 1, 1] * 5)
    >>> for dropped in selector.dropped_:
    ...     print(dropped)
    x1: the same information as x0
    """

    feature: str
    reason: Literal["constant", "id", "same information"]
    in_favour_of: tuple[str, ...] = ()

    def __str__(self) -> str:
        from analogical.show.selection import describe_dropped

        return describe_dropped(self)


class AnalogicalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features with an effect, or the k features that predict the label best together.

    Parameters
    ----------
    k : int or "all", optional
        Keep k features; fewer only if the table has fewer, or ``threshold`` leaves fewer. If not given, those with a
        significant effect: status ``"effect"`` of :func:`analogical.relevance`.
    given : {"auto", "all"} or list of features
        On which other features compared rows agree, as in :func:`analogical.relevance`.
    strategy : {"together", "ranking"}
        How k features are selected: those that predict the label best together, as :func:`analogical.select` does, or
        the first ones in the order of :func:`analogical.relevance`.
    threshold : float, optional
        Keep only features with at least this effect: 0 to 1 for classes; for a label that is a number a mean squared
        difference, such as ``threshold=1000**2`` for differences of 1,000. Not with k features selected together.
    confidence : float
        A feature has an effect if its p-value, adjusted for the number of features, is at most 1 - confidence.
    features, ignore : names or patterns of columns, optional
        Candidate columns, or columns that are never kept.
    missing, bins, max_values, ids, classes, scale, ordered, fold_case
        How cells are encoded: see :class:`analogical.ColumnOptions`. Dates are binned, without their parts: a selector
        keeps columns of ``X``. Add month or weekday as columns before, if they matter.
    duplicates, n_jobs
        As in :func:`analogical.relevance`.

    Attributes
    ----------
    relevance_ : Relevance
        Without ``k``, or with strategy ``"ranking"``: effect, p-value and status of every feature.
    selection_ : Selection
        With ``k`` and strategy ``"together"``: the features in the order selected, and what each adds.
    scores_ : ndarray of shape (n_features,)
        The effect of each feature, NaN without pairs; with ``selection_`` what each selected feature adds, NaN for
        the others.
    pvalues_ : ndarray of shape (n_features,)
        With ``relevance_``: p-value of each feature, not adjusted; NaN where nothing is tested.
    dropped_ : tuple of Dropped
        Identifiers that were set aside and, with ``relevance_``, constant features and copies of others.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if ``X`` was a dataframe with string names.

    Notes
    -----
    If no feature passes, ``fit`` gives a :class:`SelectionWarning`, and ``transform`` returns a table without columns
    as scikit-learn's selectors do. Set ``k`` if a pipeline must not stop there.

    Ties, and copies, go to the earlier column.

    Examples
    --------
    >>> import numpy as np
    >>> from analogical import AnalogicalSelector
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4)
    >>> selector = AnalogicalSelector().fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), selector.scores_.round(2).tolist()
    (['x0', 'x2'], [1.0, 0.0, 1.0])
    >>> selector = AnalogicalSelector(k=2).fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), selector.selection_.why
    (['x0', 'x2'], ('interaction', 'interaction'))

    Of a column and its copy, one is kept:

    >>> X = np.column_stack([X, X[:, 0]])
    >>> selector = AnalogicalSelector().fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), [(d.feature, d.in_favour_of) for d in selector.dropped_]
    (['x0', 'x2'], [('x3', ('x0',))])

    A label that is a number:

    >>> noise = np.random.default_rng(0).normal(size=(3, len(X)))
    >>> rent = 800 + 300 * X[:, 1] + 50 * noise[0]
    >>> AnalogicalSelector(threshold=100**2).fit(X, rent).get_feature_names_out().tolist()
    ['x1']
    """

    def __init__(
        self,
        k: int | str | None = None,
        *,
        given: Given = "auto",
        strategy: Literal["together", "ranking"] = "together",
        threshold: float | None = None,
        confidence: float = DEFAULT_CONFIDENCE,
        features: Any = None,
        ignore: Any = None,
        missing: Missing = Rules.missing,
        bins: Bins = Rules.bins,
        max_values: int | None = Rules.max_values,
        ids: Ids = Rules.ids,
        classes: int | None = Rules.classes,
        scale: LabelScale = Rules.scale,
        ordered: Sequence[Any] | None = Rules.ordered,
        fold_case: bool | None = Rules.fold_case,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.given = given
        self.strategy = strategy
        self.threshold = threshold
        self.confidence = confidence
        self.features = features
        self.ignore = ignore
        self.missing = missing
        self.bins = bins
        self.max_values = max_values
        self.ids = ids
        self.classes = classes
        self.scale = scale
        self.ordered = ordered
        self.fold_case = fold_case
        self.duplicates = duplicates
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "AnalogicalSelector":
        """Find the features to keep.

        Parameters
        ----------
        X : dataframe, array or list of rows
            Categories and numbers, as in :func:`analogical.relevance`; cells may be missing.
        y : array-like
            The label: two or more classes, or numbers, which are compared in their unit. Not the name of a column: a
            selector must not see the label in ``X``.
        sample_weight : array-like of whole numbers, optional
            How many rows each row represents.
        groups : array-like, optional
            Which rows depend on each other, as in :func:`analogical.relevance`.
        """
        self._check_parameters()
        for role, values in (("y", y), ("sample_weight", sample_weight), ("groups", groups)):
            if isinstance(values, str):  # a selector takes values: a column of X would be in X at transform, too
                raise InputError(
                    f"{role}={values!r} names a column; give its values, X[{values!r}], and X without it,"
                    f" X.drop(columns={values!r})."
                )
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            if isinstance(y, np.ndarray) and y.ndim == 2:
                y = column_or_1d(y, warn=True)
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan", accept_sparse="csc")
        rules = Rules(
            weights=sample_weight,
            groups=groups,
            features=self.features,
            ignore=self.ignore,
            missing=self.missing,
            bins=self.bins,
            max_values=self.max_values,
            ids=self.ids,
            classes=self.classes,
            scale=self.scale,
            ordered=self.ordered,
            date_parts=False,
            fold_case=self.fold_case,
            feature_names=None if is_frame(X) else [f"x{i}" for i in range(self.n_features_in_)],
        )
        table = encode_table(X, y, rules, watch=predicted_by_cut)
        for note in table.notes:
            if note.kind in ("label-taken-out", "weights-taken-out", "groups-taken-out"):
                what = note.kind.removesuffix("-taken-out")
                raise InputError(f"X has the column {note.columns[0]!r}, which is the {what}; leave it out of X.")
        for name in ("selection_", "relevance_", "pvalues_"):  # of an earlier fit with other parameters
            self.__dict__.pop(name, None)
        self._places: Positions = np.array([column.position for column in table.columns], dtype=np.intp)
        ids = [Dropped(name, "id") for n in table.notes if n.kind == "set-aside" for name in n.columns]
        self.dropped_: tuple[Dropped, ...] = tuple(ids)
        study = Study(table, duplicates=self.duplicates, n_jobs=self.n_jobs)
        if self.k is None or self.strategy == "ranking":
            self._fit_ranking(study)
            return self
        names = table.names
        result = self.selection_ = select(study, k=len(names) if self.k == "all" else int(self.k))
        self._chosen: Positions = np.array([names.index(name) for name in result.features], dtype=np.intp)
        adds = np.full(len(names), np.nan)
        adds[self._chosen] = result.adds
        self.scores_: Floats = self._at_all_features(adds)
        return self

    def _fit_ranking(self, study: Study) -> None:
        """Test every feature, given others, and keep those with an effect or the first k."""
        result = self.relevance_ = relevance(study, given=self.given, confidence=self.confidence)
        self.scores_ = self._at_all_features(result.effect)
        self.pvalues_: Floats = self._at_all_features(result.p_value)
        for name, status, same in zip(result.names, result.status, result.same_as, strict=True):
            if status in ("constant", "same"):
                dropped = Dropped(name, "constant") if same is None else Dropped(name, "same information", (same,))
                self.dropped_ = (*self.dropped_, dropped)
        order, warning = result.order(), ""
        if self.threshold is not None and self.threshold > 1 and study.scale is None:
            check_number(
                "threshold", self.threshold, expected="a number from 0 to 1 for a label with classes", ends=True
            )
        if self.k is None:
            order = order[np.array([status == "effect" for status in result.status])[order]]
            if not len(order):
                p = result.p_adjusted[~np.isnan(result.p_adjusted)]
                least = f"the smallest adjusted p-value is {p.min():.2g}" if len(p) else "none was tested"
                warning = f"No feature has a significant effect ({least}), so none is kept. Set k to keep some."
        if self.threshold is not None and len(order):
            order = order[result.effect[order] >= self.threshold]
            if not len(order):
                best = float(np.nanmax(result.effect, initial=0.0))
                warning = (
                    f"No feature has an effect of at least {self.threshold}, so none is kept; the largest is"
                    f" {best:.3g}. Lower threshold."
                )
        if warning:
            warnings.warn(warning, SelectionWarning, stacklevel=3)
        self._chosen = order if self.k is None or self.k == "all" else order[: int(self.k)]

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be meant."""
        if not (self.k is None or self.k == "all"):
            check_whole("k", self.k, low=1, other=', "all" or None')
        given = check_given(self.given)
        check_choice("strategy", self.strategy, ("together", "ranking"))
        if self.threshold is not None:
            check_number("threshold", self.threshold, expected="a number from 0 or None", ends=True, high=math.inf)
        check_confidence(self.confidence)
        if self.k is not None and self.strategy == "together":
            for name, is_set in (("threshold", self.threshold is not None), ("given", given != "auto")):
                if is_set:
                    raise InputError(
                        f"Selecting k features together does not use {name}; leave {name} out, or set"
                        ' strategy="ranking".'
                    )

    def _at_all_features(self, numbers: Floats) -> Floats:
        """Numbers of the features used, at their places among all features; NaN for the others."""
        of_all = np.full(self.n_features_in_, np.nan)
        of_all[self._places] = numbers
        return of_all

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=np.bool_)
        mask[self._places[self._chosen]] = True
        return mask

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """For notebooks: scikit-learn's diagram and, once fitted, what was selected or scored below it."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "scores_") and "text/html" in bundle:
            result = self.selection_ if hasattr(self, "selection_") else self.relevance_
            bundle["text/html"] += result._repr_html_()
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
