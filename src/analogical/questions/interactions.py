"""Which features act together: the share of broken squares, and the interaction effect of two features."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_confidence
from analogical._progress import Progress, progress_line, timed
from analogical._results import EntryResult, entry_at, per_entry
from analogical._types import Floats, Note, Positions
from analogical.arguments import check_given, study_of
from analogical.columns.choosing import Names, as_list
from analogical.columns.encode import TableMeaning
from analogical.columns.rules import ColumnOptions
from analogical.count.threads import n_threads_for
from analogical.errors import InputError
from analogical.estimate.deciding import SCREENED_COLUMNS, likely_pairs
from analogical.estimate.interactions import SquareSums, measure_pairs, noise_index, rank_pairs, sum_pairs
from analogical.estimate.status import Status, decide_status
from analogical.questions.relevance import DEFAULT_CONFIDENCE, Settings, settings_of
from analogical.study import Asked, Given, GivenColumns, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Interactions", "find_features", "interactions", "sums_given"]

MAX_PAIRS = 5_000
"""Up to this many pairs, all are tested: those of 100 features, about a second for 10,000 rows."""
FEWEST_SQUARES = 5.0
"""Effective number of squares that a pair needs, as a single feature needs five effective pairs. With fewer, the given
feature that says least about the two is not held fixed."""
TIED = 0.08
"""A given feature that explains at least this share of the entropy of one of the two is always held fixed. Without this
limit 44 of 210 pairs of mushroom's features, nearly all tied to its odor, were significant."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Interactions(EntryResult):
    """How much the effect of one feature depends on another, for pairs of features.

    ``result["a", "b"]`` is one pair as a dictionary, in either order; ``len(result)`` the number of pairs.

    Attributes
    ----------
    first, second : tuple of str
        The two features of each pair, in column order.
    status : tuple of str
        ``"effect"`` (``p_adjusted`` at most 1 - confidence), ``"none"`` (not significant, and the interval of the
        effect ends below 0.01), ``"unclear"`` (neither; also where nothing can be tested) or ``"same"`` (one of the
        two copies a given feature: see ``same_as``).
    squares, broken : tuple of int
        Sets of four rows that agree on the given features and have two values of each feature in all four
        combinations, and how many of them are broken: their labels do not form an analogical proportion.
    index : ndarray of float
        Share of broken squares, NaN without a square. Exact, but it includes noise: random labels with two equal
        classes break .625 of the squares.
    effect : ndarray of float
        Mean over the squares of the sum over labels of (p_a - p_b - p_c + p_d)^2 / 8, p being the share of a label in
        the four cells, minus noise: 1 for an exclusive or, 1/4 for a logical and, 0 where shares are additive in the
        two features. Estimates below 0 are 0; NaN where no square has repeated rows in all four cells.
    effect_low, effect_high : ndarray of float
        Interval of ``effect``. The lower end is above 0 only if ``p_value`` is at most 1 - confidence.
    p_value, p_adjusted : ndarray of float
        P-value of additive shares in every context, and the same after Benjamini-Hochberg adjustment for the number
        of pairs; pairs that were left out because of the labels count as well. NaN where nothing can be tested.
    given : tuple of tuples of str
        For each pair the features on which the rows of a square agree.
    same_as : tuple of str or None
        For each pair the given feature that one of the two copies; such a pair has no squares.
    effect_squares : tuple of int
        Squares that the effect is based on.
    effective_squares : ndarray of float
        Their effective number (Kish). Intervals based on fewer than 30 are rough.
    deciding : tuple of str
        The deciding set, if ``given="auto"``.
    names : tuple of str
        All features of the table.
    n_possible : int
        Number of all pairs; of more than 5,000 only the likely ones are tested.
    noise_index : float
        Index of random labels with these class shares; .625 for two equal classes.
    label, classes, n_rows, settings, notes
        As in :class:`analogical.Relevance`.

    Notes
    -----
    Intervals and p-values assume independent rows. Additive refers to shares, not odds: two features that multiply odds
    interact in shares too, and are significant in large tables. A significant pair is an association, not a mechanism.

    Examples
    --------
    >>> from analogical import interactions
    >>> result = interactions([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
    >>> result.squares, result.broken, result.effect.tolist(), result.status
    ((625,), (625,), [1.0], ('effect',))
    """

    ENTRIES = "pairs"

    names: tuple[str, ...]
    deciding: tuple[str, ...]
    n_possible: int
    label: str
    classes: tuple[Any, ...]
    n_rows: int
    noise_index: float
    settings: Settings
    notes: tuple[Note, ...] = ()
    first: tuple[str, ...] = per_entry()
    second: tuple[str, ...] = per_entry()
    status: tuple[Status, ...] = per_entry()
    effect: Floats = per_entry()
    effect_low: Floats = per_entry()
    effect_high: Floats = per_entry()
    p_value: Floats = per_entry()
    p_adjusted: Floats = per_entry()
    index: Floats = per_entry()
    squares: tuple[int, ...] = per_entry()
    broken: tuple[int, ...] = per_entry()
    effect_squares: tuple[int, ...] = per_entry()
    effective_squares: Floats = per_entry()
    given: tuple[tuple[str, ...], ...] = per_entry()
    same_as: tuple[str | None, ...] = per_entry()

    @property
    def backend(self) -> str | None:  # type: ignore[override]
        """Name of the dataframe library that the table came in."""
        return self.settings.backend

    def __getitem__(self, pair: tuple[str, str]) -> dict[str, Any]:
        known = list(zip(self.first, self.second, strict=True))
        turned = pair[::-1] if isinstance(pair, tuple) else pair
        return self.record(entry_at(turned if turned in known else pair, known, "pair"))

    def order(self) -> Positions:
        """Positions of the pairs, strongest first; the order of :meth:`ranking`."""
        squares = np.array([float(n) for n in self.squares])
        return rank_pairs(self.status, self.effect, self.effect_low, self.index, self.p_value, squares)

    def ranking(self) -> list[tuple[str, str]]:
        """Pairs of features, strongest first.

        The order is total. First come significant pairs (status ``"effect"``), by the lower end of their effect; then
        unclear pairs, then those without an effect, each by p-value; copies are last. Pairs without a p-value follow
        those with one, by effect where it is known and by index otherwise. Ties are broken by p-value, by the number of
        squares, then by column order. An effect alone is no guide: it is larger by chance where cells are small.

        Examples
        --------
        >>> from analogical import interactions
        >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        >>> interactions(rows, [a ^ c for a, b, c in rows]).ranking()[0]
        ('x0', 'x2')
        """
        return [(self.first[k], self.second[k]) for k in self.order()]

    def plot(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw how strongly features act together: a bar with its interval for each pair, best first.

        A bar is how much the effect of one feature differs with the other, in percentage points, as in the printed
        table; blue ones are significant, grey ones are not. On the right is the adjusted p-value, or the index where
        neither effect nor p-value is known. At most ``top`` pairs are shown, and never more than 20. Without ``ax``,
        a new figure is made.
        """
        from analogical.plot.interactions import plot_interactions

        return plot_interactions(self, ax, top=top)


def interactions(
    X: Any,
    y: Any = None,
    *,
    given: Given = "auto",
    confidence: float = DEFAULT_CONFIDENCE,
    progress: bool = False,
    n_jobs: int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Interactions:
    """Which features act together: how much the effect of one depends on the other.

    A square is four rows that agree on the given features and have two values of each of two features in all four
    combinations: a is to b as c is to d. It is kept if the labels are in the same proportion, and broken otherwise.

    Parameters
    ----------
    X, y, given, confidence, progress, n_jobs
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups``. Here ``features`` are those whose pairs are tested,
        of a study too; all by default. Unlike in other functions the other columns stay in the table, because rows may
        have to agree on them; ``ignore`` leaves columns out altogether.

    Returns
    -------
    Interactions
        Squares, broken squares, index, effect, interval and p-value of every pair, and its given features.

    Notes
    -----
    Up to 5,000 pairs are all tested. Of more, those within the deciding set, and those that best explain what the
    deciding set does not. Squares are counted from tables of values and label in each context, without enumerating
    them. The cost is one such table for each pair.

    Examples
    --------
    The label is the exclusive or of two features; a third one is noise:

    >>> from analogical import interactions
    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4
    >>> result = interactions(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"])
    >>> result["a", "b"]["index"], result["a", "b"]["effect"], result["a", "c"]["index"]
    (1.0, 1.0, 0.0)
    """
    wanted = columns.pop("features", None)
    with timed(progress):
        study = study_of(interactions, X, y, columns, without=("groups",), n_jobs=n_jobs)
    if study.n_groups is not None:
        raise InputError("interactions assumes independent rows, and this Study has groups; make one without them.")
    asked, confidence = check_given(given), check_confidence(confidence)
    pool = range(study.n_features) if wanted is None else find_features(study.table, wanted, "features")
    pairs, n_possible = _choose_pairs(study, pool)
    show = progress_line("looking at pairs of features") if progress else None
    sums, contexts = sums_given(study, pairs, asked, show)
    tests = measure_pairs(sums, n_possible, confidence)
    table, names = study.table, study.table.names
    is_copy = np.array([context.same_as is not None for context in contexts])
    return Interactions(
        names=names,
        first=tuple(names[i] for i, _ in pairs),
        second=tuple(names[j] for _, j in pairs),
        status=tuple(
            decide_status(is_constant=False, is_copy=copy, p_adjusted=p, high=high, level=1 - confidence)
            for copy, p, high in zip(is_copy.tolist(), tests.p_adjusted.tolist(), tests.high.tolist(), strict=True)
        ),
        squares=tuple(pair.squares for pair in sums),
        broken=tuple(pair.broken for pair in sums),
        index=np.array([pair.index() for pair in sums]),
        effect=tests.effect,
        effect_low=tests.low,
        effect_high=tests.high,
        p_value=tests.p_value,
        p_adjusted=tests.p_adjusted,
        given=tuple(study.names_of(context.columns) for context in contexts),
        same_as=tuple(study.name_of(context.same_as) for context in contexts),
        effect_squares=tuple(pair.effect_squares for pair in sums),
        effective_squares=np.array([pair.n_effective() for pair in sums]),
        deciding=study.names_of(study.deciding) if asked == "auto" else (),
        n_possible=n_possible,
        label=table.label,
        classes=table.classes,
        n_rows=study.n_rows,
        noise_index=noise_index(study.margins.label_sizes()),
        settings=settings_of(study, asked, confidence),
        notes=table.notes,
    )


def find_features(table: TableMeaning, given: Any, role: str) -> list[int]:
    """Positions of features that are given by names, patterns or positions, in column order."""
    names = Names(table.keys)
    places: set[int] = set()
    for name in as_list(given, role):
        if names.find(name) is None:
            table.refuse_set_aside(name, role)
        places.update(names.find_all(name, role))
    return sorted(places)


# ---------------------------------------------------------------- which pairs are tested


def _choose_pairs(study: Study, pool: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """Pairs to test, and the number of possible pairs."""
    features = [f for f in pool if study.margins.n_values[f] > 1]
    if len(features) < 2:
        raise InputError(
            f"Pairs need at least two features with two or more values, got {len(features)}; give more columns."
        )
    n_possible = len(features) * (len(features) - 1) // 2
    if n_possible <= MAX_PAIRS:
        return list(combinations(features, 2)), n_possible
    among = set(features)
    members = sorted({int(study.owner[c]) for c in study.deciding} & among)
    return sorted({*combinations(members, 2), *_likely_pairs(study, features)}), n_possible


def _likely_pairs(study: Study, features: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs that best explain what the deciding set leaves unexplained; only some of very many features are tried."""
    voting = study.decider.voting
    inside = [int(study.owner[c]) for c in study.deciding]
    screened = study.decider.screened(features, SCREENED_COLUMNS, first=inside)
    return likely_pairs(voting.rows, voting.follow(study.deciding), screened)


# ---------------------------------------------------------------- which features are given


def sums_given(
    study: Study, pairs: Sequence[tuple[int, int]], given: Asked, progress: Progress | None = None
) -> tuple[list[SquareSums], list[GivenColumns]]:
    """The sums over the squares of every pair, and the columns on which the rows of its squares agree.

    With ``"auto"`` these columns are the deciding set without the two, or fewer if there are too few squares.
    """
    contexts = [_given_of_pair(study, pair, given) for pair in pairs]
    sums, n_done_before = [SquareSums.none()] * len(pairs), 0
    is_copy = [context.same_as is not None for context in contexts]
    for merged in study.merged_by([(*pair, *context.columns) for pair, context in zip(pairs, contexts, strict=True)]):
        place = {column: k for k, column in enumerate(merged.columns)}
        n_threads = n_threads_for(study.n_jobs, len(merged.rows.codes) * len(merged.members))
        waiting = [k for k in merged.members if not is_copy[k]]
        while waiting:
            counted = sum_pairs(
                merged.rows,
                [(place[pairs[k][0]], place[pairs[k][1]]) for k in waiting],
                [sorted(place[c] for c in contexts[k].columns) for k in waiting],
                n_threads=n_threads,
                progress=None if progress is None else partial(_show_progress, progress, n_done_before, len(pairs)),
            )
            for k, pair_sums in zip(waiting, counted, strict=True):
                sums[k] = pair_sums
            if given != "auto":
                break
            with_few = [k for k in waiting if sums[k].n_effective() < FEWEST_SQUARES]
            fewer = {k: _without_the_least_tied(study, pairs[k], contexts[k].columns) for k in with_few}
            waiting = [k for k in with_few if len(fewer[k]) < len(contexts[k].columns)]
            for k in waiting:
                contexts[k] = GivenColumns(fewer[k])
        n_done_before += len(merged.members)
    return sums, contexts


def _show_progress(progress: Progress, n_before: int, n_pairs: int, n_done: int, _: int) -> None:
    """Show the progress over all pairs."""
    progress(n_before + n_done, n_pairs)


def _given_of_pair(study: Study, pair: tuple[int, int], given: Asked) -> GivenColumns:
    """The given columns of a pair before any is left out, or the feature that one of the two copies."""
    if given != "auto":
        return GivenColumns(
            tuple(c for c in study.positions_of(given) if c not in pair and study.margins.n_values[c] > 1)
        )
    for feature in pair:
        same_as = study.copied(feature, study.deciding)
        if same_as is not None:
            return GivenColumns((), same_as)
    return GivenColumns(tuple(c for c in study.deciding if int(study.owner[c]) not in pair))


def _without_the_least_tied(study: Study, pair: tuple[int, int], columns: tuple[int, ...]) -> tuple[int, ...]:
    """The columns without the one that says least about both features; of ties, without the last.

    All of them, if each says much about one of the two: if it were not held fixed, it could look like an interaction.
    """
    left = {c: min(study.entropy_left(feature, c) for feature in pair) for c in reversed(columns)}
    least_tied = max(left, key=lambda c: left[c], default=None)
    return tuple(c for c in columns if c != least_tied or left[c] <= 1 - TIED)
