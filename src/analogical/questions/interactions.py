"""Which features act together: the interaction effect of two features, the share of broken squares, and rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_confidence
from analogical._progress import Progress, progress_line, timed
from analogical._results import Result, entry_at, json_ready, per_entry
from analogical._types import Floats, Ints, Note, Positions
from analogical.columns.columns import plain
from analogical.columns.encode import EncodedTable
from analogical.columns.roles import Names, as_list
from analogical.columns.rules import ColumnOptions
from analogical.count.groups import count_cells
from analogical.count.listing import find_squares
from analogical.count.threads import n_threads_for
from analogical.errors import InputError
from analogical.estimate.interactions import (
    SquareSums,
    clearest_squares,
    mean_numbers,
    noise_index,
    rank_pairs,
    sum_pairs,
)
from analogical.estimate.status import Status, decide_status
from analogical.estimate.tests import adjust_for_features
from analogical.explain import GivenColumns
from analogical.questions.evidence import ExampleRows, name_examples
from analogical.questions.relevance import DEFAULT_CONFIDENCE, Settings, settings_of
from analogical.study import Asked, Given, Study, check_given, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_PAIRS = 5_000
"""Up to this many pairs, all are tested: those of 100 features, about a second for 10,000 rows."""
FEWEST_SQUARES = 5.0
"""Effective number of squares that a pair needs, as a single feature needs five effective pairs. With fewer, the given
feature that says least about the two is not held fixed."""
TIED = 0.08
"""A given feature that explains at least this share of the entropy of one of the two is always held fixed. Without this
limit 44 of 210 pairs of mushroom's features, nearly all tied to its odor, were significant."""
MAX_EXAMPLES = 4
"""Squares that are shown of a pair."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Interaction(Result):
    """Two features together: label shares, or means, by their values, and rows that show the interaction.

    ``pair["effect"]``, and so on, are the numbers of the pair as in :class:`analogical.Interactions`.

    Examples
    --------
    >>> from analogical import interactions
    >>> pair = interactions([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)["x0", "x1"]
    >>> pair["effect"], pair.shares(1).tolist(), pair.examples[0].rows
    (1.0, [[0.0, 1.0], [1.0, 0.0]], (0, 2, 1, 3))
    """

    first: str
    second: str
    label: str
    first_values: tuple[Any, ...]
    second_values: tuple[Any, ...]
    classes: tuple[Any, ...]
    """The values of the label; none if it is a number."""
    counts: Ints
    """Rows of the whole table, of shape (first values, second values, classes); :meth:`shares` divides them. A label
    that is a number has a single place."""
    means: Floats | None
    """Mean of a label that is a number, as it is compared, by the values of both features; NaN where there is no row.
    Of the mean logarithm its number, of classes in order their mean place, from 0."""
    numbers: dict[str, Any]
    """The entry of the pair: status, effect, interval, p-value, squares, given features, and so on."""
    examples: tuple[ExampleRows, ...]
    """Up to four broken squares, in turn from each context, the most frequent first. Of a number, those of the values
    with the clearest difference of differences, of each context rows near the means. The rows have the values (u, v),
    (u', v), (u, v'), (u', v') of the two features and agree on the given features."""
    settings: Settings
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return self.counts.size

    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns of ``to_frame``: a label that is a number has a mean, others a share for each class."""
        return "first_value", "second_value", *(("label", "rows", "share") if self.means is None else ("rows", "mean"))

    def __getitem__(self, name: str) -> Any:
        return list(self.numbers.values())[entry_at(name, self.numbers, "number")]

    def shares(self, label: Any) -> Any:
        """Shares of a label by the values of both features, as an array; NaN where there is no row."""
        if self.means is not None:
            raise InputError(f"The label {self.label!r} is compared as a number and has no shares; see means.")
        rows = self.counts.sum(axis=2)
        held = self.counts[:, :, entry_at(label, self.classes, "class")]
        return np.where(rows > 0, held / np.maximum(rows, 1), np.nan)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each combination of values and label: its rows, and their share of the combination.

        Of a label that is a number, one for each combination of values: its rows, and their mean.
        """
        names, rows = self.columns(), self.counts.sum(axis=2).tolist()
        found: list[dict[str, Any]] = []
        for (u, v, k), n in zip(np.ndindex(self.counts.shape), self.counts.ravel().tolist(), strict=True):
            values = json_ready(self.first_values[u]), json_ready(self.second_values[v])
            share = json_ready(n / rows[u][v] if rows[u][v] else None)
            rest = [json_ready(self.classes[k]), n, share] if self.means is None else [n, json_ready(self.means[u, v])]
            found.append(dict(zip(names, [*values, *rest], strict=True)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; NaN becomes None."""
        content = super().to_dict()
        return {**content.pop("numbers"), **content}

    def plot(self, ax: "Axes | None" = None, *, label: Any = None) -> "Axes":
        """Draw label shares, or means, by the values of both features, with the number of rows; larger ones are darker.

        ``label`` is the class to show; by default the second of two, or of more the one whose share differs most. The
        12 most frequent values of each feature are shown.
        """
        from analogical.plot.figures import plot_interaction

        return plot_interaction(self, ax, label=label)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Interactions(Result):
    """How much the effect of one feature depends on another, for pairs of features.

    ``result["a", "b"]`` is one pair, in either order: an :class:`analogical.Interaction` with the numbers of the pair,
    a table of label shares or means and example rows, for which the table is looked at again; :meth:`records` has the
    numbers of all pairs. ``len(result)`` is their number.

    The main fields, with one item per pair:

    - ``first``, ``second``: the two features
    - ``status``: ``"effect"``, ``"none"``, ``"unclear"`` or ``"same"``
    - ``effect``, ``effect_low``, ``effect_high``: 1 for an exclusive or, 0 for additive shares, with the interval; of
      a label that is a number, in its squared unit
    - ``p_value``, ``p_adjusted``: of additive shares or means; adjusted for the number of pairs
    - ``squares``, ``broken``: the paper's counts

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
    """All features of the table."""
    deciding: tuple[str, ...]
    """The deciding set, if ``given="auto"``."""
    n_possible: int
    """Number of all pairs; of more than 5,000 only the likely ones are tested."""
    label: str
    classes: tuple[Any, ...]
    """The values of the label; none if it is a number."""
    n_rows: int
    noise_index: float
    """Index of random labels with these class shares: .625 for two equal classes, NaN for numbers."""
    settings: Settings
    notes: tuple[Note, ...] = ()
    study: Study | None = field(compare=False)
    """The table, for the shares and rows of a pair; None in copies of a result whose rows are held by an engine."""
    first: tuple[str, ...] = per_entry()
    """One feature of each pair, the earlier column; ``second`` is the other."""
    second: tuple[str, ...] = per_entry()
    status: tuple[Status, ...] = per_entry()
    """``"effect"`` (``p_adjusted`` at most 1 - confidence), ``"none"`` (not significant, and ``effect_high`` at most
    ``settings.negligible``), ``"unclear"`` (neither; also where nothing can be tested) or ``"same"`` (see
    ``same_as``)."""
    effect: Floats = per_entry()
    """Mean over the squares of the sum over labels of (p_a - p_b - p_c + p_d)^2 / 8, p being the share of a label in
    the four cells, minus noise: 1 for an exclusive or, 1/4 for a logical and, 0 where shares are additive in the two
    features. For numbers (m_a - m_b - m_c + m_d)^2 / 4 with means m: twice the root is by how much the effect of one
    feature differs with the other. Estimates below 0 are 0; NaN where no square has repeated rows in all four cells."""
    effect_low: Floats = per_entry()
    """Lower end of the interval of ``effect``; above 0 only if ``p_value`` is at most 1 - confidence."""
    effect_high: Floats = per_entry()
    p_value: Floats = per_entry()
    """P-value of additive shares or means in every context; NaN where nothing can be tested."""
    p_adjusted: Floats = per_entry()
    """The same adjusted for the number of pairs by Holm's method; pairs that were left out because of the labels count
    as well."""
    index: Floats = per_entry()
    """Share of broken squares, NaN without a square. Exact, but it includes noise: random labels with two equal classes
    break .625 of the squares. NaN for numbers."""
    squares: tuple[int, ...] = per_entry()
    """Sets of four rows that agree on the given features and have two values of each feature in all four combinations.
    """
    broken: tuple[int | None, ...] = per_entry()
    """How many of them are broken: their labels do not form an analogical proportion. None for numbers."""
    effect_squares: tuple[int, ...] = per_entry()
    """Squares that the effect is based on."""
    effective_squares: Floats = per_entry()
    """Their effective number (Kish). Intervals based on fewer than 30 are rough."""
    given: tuple[tuple[str, ...], ...] = per_entry()
    """For each pair the features on which the rows of a square agree."""
    same_as: tuple[str | None, ...] = per_entry()
    """For each pair the given feature that one of the two copies; such a pair has no squares."""

    def __getitem__(self, pair: tuple[str, str]) -> Interaction:
        return describe_pair(self, pair, MAX_EXAMPLES)

    def __contains__(self, pair: object) -> bool:
        known = set(zip(self.first, self.second, strict=True))
        return isinstance(pair, tuple) and (pair in known or pair[::-1] in known)

    def __getstate__(self) -> dict[str, Any]:
        is_in_memory = self.study is not None and self.study.source is None
        return {**vars(self), "study": self.study if is_in_memory else None}

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
        """
        return [(self.first[k], self.second[k]) for k in self.order()]

    def plot(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw how strongly features act together: a bar with its interval for each pair, best first.

        A bar is how much the effect of one feature differs with the other, in percentage points or the unit of the
        label; blue ones are significant, grey ones are not. On the right is the adjusted p-value, or the index where
        neither effect nor p-value is known. At most ``top`` pairs are shown, up to 20.
        """
        from analogical.plot.figures import plot_interactions

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
    combinations: a is to b as c is to d. It is kept if the labels are in the same proportion, and broken otherwise. Of
    a label that is a number the effect is how much the difference between a and b differs from that between c and d.

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
    deciding set does not. The cost is one table of values and label for each pair.

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
    sums, contexts = _sums_given(study, pairs, asked, show)
    p_value = np.array([pair.p_value() for pair in sums])
    # All possible pairs count in the adjustment, also those that were left out because of the labels
    p_adjusted = adjust_for_features(np.append(p_value, np.ones(n_possible - len(sums))))[: len(sums)]
    # the effects of numbers are shares of their squared range
    largest = 1.0 if study.scale is None else float(np.ptp(study.scale.scores)) ** 2
    low, high = largest * np.array([pair.interval(confidence) for pair in sums]).reshape(-1, 2).T
    table, names, settings = study.table, study.table.names, settings_of(study, asked, confidence)
    return Interactions(
        names=names,
        first=tuple(names[i] for i, _ in pairs),
        second=tuple(names[j] for _, j in pairs),
        status=tuple(
            decide_status(
                is_constant=False,
                is_copy=context.same_as is not None,
                p_adjusted=p,
                high=end,
                level=1 - confidence,
                negligible=settings.negligible,
            )
            for context, p, end in zip(contexts, p_adjusted.tolist(), high.tolist(), strict=True)
        ),
        squares=tuple(pair.squares for pair in sums),
        broken=tuple(pair.broken if study.scale is None else None for pair in sums),
        index=np.array([pair.index() if study.scale is None else math.nan for pair in sums]),
        effect=largest * np.array([max(pair.effect(), 0.0) if pair.effect_squares else math.nan for pair in sums]),
        effect_low=np.where(np.isnan(low) | (p_value <= 1 - confidence), low, 0.0),
        effect_high=high,
        p_value=p_value,
        p_adjusted=p_adjusted,
        given=tuple(study.names_of(context.columns) for context in contexts),
        same_as=tuple(study.name_of(context.same_as) for context in contexts),
        effect_squares=tuple(pair.effect_squares for pair in sums),
        effective_squares=np.array([pair.n_effective() for pair in sums]),
        deciding=study.names_of(study.explanation.columns) if asked == "auto" else (),
        n_possible=n_possible,
        label=table.label,
        classes=study.classes,
        n_rows=study.n_rows,
        noise_index=noise_index(study.label_sizes) if study.scale is None else math.nan,
        settings=settings,
        notes=study.search_notes if asked == "auto" else study.notes,
        study=study,
    )


def find_features(table: EncodedTable, given: Any, role: str) -> list[int]:
    """Positions of features that are given by names, patterns or positions, in column order."""
    names = Names(table.keys)
    places: set[int] = set()
    for name in as_list(given, role):
        if names.find(name) is None:
            table.refuse_set_aside(name, role)
        places.update(names.find_all(name, role))
    return sorted(places)


def describe_pair(result: Interactions, pair: tuple[str, str], limit: int) -> Interaction:
    """One pair of a result, with at most ``limit`` examples; without examples no squares are counted again."""
    known = list(zip(result.first, result.second, strict=True))
    turned = pair[::-1] if isinstance(pair, tuple) else pair
    k = entry_at(turned if turned in known else pair, known, "pair")
    if result.study is None:
        raise InputError("This copy of a result does not hold its table; ask interactions again.")
    study, table, names = result.study, result.study.table, known[k]
    i, j = (result.names.index(name) for name in names)
    examples: tuple[ExampleRows, ...] = ()
    if (result.broken[k] or (study.scale is not None and result.squares[k])) and limit:
        _, (context,) = _sums_given(study, [(i, j)], result.settings.given)
        listed = study.listed([i, j], context.columns)
        all_found = find_squares(listed) if study.scale is None else clearest_squares(listed, study.scale.scores, limit)
        found = list(islice(all_found, limit))
        times, squares = [n for n, _ in found], [four for _, four in found]
        examples = name_examples(study, [i, j], context.columns, listed, squares, times)
    rows, means = study.rows_of([i, j]), None
    if study.scale is None:
        counts = count_cells(rows, [0, 1])
    else:
        n, means = mean_numbers(rows, study.scale.scores)
        counts, means = n[..., None], np.exp(means) if study.scale.kind == "log" else means
    return Interaction(
        first=names[0],
        second=names[1],
        label=result.label,
        first_values=tuple(plain(value) for value in table.columns[i].values),
        second_values=tuple(plain(value) for value in table.columns[j].values),
        classes=result.classes,
        counts=counts,
        means=means,
        numbers=result.record(k),
        examples=examples,
        settings=result.settings,
        notes=result.notes,
    )


# ---------------------------------------------------------------- which pairs are tested


def _choose_pairs(study: Study, pool: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """Pairs to test, and the number of possible pairs."""
    features = [f for f in pool if study.table.n_values[f] > 1]
    if len(features) < 2:
        raise InputError(
            f"Pairs need at least two features with two or more values, got {len(features)}; give more columns."
        )
    n_possible = len(features) * (len(features) - 1) // 2
    if n_possible <= MAX_PAIRS:
        return list(combinations(features, 2)), n_possible
    among = set(features)
    members = sorted({int(study.owner[c]) for c in study.explanation.columns} & among)
    tried = [f for f in features if f in study.decider.screened[2]]
    likely = study.explanation.likely(tried)  # they best explain what the deciding set leaves of the label
    return sorted({*combinations(members, 2), *((i, j) for _, (i, j) in likely)}), n_possible


# ---------------------------------------------------------------- which features are given


def _sums_given(
    study: Study, pairs: Sequence[tuple[int, int]], given: Asked, progress: Progress | None = None
) -> tuple[list[SquareSums], list[GivenColumns]]:
    """The sums over the squares of every pair, and the columns on which the rows of its squares agree.

    With ``"auto"`` these columns are the deciding set without the two, or fewer if there are too few squares.
    """
    contexts = [_given_of_pair(study, pair, given) for pair in pairs]
    sums, n_before = [SquareSums()] * len(pairs), 0
    is_copy = [context.same_as is not None for context in contexts]

    def show_more(n_done: int, _: int) -> None:
        if progress is not None:
            progress(n_before + n_done, len(pairs))

    for merged in study.merged_by([(*pair, *context.columns) for pair, context in zip(pairs, contexts, strict=True)]):
        place = {column: k for k, column in enumerate(merged.columns)}
        n_threads = n_threads_for(study.n_jobs, len(merged.rows.codes) * len(merged.members))
        waiting = [k for k in merged.members if not is_copy[k]]
        while waiting:
            counted = sum_pairs(
                merged.rows,
                [(place[pairs[k][0]], place[pairs[k][1]]) for k in waiting],
                [sorted(place[c] for c in contexts[k].columns) for k in waiting],
                None if study.scale is None else study.scale.scores,
                n_threads=n_threads,
                progress=show_more,
            )
            for k, pair_sums in zip(waiting, counted, strict=True):
                sums[k] = pair_sums
            if given != "auto":
                break
            with_few, waiting = [k for k in waiting if sums[k].n_effective() < FEWEST_SQUARES], []
            for k in with_few:
                # The column that says least about both features is left out; of ties, the last. If each says much about
                # one of the two, all stay: a column that is not held fixed could look like an interaction.
                columns = contexts[k].columns
                left = {c: min(study.entropy_left(feature, c) for feature in pairs[k]) for c in reversed(columns)}
                least_tied = max(left, key=lambda c: left[c], default=None)
                if least_tied is not None and left[least_tied] > 1 - TIED:
                    contexts[k] = GivenColumns(tuple(c for c in columns if c != least_tied))
                    waiting.append(k)
        n_before += len(merged.members)
    return sums, contexts


def _given_of_pair(study: Study, pair: tuple[int, int], given: Asked) -> GivenColumns:
    """The given columns of a pair before any is left out, or the feature that one of the two copies."""
    if given != "auto":
        return GivenColumns(
            tuple(c for c in study.positions_of(given) if c not in pair and study.table.n_values[c] > 1)
        )
    for feature in pair:
        same_as = study.copied(feature, study.explanation.columns)
        if same_as is not None:
            return GivenColumns((), same_as)
    return GivenColumns(tuple(c for c in study.explanation.columns if int(study.owner[c]) not in pair))
