"""AnalogicalSelector: a scikit-learn shell around select and relevance, without maths of its own."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from analogical._checks import check_choice, check_number, check_whole, is_whole, seed_from
from analogical._redundancy import Dropped, name_dropped
from analogical._relevance import Duplicates, Relevance, relevance_of
from analogical._selection import Selection, select_of
from analogical._types import Bools, Floats, Positions
from analogical.encoding.binning import Bins
from analogical.encoding.choosing import unknown_column
from analogical.encoding.frames import is_frame
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.attribution import AttributionMethod
from analogical.scoring.dependencies import Resolution, resolve
from analogical.scoring.radius import Radius
from analogical.scoring.significance import adjust_for_features

__all__ = ["AnalogicalSelector", "SelectionWarning"]

Redundancy = Literal["resolve", "keep"]
Strategy = Literal["auto", "together", "ranking"]


class SelectionWarning(UserWarning):
    """No feature passed the criteria, and something else was kept, or nothing.

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


class AnalogicalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that predict the label best together, or those that change it with all else equal.

    Parameters
    ----------
    k : int or "all", optional
        Keep k features. Fewer only if the table has fewer, or ``threshold`` leaves fewer.
    strategy : {"auto", "together", "ranking"}
        ``"together"`` chooses features one after the other, each for what it adds to the prediction by those before it,
        as :func:`analogical.select` does; without ``k`` it stops by itself, and keeps nothing where labels look
        shuffled. ``"ranking"`` keeps the best features of :func:`analogical.relevance`. ``"auto"`` is ``"together"``
        with a number as ``k`` and neither ``threshold``, ``alpha`` nor groups, otherwise ``"ranking"``.
    threshold : float, optional
        Keep features with at least this score (0 to 1); features without evidence have none. Ranking only, as are
        ``alpha`` and ``redundancy``.
    alpha : float, optional
        Keep features whose p-values pass Benjamini and Hochberg's control of false discoveries at this level, so that
        among the features kept at most this share is expected to do nothing.
    redundancy : {"resolve", "keep"}
        What to do if features without pairs are determined by others: leave out one after the other until
        the rest can be compared, or keep them all, so that none of them has evidence.
    radius : int or "auto"
        On how many features two rows may differ and still be compared, as in :func:`analogical.relevance`.
    priority : sequence of feature names, optional
        Which features to keep if some carry the same information, most wanted first (names as in
        ``get_feature_names_out``); the others follow in column order.
    features, ignore : names or patterns of columns, optional
        Columns to choose from, or columns that are never kept.
    missing, bins, max_values, ids, bin_label, noise_free, attribution, duplicates, random_state, n_jobs
        As in :func:`analogical.relevance`.

    Attributes
    ----------
    selection_ : Selection
        With strategy ``"together"``: the features in the order chosen, what each added and why, and which were left
        out because a chosen one carries the same information.
    relevance_ : Relevance
        With strategy ``"ranking"``: what was counted on the features that were not dropped; its ``ranking()`` is the
        order in which features are chosen.
    scores_ : ndarray of shape (n_features,)
        With ``"ranking"``, the score of each feature, NaN without evidence and for dropped features; with
        ``"together"`` the nats that each chosen feature added, NaN for the others.
    pvalues_ : ndarray of shape (n_features,)
        With ``"ranking"``: p-value of each feature, not adjusted; NaN where nothing tells it from noise.
    dropped_ : tuple of Dropped
        Features left out as ids and, with ``"ranking"``, as constant or redundant, why, and in favour of which ones.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if ``X`` was a dataframe with string names.

    Notes
    -----
    By default, with none of ``k``, ``threshold`` and ``alpha``, the features that are told from noise are kept: those
    with status ``"effect"``. With several criteria, a feature must pass all. If no feature passes ``alpha`` or the
    default rule, ``fit`` warns and keeps the features that changed some label where noise is unknown, otherwise the
    best one, so that a pipeline or a grid search can go on.

    In a ranking, a constant feature, or one without evidence, is never chosen before one with evidence; ties go to the
    feature with more pairs, then to the earlier column. Together, ties go to the features of ``priority``, then to the
    earlier column.

    Examples
    --------
    >>> import numpy as np
    >>> from analogical import AnalogicalSelector
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> selector = AnalogicalSelector(k=2).fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), selector.selection_.why
    (['x0', 'x2'], ('index', 'index'))
    >>> selector = AnalogicalSelector(k=2, strategy="ranking").fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), selector.scores_.tolist()
    (['x0', 'x2'], [1.0, 0.0, 1.0])

    In a ranking, a copy of a column takes all pairs away from both; one of them is left out:

    >>> X = np.tile(np.column_stack([X, X[:, 0]]), (2, 1))
    >>> selector = AnalogicalSelector().fit(X, X[:, 0] ^ X[:, 2])
    >>> selector.get_feature_names_out().tolist(), str(selector.dropped_[0])
    (['x0', 'x2'], 'x3: the same information as x0 (14 tests)')
    """

    def __init__(
        self,
        k: int | str | None = None,
        *,
        strategy: Strategy = "auto",
        threshold: float | None = None,
        alpha: float | None = None,
        radius: Radius = "auto",
        attribution: AttributionMethod = "noisy-or",
        noise_free: bool = False,
        redundancy: Redundancy = "resolve",
        priority: Sequence[str] | None = None,
        features: Any = None,
        ignore: Any = None,
        missing: Missing = "value",
        bins: Bins = 5,
        max_values: int | None = 20,
        ids: Ids = "drop",
        bin_label: int | None = None,
        duplicates: Duplicates = "count",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.strategy = strategy
        self.threshold = threshold
        self.alpha = alpha
        self.radius = radius
        self.attribution = attribution
        self.noise_free = noise_free
        self.redundancy = redundancy
        self.priority = priority
        self.features = features
        self.ignore = ignore
        self.missing = missing
        self.bins = bins
        self.max_values = max_values
        self.ids = ids
        self.bin_label = bin_label
        self.duplicates = duplicates
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "AnalogicalSelector":
        """Count the evidence for every feature.

        Parameters
        ----------
        X : dataframe, array or list of rows
            Categories and numbers, as in :func:`analogical.relevance`; cells may be missing.
        y : array-like
            The label, with two or more classes. Not the name of a column: a selector must not see the label in ``X``.
        sample_weight : array-like of whole numbers, optional
            How many rows each row stands for.
        groups : array-like, optional
            Which rows depend on each other, as in :func:`analogical.relevance`.
        """
        self._check_parameters()
        _refuse_names(y=y, sample_weight=sample_weight, groups=groups)
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X, y = validate_data(
                self, X, _one_column(y), dtype=None, ensure_all_finite="allow-nan", accept_sparse="csc"
            )
        names = self._names()
        first = _check_priority(self.priority, names)
        table = encode_table(
            X,
            y,
            weights=sample_weight,
            groups=groups,
            features=self.features,
            ignore=self.ignore,
            treatment=Treatment.of(self.missing, self.bins, self.max_values, self.ids, self.bin_label),
            feature_names=None if is_frame(X) else names,
        )
        _refuse_role_in_features(table)
        for name in ("selection_", "relevance_", "pvalues_"):  # of an earlier fit with another strategy
            self.__dict__.pop(name, None)
        engine = MemoryEngine(self.n_jobs)
        ids = tuple(Dropped(name, "id", (), 0) for n in table.notes if n.kind == "set-aside" for name in n.columns)
        if self._chooses_together(groups):
            self._fit_together(table, engine, ids, first)
        else:
            self._fit_ranking(table, engine, ids, first)
        return self

    def _chooses_together(self, groups: Any) -> bool:
        """Whether features are chosen for what they add to each other."""
        if self.strategy != "auto":
            refused = {"threshold": self.threshold, "alpha": self.alpha, "groups": groups}
            given = next((name for name, value in refused.items() if value is not None), None)
            if self.strategy == "together" and given is not None:
                raise InputError(
                    f'strategy="together" does not use {given}; leave {given} out, or set strategy="ranking".'
                )
            return self.strategy == "together"
        return is_whole(self.k) and self.threshold is None and self.alpha is None and groups is None

    def _fit_together(
        self, table: EncodedTable, engine: MemoryEngine, ids: tuple[Dropped, ...], first: list[int]
    ) -> None:
        """Choose features for what each adds to those before it."""
        order = self._wanted_first(table, first)
        self.dropped_: tuple[Dropped, ...] = ids
        self._remaining: Positions = np.array([table.columns[i].position for i in order], dtype=np.intp)
        self.selection_: Selection = select_of(
            table.select(order),
            engine,
            None if self.k is None else len(order) if self.k == "all" else int(self.k),
            radius=min(self.radius, len(order)) if is_whole(self.radius) else self.radius,
            attribution=self.attribution,
            duplicates=self.duplicates,
            noise_free=self.noise_free,
            seed=seed_from(self.random_state),
            n_jobs=self.n_jobs,
        )
        names = self.selection_.names
        self._chosen: Positions = np.array([names.index(f) for f in self.selection_.features], dtype=np.intp)
        gains = np.full(len(names), np.nan)
        gains[self._chosen] = self.selection_.gain
        self.scores_: Floats = self._at_all_features(gains)
        if not len(self._chosen):
            warnings.warn(
                f"No feature adds {self.selection_.need:.1f} nats to the prediction, alone or in a pair, and the index"
                ' tells none from noise, so none is kept. Set k, or strategy="ranking", to keep some.',
                SelectionWarning,
                stacklevel=3,
            )

    def _fit_ranking(
        self, table: EncodedTable, engine: MemoryEngine, ids: tuple[Dropped, ...], first: list[int]
    ) -> None:
        """Score every feature by itself, all else equal."""
        resolution = self._resolve(table, engine, first)
        remaining = resolution.remaining
        self.dropped_ = (*ids, *name_dropped(resolution.left_out, table.names))
        self._remaining = np.array([table.columns[i].position for i in remaining], dtype=np.intp)
        self.relevance_: Relevance = relevance_of(
            table.select(remaining) if resolution.left_out else table,
            engine,
            radius=min(self.radius, len(remaining)) if is_whole(self.radius) else self.radius,
            attribution=self.attribution,
            duplicates=self.duplicates,
            noise_free=self.noise_free,
            seed=seed_from(self.random_state),
            redundancies=False,
        )
        self.scores_ = self._at_all_features(self.relevance_.score)
        self.pvalues_: Floats = self._at_all_features(self.relevance_.known_p_values())
        self._chosen, warning = self._choose()
        if warning:
            warnings.warn(warning, SelectionWarning, stacklevel=3)

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be meant."""
        if not (self.k is None or self.k == "all"):
            check_whole("k", self.k, low=1, other=', "all" or None')
        if self.threshold is not None:
            check_number("threshold", self.threshold, expected="a number from 0 to 1 or None", ends=True)
        if self.alpha is not None:
            check_number("alpha", self.alpha, expected="a number between 0 and 1, such as 0.05, or None")
        check_choice("redundancy", self.redundancy, ("resolve", "keep"))
        check_choice("strategy", self.strategy, ("auto", "together", "ranking"))

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
        resolution = resolve(engine, table.coded, self._wanted_first(table, first))
        return resolution if any(item.reason != "constant" for item in resolution.left_out) else everything

    @staticmethod
    def _wanted_first(table: EncodedTable, first: list[int]) -> list[int]:
        """Places of all features, the wanted ones first."""
        wanted = [place for i in first if (place := table.place_of(i)) is not None]
        taken = set(wanted)
        return [*wanted, *(i for i in range(len(table.names)) if i not in taken)]

    def _at_all_features(self, of_remaining: Floats) -> Floats:
        """Numbers of the features used, at their places among all features; NaN for the dropped ones."""
        numbers = np.full(self.n_features_in_, np.nan)
        numbers[self._remaining] = of_remaining
        return numbers

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=np.bool_)
        mask[self._remaining[self._chosen]] = True
        return mask

    def _choose(self) -> tuple[Positions, str]:
        """Positions of the chosen features among those used, best first, and what to warn of."""
        result = self.relevance_
        order, warning = result.order(), ""
        by_noise = self.alpha is not None or (self.k is None and self.threshold is None)
        if by_noise:
            told = order[self._is_told(result)[order]]
            if not len(told):
                told, warning = self._fall_back(result, order)
            order = told
        if self.threshold is not None:
            order = order[result.score[order] >= self.threshold]
            if not len(order):
                warning = (
                    f"No feature has a score of at least {self.threshold}, so none is kept; the best one has"
                    f" {np.nanmax(result.score, initial=0.0):.3g}. Lower threshold, or set k."
                )
        if self.k is not None and self.k != "all":
            order = order[: self.k]
        return order, warning

    def _is_told(self, result: Relevance) -> Bools:
        """Which features are told from noise."""
        if self.alpha is None:
            return np.array([status == "effect" for status in result.status])
        with np.errstate(invalid="ignore"):
            told: Bools = adjust_for_features(result.known_p_values()) <= self.alpha
        return told

    def _fall_back(self, result: Relevance, order: Positions) -> tuple[Positions, str]:
        """What to keep if no feature is told from noise, and the warning."""
        unknown = [i for i in order.tolist() if result.status[i] == "noise-unknown"]
        if unknown:
            return np.array(unknown), (
                f"No feature is told from noise, and no repeated row shows the noise of {len(unknown)} features that"
                " changed labels; these are kept. If labels have no noise, set noise_free=True; otherwise set k or"
                " threshold."
            )
        p_values = result.known_p_values()
        smallest = (
            f"the smallest p-value is {np.nanmin(p_values):.2g}" if not np.isnan(p_values).all() else "none was tested"
        )
        best = order[:1]
        return best, (
            f"No feature is told from noise ({smallest}); the best one, {result.names[int(best[0])]!r}, is kept so that"
            " a pipeline can go on. Set k or threshold to choose by score."
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """For notebooks: scikit-learn's diagram and, once fitted, what was selected or scored below it."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "scores_") and "text/html" in bundle:
            bundle["text/html"] += self._result()._repr_html_()
        return bundle

    def to_frame(self, backend: str | None = None) -> Any:
        """What was fitted as a dataframe: ``selection_.to_frame()`` or ``relevance_.to_frame()``."""
        return self._result().to_frame(backend)

    def to_dict(self) -> dict[str, Any]:
        """What was fitted in plain Python types: ``selection_.to_dict()`` or ``relevance_.to_dict()``."""
        return self._result().to_dict()

    def _result(self) -> Selection | Relevance:
        check_is_fitted(self)
        return self.selection_ if hasattr(self, "selection_") else self.relevance_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
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
        if note.kind in ("label-taken-out", "weights-taken-out", "groups-taken-out"):
            what = note.kind.removesuffix("-taken-out")
            raise InputError(f"X has the column {note.columns[0]!r}, which is the {what}; leave it out of X.")


def _refuse_names(**given: Any) -> None:
    """A selector takes values, not names of columns: what names a column would be in ``X`` at transform, too."""
    for role, values in given.items():
        if isinstance(values, str):
            raise InputError(
                f"{role}={values!r} names a column; give its values, X[{values!r}], and X without it,"
                f" X.drop(columns={values!r})."
            )


def _one_column(y: Any) -> Any:
    """Labels in one dimension; a column vector is flattened with scikit-learn's warning."""
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return column_or_1d(y, warn=True)
    return y
