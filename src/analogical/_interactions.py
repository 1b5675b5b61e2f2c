"""Which features act together: the share of squares that are broken, and the effect of two features on each other."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analogical._checks import check_confidence, check_whole, is_whole, seed_from
from analogical._progress import Progress, progress_line
from analogical._relevance import Relevance, relevance_of
from analogical._results import Result, entry_at, json_ready
from analogical._types import CodedRows, Floats, Note, Positions
from analogical.counting.groups import merge_rows
from analogical.counting.threads import n_threads_for
from analogical.encoding.binning import Bins
from analogical.encoding.choosing import Names, as_list
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.interactions import SquareSums, noise_index, rank_pairs, sum_pairs
from analogical.scoring.pair_contexts import (
    N_LOOKS,
    ContextReason,
    dependent_features,
    features_that_fit,
    told_from_noise,
    try_all_others,
)
from analogical.scoring.significance import adjust_for_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ChosenContexts",
    "Interactions",
    "PairReason",
    "PairSearch",
    "PairStatus",
    "choose_contexts",
    "find_features",
    "interactions",
    "interactions_of",
]

MAX_PAIRS = 5_000
"""Pairs of features up to which all are looked at."""
BEST_FEATURES = 100
"""Features whose pairs are looked at where there are more."""
RANKED_ROWS = 2_000
"""Rows on which the relaxed index orders features; of more rows, so many are drawn."""
TESTED_ROWS = 500
"""Rows on which the relaxed index is tested, which takes longer."""
DEFAULT_LEVEL = 0.05

PairStatus = Literal["effect", "unclear", "noise-unknown", "none-seen", "no-squares"]
PairReason = Literal["all", "top", "too-many"]


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Result):
    """How much what one feature does to the label depends on another feature, for pairs of features.

    ``result["a", "b"]`` is one pair as a dictionary, in either order; ``len(result)`` the number of pairs.

    Attributes
    ----------
    first, second : tuple of str
        The two features of each pair, in column order.
    squares, broken : tuple of int
        Fours of rows that are equal on the contexts and take two values of each feature in all four combinations, and
        how many of them are broken: neither do the labels change in both steps of the first feature alike nor in
        both steps of the second.
    index : ndarray of float
        Share of the squares that are broken, NaN without a square. Exact, and the right reading where labels have no
        noise; labels that are fair coins break .625 of the squares.
    effect : ndarray of float
        Mean over the squares of the sum over labels of (p_a - p_b - p_c + p_d)^2 / 8, p being the share of a label in
        the four cells: 1 for an exclusive or, 1/4 for an "and", 0 where shares are additive in the two features.
        Without bias, so it may lie slightly below 0; NaN where no square has repeated rows in all four cells.
    effect_low, effect_high : ndarray of float, or None
        Interval of ``effect``; None if not asked for.
    p_value, p_adjusted : ndarray of float, or None
        Probability of shares that are at least this far from additive if they are additive in every context, and the
        same after Benjamini and Hochberg's correction for the number of pairs; pairs that were passed over because of
        the labels count as well.
    effect_squares : tuple of int
        Squares that the effect rests on.
    effective_squares : ndarray of float
        How many independent squares these are worth (Kish's number). Intervals on less than 30 are rough.
    status : tuple of str
        ``"effect"`` (``p_adjusted`` is at most 1 - confidence), ``"unclear"`` (squares are broken, not significantly),
        ``"noise-unknown"`` (squares are broken, and no cell repeats to tell noise), ``"none-seen"`` (no square is
        broken) or ``"no-squares"``.
    contexts : tuple of str
        Features on which the rows of a square are equal, the two of the pair left out; all else is left to chance.
    contexts_reason : str
        Why these: ``"asked"``, ``"no-others"`` (there are only two), ``"enough-repeats"`` (all others: most rows are in
        squares with repeated cells), ``"no-noise"`` (all others: labels show no noise), ``"told-from-noise"`` (those
        that are told from noise and could mislead), ``"none-told"`` (no feature is told from noise), ``"independent"``
        (those that are are independent of the others, and cannot mislead), ``"none-fit"`` (rows are too few).
    left_out : tuple of str
        Features that could mislead and are not held equal, because there were not enough rows.
    n_ranked_rows : int or None
        Rows on which the relaxed index put features in order; None if it was not needed.
    names : tuple of str
        All features of the table.
    n_possible : int
        Pairs there are; ``pairs_reason`` says why not all were looked at: ``"top"`` (asked for) or ``"too-many"``.
    noise_index : float
        Index that labels drawn at random with the shares of these classes would have; .625 for a fair coin.
    label, classes, n_rows, notes
        As in :class:`analogical.Relevance`.

    Notes
    -----
    Intervals and p-values take rows as independent. Additive is meant in shares, not in odds: two features that
    multiply odds interact in shares, too. A pair that stands out is an association in these rows, not a mechanism.

    Examples
    --------
    >>> from analogical import interactions
    >>> found = interactions([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
    >>> found.squares, found.broken, found.effect.tolist(), found.status
    ((625,), (625,), [1.0], ('effect',))
    """

    names: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    squares: tuple[int, ...]
    broken: tuple[int, ...]
    index: Floats
    effect: Floats
    effect_squares: tuple[int, ...]
    effective_squares: Floats
    status: tuple[PairStatus, ...]
    contexts: tuple[str, ...]
    contexts_reason: ContextReason
    left_out: tuple[str, ...]
    n_ranked_rows: int | None
    n_possible: int
    pairs_reason: PairReason
    label: str
    classes: tuple[Any, ...]
    n_rows: int
    noise_index: float
    confidence: float | None
    effect_low: Floats | None = None
    effect_high: Floats | None = None
    p_value: Floats | None = None
    p_adjusted: Floats | None = None
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, pair: tuple[str, str]) -> dict[str, Any]:
        known = list(zip(self.first, self.second, strict=True))
        turned = pair[::-1] if isinstance(pair, tuple) else pair
        return self._record(entry_at(turned if turned in known else pair, known, "pair"))

    def order(self) -> Positions:
        """Positions of the pairs, strongest first; the order of :meth:`ranking`."""
        known = np.full(len(self), np.nan)
        return rank_pairs(
            self.effect,
            self.effect if self.effect_low is None else self.effect_low,
            self.index,
            known if self.p_value is None else self.p_value,
            np.array([status == "effect" for status in self.status], np.bool_),
            np.array([float(n) for n in self.squares]),
        )

    def ranking(self) -> list[tuple[str, str]]:
        """Pairs of features, strongest first.

        The order is total. First come pairs that are told from noise (status ``"effect"``), by the lower end of their
        effect; then pairs with a p-value, by it; then those without, by effect where it is known and by index
        otherwise. Ties are broken by p-value, by the number of squares, then by column order. An effect alone is no
        guide: it is larger by chance where cells are small.

        Examples
        --------
        >>> from analogical import interactions
        >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        >>> interactions(rows, [a ^ c for a, b, c in rows]).ranking()[0]
        ('x0', 'x2')
        """
        return [(self.first[k], self.second[k]) for k in self.order()]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Heat map or network of the pairs; see :func:`analogical.plotting.plot_interactions`."""
        from analogical.plotting import plot_interactions

        return plot_interactions(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per pair, strongest first."""
        return [self._record(int(k)) for k in self.order()]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; the pairs in column order."""
        whole = {name: json_ready(getattr(self, name)) for name in _ABOUT}
        return {**whole, "pairs": [self._record(k) for k in range(len(self))]}

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return _COLUMNS

    def _record(self, k: int) -> dict[str, Any]:
        """One pair in plain Python types; unknown numbers are None."""
        found = {}
        for name in _COLUMNS:
            array = getattr(self, name)
            found[name] = None if array is None else json_ready(array[k])
        return found


_COLUMNS = (
    "first",
    "second",
    "squares",
    "broken",
    "index",
    "effect",
    "effect_low",
    "effect_high",
    "p_value",
    "p_adjusted",
    "effect_squares",
    "effective_squares",
    "status",
)
_ABOUT = (
    "label",
    "classes",
    "n_rows",
    "names",
    "contexts",
    "contexts_reason",
    "left_out",
    "n_ranked_rows",
    "n_possible",
    "pairs_reason",
    "noise_index",
    "confidence",
    "notes",
)


def interactions(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    top: int | None = None,
    contexts: Any = "auto",
    missing: Missing = "value",
    bins: Bins = 5,
    max_values: int | None = 20,
    ids: Ids = "drop",
    bin_label: int | None = None,
    confidence: float | None = 0.95,
    random_state: Any = 0,
    progress: bool = False,
    feature_names: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Interactions:
    """Which features act together: how much what one does to the label depends on the other.

    Four rows that are equal but for two features, and take two values of each in all four combinations, are a square:
    a is to b as c is to d. The square is kept if the labels are in the same proportion, and broken otherwise.

    Parameters
    ----------
    X, y, weights, ignore, missing, bins, max_values, ids, bin_label, feature_names, n_jobs
        As in :func:`analogical.relevance`.
    features : names of columns, optional
        Features whose pairs are looked at; all if not given. Unlike in other functions the other columns stay in the
        table, because they may form contexts; ``ignore`` leaves columns out altogether.
    top : int, optional
        Look at pairs among so many features only, the best ones of the relaxed index. If not given, all pairs are
        looked at up to 5,000, and otherwise those among the best 100 features.
    contexts : {"auto", "all"}, int or names of columns
        On which features the rows of a square must be equal, besides the two: all others, the best ones of the relaxed
        index, or those that are named. ``"auto"`` takes all others if rows repeat enough, and otherwise those that are
        told from noise and go with other features, as many as the rows can fill. ``contexts_reason`` says why.
    confidence : float or None
        Level of the intervals, and 1 minus the level of the tests; None leaves out intervals and p-values.
    random_state : int, RandomState or None
        Seed of the rows on which the relaxed index orders the features of large tables.
    progress : bool
        Show on stderr how far long work is.

    Returns
    -------
    Interactions
        Squares, broken squares, index, effect, interval and p-value of every pair.

    Notes
    -----
    Squares are counted from the rows by value, value and label in each context; no square is ever made. The cost is one
    such table for each pair.

    Examples
    --------
    The label is the exclusive or of two features; a third one is noise:

    >>> from analogical import interactions
    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4
    >>> found = interactions(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"])
    >>> found["a", "b"]["index"], found["a", "b"]["effect"], found["a", "c"]["index"]
    (1.0, 1.0, 0.0)
    """
    level = check_confidence(confidence)
    table = encode_table(
        X,
        y,
        weights=weights,
        ignore=ignore,
        treatment=Treatment.of(missing, bins, max_values, ids, bin_label),
        feature_names=feature_names,
    )
    show = progress_line("looking at pairs of features") if progress else None
    search = PairSearch(table, level, seed_from(random_state), n_jobs, show)
    pool = search.varying if features is None else find_features(table, features, "features")
    return interactions_of(table, search, pool, top=top, contexts=contexts)


def interactions_of(
    table: EncodedTable, search: "PairSearch", pool: Sequence[int], *, top: int | None = None, contexts: Any = "auto"
) -> Interactions:
    """The road after encoding: which pairs, in which contexts, their squares, and what they say."""
    pairs, n_possible, pairs_reason = search.choose_pairs(pool, top)
    chosen = choose_contexts(search, pairs, contexts)
    sums = search.sum_pairs(pairs, chosen.features)
    return _assemble(table, search, pairs, sums, chosen, n_possible, pairs_reason)


def _assemble(
    table: EncodedTable,
    search: "PairSearch",
    pairs: Sequence[tuple[int, int]],
    sums: Sequence[SquareSums],
    chosen: "ChosenContexts",
    n_possible: int,
    pairs_reason: PairReason,
) -> Interactions:
    """The result from the sums of all pairs."""
    names, level = table.names, search.confidence
    p_value = p_adjusted = low = high = None
    if level is not None:
        p_value = np.array([found.p_value() for found in sums])
        passed_over = np.ones(n_possible - len(pairs))
        p_adjusted = adjust_for_features(np.append(p_value, passed_over))[: len(pairs)]
        low, high = np.array([found.interval(level) for found in sums]).reshape(-1, 2).T
    return Interactions(
        names=names,
        first=tuple(names[i] for i, _ in pairs),
        second=tuple(names[j] for _, j in pairs),
        squares=tuple(found.squares for found in sums),
        broken=tuple(found.broken for found in sums),
        index=np.array([found.index() for found in sums]),
        effect=np.array([found.effect() for found in sums]),
        effect_squares=tuple(found.effect_squares for found in sums),
        effective_squares=np.array([found.n_effective() for found in sums]),
        status=tuple(
            _status(found, math.nan if p_adjusted is None else float(p_adjusted[k]), level)
            for k, found in enumerate(sums)
        ),
        contexts=tuple(names[f] for f in chosen.features),
        contexts_reason=chosen.reason,
        left_out=tuple(names[f] for f in chosen.left_out),
        n_ranked_rows=search.n_ranked_rows,
        n_possible=n_possible,
        pairs_reason=pairs_reason,
        label=table.label,
        classes=table.classes,
        n_rows=table.coded.n_rows,
        noise_index=noise_index(np.bincount(search.rows.labels, search.rows.weights)),
        confidence=level,
        effect_low=low,
        effect_high=high,
        p_value=p_value,
        p_adjusted=p_adjusted,
        notes=table.notes,
        backend=table.backend,
    )


def _status(found: SquareSums, p_adjusted: float, confidence: float | None) -> PairStatus:
    """One word for a pair."""
    if not found.squares:
        return "no-squares"
    if confidence is not None and p_adjusted <= 1 - confidence:
        return "effect"
    if not found.broken:
        return "none-seen"
    return "unclear" if found.effect_squares else "noise-unknown"


def find_features(table: EncodedTable, given: Any, role: str) -> list[int]:
    """Places of features by names, patterns or positions, in column order."""
    names = Names([column.key if table.frame is not None else column.name for column in table.columns])
    aside = [name for note in table.notes if note.kind == "set-aside" for name in note.columns]
    places: set[int] = set()
    for name in as_list(given, role):
        if name in aside and names.find(name) is None:
            raise InputError(
                f"{role} names {name!r}, which was set aside because nearly every row has another value; keep it with"
                ' ids="keep" (--ids keep), or leave it out.'
            )
        places.update(names.find_all(name, role))
    return sorted(places)


# ---------------------------------------------------------------- which pairs, which contexts


@dataclass(frozen=True)
class ChosenContexts:
    """Features that form the contexts, and why."""

    features: tuple[int, ...]
    reason: ContextReason
    left_out: tuple[int, ...] = ()


class PairSearch:
    """The table in search of pairs; what the relaxed index says is computed once, when it is asked for."""

    def __init__(
        self,
        table: EncodedTable,
        confidence: float | None,
        seed: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.rows: CodedRows = merge_rows(table.coded)
        self.table = replace(
            table, codes=self.rows.codes, labels=self.rows.labels, weights=self.rows.weights, groups=None, origin=None
        )
        self.confidence = confidence
        self.seed = seed
        self.n_jobs = n_jobs
        self.progress = progress
        self.varying = np.flatnonzero(table.n_values > 1).tolist()
        self.n_ranked_rows: int | None = None
        self._ranking: list[int] | None = None

    @property
    def level(self) -> float:
        """Level of the tests."""
        return DEFAULT_LEVEL if self.confidence is None else 1 - self.confidence

    def sum_pairs(self, pairs: Sequence[tuple[int, int]], contexts: Sequence[int]) -> list[SquareSums]:
        """The sums of all pairs."""
        n_threads = n_threads_for(self.n_jobs, len(self.rows.codes) * len(pairs))
        return sum_pairs(self.rows, pairs, contexts, n_threads=n_threads, progress=self.progress)

    def choose_pairs(self, pool: Sequence[int], top: int | None) -> tuple[list[tuple[int, int]], int, PairReason]:
        """Pairs to look at, how many there are, and why not all."""
        varying = set(self.varying)
        features = [f for f in pool if f in varying]
        if len(features) < 2:
            raise InputError(
                f"Pairs need two features with two values or more, and there {'is' if len(features) == 1 else 'are'}"
                f" {len(features) or 'none'}; give more columns."
            )
        n_possible = len(features) * (len(features) - 1) // 2
        reason: PairReason = "all"
        if top is not None:
            top = check_whole("top", top, low=2, about=" (features)", other=", or None")
            reason = "top"
        elif n_possible > MAX_PAIRS:
            top, reason = BEST_FEATURES, "too-many"
        if top is None or top >= len(features):
            return list(combinations(features, 2)), n_possible, "all"
        return list(combinations(sorted(self.best(features, top)), 2)), n_possible, reason

    def ranking(self) -> list[int]:
        """Features in the order of the relaxed index."""
        if self._ranking is None:
            found = self._relaxed(self.table, RANKED_ROWS, None)
            self._ranking = [int(i) for i in found.order()]
        return self._ranking

    def best(self, features: Sequence[int], n: int) -> list[int]:
        """The n best of some features."""
        among = set(features)
        return [f for f in self.ranking() if f in among][:n]

    def told(self) -> tuple[list[int], set[int]]:
        """Features in the order of the relaxed index, and those that it tells from noise; of many, the best ones."""
        features = self.varying
        if len(features) > BEST_FEATURES:
            features = sorted(self.best(features, BEST_FEATURES))
        found = self._relaxed(self.table.select(features), TESTED_ROWS, 1 - self.level / N_LOOKS)
        told = {features[i] for i, status in enumerate(found.status) if status == "effect"}
        order = [features[i] for i in found.order().tolist()]
        tested = set(order)
        return [*order, *(f for f in self._ranking or [] if f not in tested)], told

    def _relaxed(self, table: EncodedTable, limit: int, confidence: float | None) -> Relevance:
        """The relaxed index, on a sample of large tables, which does not depend on the order of the rows."""
        some = _some_rows(table, limit, self.seed)
        self.n_ranked_rows = some.coded.n_rows
        return relevance_of(some, MemoryEngine(self.n_jobs), confidence=confidence, redundancies=False, seed=self.seed)


def choose_contexts(search: PairSearch, pairs: Sequence[tuple[int, int]], given: Any) -> ChosenContexts:
    """The features that form contexts, from what was asked for."""
    table, rows, varying = search.table, search.rows, search.varying
    if is_whole(given):
        n = check_whole("contexts", given, low=0, other=', "auto", "all" or a list of names')
        return ChosenContexts(tuple(sorted(search.best(varying, n) if n else ())), "asked")
    if not (isinstance(given, str) and given in ("auto", "all")):
        return ChosenContexts(tuple(find_features(table, given, "contexts")), "asked")
    if given == "all":
        return ChosenContexts(tuple(varying), "asked")
    reason = try_all_others(rows, pairs, varying)
    if reason is not None:
        return ChosenContexts(tuple(varying), reason)
    told = told_from_noise(rows, varying, pairs, search.sum_pairs(pairs, ()), search.level / N_LOOKS)
    order, beyond = search.told()
    if not told | beyond:
        return ChosenContexts((), "none-told")
    looked_at = sorted({f for pair in pairs for f in pair})
    misleading = dependent_features(rows, sorted(told), looked_at, search.level) | (beyond - told)
    if not misleading:
        return ChosenContexts((), "independent")
    fitting = features_that_fit(rows, [f for f in order if f in misleading], pairs)
    left_out = tuple(sorted(misleading - set(fitting)))
    return ChosenContexts(tuple(sorted(fitting)), "told-from-noise" if fitting else "none-fit", left_out)


def _some_rows(table: EncodedTable, limit: int, seed: int | None) -> EncodedTable:
    """The table, or so many of its rows drawn at random, each as often as its weight says."""
    weights = table.coded.weights_or_ones()
    n_rows = int(weights.sum())
    if n_rows <= limit or table.labels is None:
        return table
    rng = np.random.default_rng(seed)
    drawn = np.searchsorted(np.cumsum(weights), np.sort(rng.choice(n_rows, limit, replace=False)), side="right")
    return replace(table, codes=table.codes[drawn], labels=table.labels[drawn], weights=None, groups=None, origin=None)
