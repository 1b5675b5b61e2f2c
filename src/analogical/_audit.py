"""The all-else-equal audit: which value of a feature gains which label, by how much, and how sure.

For two values a and b and one label, a context holds n_a rows of a and n_b rows of b. Its n_a n_b pairs
compare rows that are equal on everything else. The effect is the mean over all pairs of (b has the label) -
(a has the label). Its interval leaves out one row at a time, because a row sits in many pairs. The test
deals the labels of each context to its rows at random: with one row of each value in a context it is
McNemar's exact test of gained against lost, with more rows it stays exact, while McNemar's test on all pairs would
count every row many times.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._encoding import EncodedTable, encode_table
from analogical._evidence import Evidence, find_pairs, first_rows, json_value, name_pairs
from analogical._originals import Originals, find_feature, keep_columns, plain
from analogical._presenting import aligned, counted, listed, p_value, percent, shortened, wrapped
from analogical._relevance import NoiseFloor, check_confidence
from analogical._uncertainty import (
    Cells,
    Grouped,
    collapse_cells,
    corrected_variance,
    group_by_context,
    jackknife_variance,
    noise_interval,
    pair_interval,
    pearson_tail,
    permutation_p_value,
)
from analogical.errors import InputError

__all__ = ["Audit", "Effect", "audit", "difference_interval", "exact_test"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_WORK = 10**9
"""The test adds up all possible outcomes as long as that takes fewer steps than this."""
NEGLIGIBLE = 46.0
"""Outcomes of a context that are e^46 (about 10^20) times less likely than its likeliest one are left out."""
MAX_COMPARISONS = 300
"""Two values are compared for at most so many twos of values, those with the most pairs."""
MAX_TABLE = 30
"""Lines of a table of effects that are printed."""


@dataclass(frozen=True)
class Effect:
    """How much more often one value has a label than another, in pairs that are equal but for that."""

    values: tuple[Any, Any]
    """The two values compared, the one that occurs first in the table first."""
    label: Any
    """The label that is followed."""
    pairs: int
    changed: int
    """Pairs whose labels differ, in whatever way."""
    gained: int
    """Pairs in which the second value has the label and the first one has not."""
    lost: int
    """Pairs in which the first value has the label and the second one has not."""
    difference: float
    """(gained - lost) / pairs: how much more often the second value has the label; -1 to 1."""
    ci_low: float
    ci_high: float
    p_value: float
    """Exact chance of a result this far from even if the feature did nothing; 1 if no other was possible."""
    p_adjusted: float
    """The same after Holm's correction for all effects of the audit."""
    smallest_p: float
    """The smallest p-value that these rows could have given, whatever their labels did."""
    crude: float
    """The difference before like is compared with like: between all rows of the two values."""


@dataclass(frozen=True)
class Audit:
    """What changes with one feature when all else is equal.

    Attributes
    ----------
    feature, label : str
        The feature audited, and the label that may change with it.
    given : tuple of str
        The features on which compared rows are equal.
    classes : tuple
        The label's classes.
    n_rows, n_compared : int
        All rows, and those that sit in at least one pair.
    n_pairs, n_changed : int
        Pairs of rows that differ on the feature alone, and those whose labels differ.
    share, ci_low, ci_high : float
        The index: n_changed / n_pairs, with its interval; NaN without pairs.
    p_value : float
        Chance that noise alone sets the values as far apart in any direction, as in
        :class:`analogical.Relevance`; NaN if unknown.
    noise : NoiseFloor
        How often rows that are equal on the feature and on everything given differ in label.
    effects : tuple of Effect
        For every two values; with two classes one label is followed, with more every one.
    n_comparisons : int
        How many effects there could be; more than ``effects`` if only the comparisons with the most
        pairs were made.
    examples : Evidence
        Some of the pairs.
    confidence : float
        Level of the intervals.
    """

    feature: str
    label: str
    given: tuple[str, ...]
    classes: tuple[Any, ...]
    n_rows: int
    n_compared: int
    n_pairs: int
    n_changed: int
    share: float
    ci_low: float
    ci_high: float
    p_value: float
    noise: NoiseFloor
    effects: tuple[Effect, ...]
    n_comparisons: int
    examples: Evidence
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; unknown numbers are None."""
        content = {name: _known(value) for name, value in vars(self).items() if name not in _NESTED}
        effects = [{name: _known(value) for name, value in vars(effect).items()} for effect in self.effects]
        for effect in effects:
            effect["values"] = [json_value(value) for value in effect["values"]]
            effect["label"] = json_value(effect["label"])
        return {
            **content,
            "given": list(self.given),
            "classes": [json_value(value) for value in self.classes],
            "noise": asdict(self.noise),
            "effects": effects,
            "examples": self.examples.to_dict()["pairs"],
            "conclusion": self.conclusion(),
        }

    def conclusion(self) -> str:
        """What can be said about the direction, in a sentence or two."""
        if self.n_pairs == 0:
            return (
                f"Nothing can be said: no two rows are equal on {self._given()} and differ on {self.feature!r}."
                " Name fewer columns with given, or leave out more with ignore."
            )
        level = 1 - self.confidence
        testable = [effect for effect in self.effects if effect.smallest_p < level]
        if not testable:
            return (
                f"Too few pairs to tell: whatever the labels of these {counted(self.n_compared, 'row')} had done, no"
                f" direction could have been told from chance (p below {level:.2g})."
            )
        certain = [effect for effect in testable if effect.p_adjusted < level]
        if not certain:
            mixed = (
                f" The values do differ in some contexts, in one direction or the other ({p_words(self.p_value)})."
                if self.p_value < level
                else ""
            )
            return f"No direction can be told from chance; the interval shows what is still possible.{mixed}"
        if len(self.effects) == 1:
            effect = certain[0]
            return f"{_gainer(effect)} gains {effect.label!r}: this direction is not chance."
        strongest = max(certain, key=lambda effect: abs(effect.difference))
        return (
            f"{len(certain)} of {counted(len(self.effects), 'comparison')} have a direction that is not chance; the"
            f" largest: {_gainer(strongest)} gains {strongest.label!r} on {_loser(strongest)}, by"
            f" {100 * abs(strongest.difference):.1f} points."
        )

    def sentences(self) -> list[str]:
        """The audit in plain words, one paragraph after the other."""
        if self.n_pairs == 0:
            return [self.conclusion()]
        noise = self.noise
        words = [
            f"{counted(self.n_pairs, 'pair')} of rows are equal on {self._given()} and differ on {self.feature!r}"
            f" ({self.n_compared:,} of {counted(self.n_rows, 'row')} sit in one).",
            f"In {percent(self.share)} of the pairs ({percent(self.ci_low)} to {percent(self.ci_high)})"
            f" {self.label!r} differs; "
            + (
                "how often it differs by noise alone is unknown, because no row repeats."
                if noise.rate is None or noise.ci_low is None or noise.ci_high is None
                else f"between identical rows it differs in {percent(noise.rate)} ({percent(noise.ci_low)} to"
                f" {percent(noise.ci_high)})."
            ),
        ]
        if len(self.effects) == 1:
            effect = self.effects[0]
            a, b = (shortened(str(value)) for value in effect.values)
            words += [
                f"All else equal, {b} has {effect.label!r} {_points(effect.difference)} than {a}"
                f" ({100 * effect.ci_low:+.1f} to {100 * effect.ci_high:+.1f}): {b} gains it in"
                f" {counted(effect.gained, 'pair')} and loses it in {effect.lost:,}; {p_words(effect.p_value)}.",
                f"Over all rows, like or unlike, {b} has it {_points(effect.crude)}.",
            ]
        return [*words, self.conclusion()]

    def table(self) -> list[tuple[str, ...]]:
        """The effects as rows of words, headings first; the largest differences first if they are many."""
        effects = (
            sorted(self.effects, key=lambda e: -abs(e.difference)) if len(self.effects) > MAX_TABLE else self.effects
        )
        rows: list[tuple[str, ...]] = [("from", "to", "label", "pairs", "gained", "lost", "points", "interval", "p")]
        for effect in effects[:MAX_TABLE]:
            a, b = (shortened(str(value), 16) for value in effect.values)
            low, high = 100 * effect.ci_low, 100 * effect.ci_high
            rows.append(
                (
                    a,
                    b,
                    shortened(str(effect.label), 12),
                    f"{effect.pairs:,}",
                    f"{effect.gained:,}",
                    f"{effect.lost:,}",
                    f"{100 * effect.difference:+.1f}",
                    f"{low:+.1f} {high:+.1f}",
                    p_value(effect.p_adjusted),
                )
            )
        return rows

    def table_note(self) -> str:
        """How to read the table of effects."""
        note = (
            "points: how much more often the second value has the label, in per cent of the pairs; p: McNemar's test"
            f" for groups, corrected for {counted(len(self.effects), 'comparison')} (Holm)."
        )
        if self.n_comparisons > len(self.effects):
            note += f" Of {self.n_comparisons:,} comparisons those with the most pairs were made."
        if len(self.effects) > MAX_TABLE:
            rest = len(self.effects) - MAX_TABLE
            note += f" The {MAX_TABLE} largest are shown; to_dict() and --json have the other {rest:,}."
        return note

    def __repr__(self) -> str:
        parts = [self.headline(), *(wrapped(sentence) for sentence in self.sentences())]
        if len(self.effects) > 1:
            parts[-1:-1] = [*aligned(self.table(), TABLE_LEFT), wrapped(self.table_note())]
        if self.examples.pairs:
            parts += ["", *repr(self.examples).split("\n")[_headline_height(self.examples) :]]
        return "\n".join([*parts, "", CAVEAT])

    def headline(self) -> str:
        """What is audited, in one line."""
        return f"Audit of {self.feature!r} for {self.label!r}, all else equal"

    def _given(self) -> str:
        if not self.given:
            return "no feature at all"
        if len(self.given) > 6:
            return f"the {len(self.given)} other features"
        return listed(self.given)


TABLE_LEFT = (True, True, True, False, False, False, False, False, False)
CAVEAT = "This is association under equal recorded features, not proof of cause."
_NESTED = ("given", "classes", "noise", "effects", "examples")


def audit(
    X: Any,
    y: Any,
    feature: str | int,
    *,
    given: Sequence[str] | str | None = None,
    ignore: Sequence[str] | str | None = None,
    weights: Any = None,
    confidence: float = 0.95,
    limit: int = 4,
    feature_names: Sequence[str] | None = None,
) -> Audit:
    """What changes with one feature when all else is equal, in which direction, and how sure that is.

    Parameters
    ----------
    X, y, weights, feature_names
        As in :func:`analogical.relevance`.
    feature : str or int
        Name or position of the feature to audit.
    given : names of columns, optional
        Rows are compared if they are equal on these columns; all but the feature if not given.
    ignore : names of columns, optional
        Columns that do not define "equal", such as ids and time stamps; instead of ``given``.
    confidence : float
        Level of the intervals, and 1 minus the level of the tests.
    limit : int
        How many example pairs to keep; of two values and two classes, as many of each direction.

    Returns
    -------
    Audit
        Pairs, changed pairs, effects with intervals and exact tests, and example pairs.

    Notes
    -----
    The interval takes rows as the unit of uncertainty, because a row sits in many pairs: a jackknife over
    rows gives the number of independent pairs that the data are worth, and Agresti and Min's interval for
    matched pairs is taken on that number. The test is McNemar's exact test in its form for
    groups of several rows: the labels of each context are dealt to its rows at random.

    Equal means equal on the recorded columns. A difference that remains is an association: something not
    recorded may be behind it.

    Examples
    --------
    In 1973 Berkeley admitted 45 % of the men and 30 % of the women who applied to its six largest
    departments. Within departments the difference is gone:

    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> effect = result.effects[0]
    >>> effect.values, effect.label, round(effect.crude, 3), round(effect.difference, 3), round(effect.p_value, 3)
    (('male', 'female'), 'yes', -0.142, 0.023, 0.145)
    """
    check_confidence(confidence)
    if confidence is None:
        raise InputError("confidence must be a number between 0 and 1 for an audit, such as 0.95, got None.")
    if not isinstance(limit, int | np.integer) or isinstance(limit, bool) or limit < 0:
        raise InputError(f"limit must be a whole number from 0, got {limit!r}.")
    if isinstance(feature, int | np.integer) and (given is not None or ignore is not None):
        raise InputError("feature must be a name when given or ignore choose columns by name.")
    X, feature_names = keep_columns(X, y, weights, feature, given, ignore, feature_names)
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    i = find_feature(feature, table.names)
    originals = Originals(X, y, weights, table)
    cells = collapse_cells(table.codes, table.labels, table.n_values, table.weights)
    grouped = group_by_context(cells, i)
    row_weights = cells.weights[grouped.order]
    n_pairs, n_changed = (int((row_weights * n).sum()) // 2 for n in (grouped.pairs, grouped.changed))
    low = high = share = p = math.nan
    if n_pairs:
        share = n_changed / n_pairs
        _, low, high = pair_interval(n_pairs, n_changed, grouped.pairs, grouped.changed, row_weights, confidence)
        p = permutation_p_value(cells, grouped)
    n_identical = int((cells.weights * (cells.row_sizes - 1)).sum()) // 2
    n_contradictions = int((cells.weights * (cells.row_sizes - cells.weights)).sum()) // 2
    noise = NoiseFloor(None)
    if n_identical:
        noise = NoiseFloor(n_contradictions / n_identical, *noise_interval(cells, confidence))
    effects, n_comparisons = _effects(table, i, cells, grouped, originals, confidence)
    return Audit(
        feature=table.names[i],
        label=table.label,
        given=tuple(name for j, name in enumerate(table.names) if j != i),
        classes=tuple(plain(value) for value in table.classes),
        n_rows=int(cells.weights.sum()),
        n_compared=int(row_weights[grouped.pairs > 0].sum()),
        n_pairs=n_pairs,
        n_changed=n_changed,
        share=share,
        ci_low=low,
        ci_high=high,
        p_value=p,
        noise=noise,
        effects=effects,
        n_comparisons=n_comparisons,
        examples=Evidence(
            table.names[i],
            table.label,
            n_pairs,
            n_changed,
            name_pairs(_examples(table, i, int(limit), both_ways=len(effects) == 1), table, i, originals),
        ),
        confidence=float(confidence),
    )


def _examples(table: EncodedTable, i: int, limit: int, *, both_ways: bool) -> list[tuple[int, int]]:
    """Some pairs; of a feature and a label with one possible change each, as many in either direction."""
    if limit == 0:
        return []
    if not both_ways:
        return find_pairs(table, i, limit)
    column, labels = table.codes[:, i], table.labels

    def same_way(row: int, others: NDArray[np.intp]) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = (column[others] > column[row]) == (labels[others] > labels[row])
        return same

    gained = find_pairs(table, i, limit, same_way)
    lost = find_pairs(table, i, limit, lambda row, others: ~same_way(row, others))
    some = [pair for two in zip_longest(gained, lost) for pair in two if pair is not None][:limit]
    return some or find_pairs(table, i, limit)


# ---------------------------------------------------------------- effects, from counts per context


@dataclass(frozen=True)
class _Counts:
    """Rows of two values in each context that holds both, and those of them with the label."""

    a: Ints
    b: Ints
    a_with: Ints
    b_with: Ints


def _effects(
    table: EncodedTable, i: int, cells: Cells, grouped: Grouped, originals: Originals, confidence: float
) -> tuple[tuple[Effect, ...], int]:
    """Effects of every two values that some context holds and every label that is followed, and how many there are."""
    n_contexts = len(grouped.starts)
    context = np.repeat(np.arange(n_contexts), np.diff(grouped.starts, append=len(grouped.order)))
    value, label = cells.codes[grouped.order, i], cells.labels[grouped.order]
    weights = cells.weights[grouped.order]
    in_pairs = grouped.pairs > 0
    context, value, label, weights = context[in_pairs], value[in_pairs], label[in_pairs], weights[in_pairs]
    firsts = first_rows(table.codes[:, i], int(table.n_values[i]))
    by_first = np.argsort(firsts).tolist()
    words = originals.values(firsts, i)
    cells_of = {code: np.flatnonzero(value == code) for code in by_first}
    followed = _followed(table.classes)
    with_label = np.zeros((len(words), len(table.classes)))
    np.add.at(with_label, (table.codes[:, i], table.labels), 1 if table.weights is None else table.weights)
    found = []
    met, n_met = _met(context, value, weights, n_contexts, by_first)
    for a, b in met:
        shared = np.intersect1d(context[cells_of[a]], context[cells_of[b]])
        sides = []
        for code in (a, b):
            mine = cells_of[code][np.isin(context[cells_of[code]], shared)]
            where = np.searchsorted(shared, context[mine])
            by_label = np.zeros((len(shared), len(table.classes)), dtype=np.int64)
            by_label[where, label[mine]] = weights[mine]
            sides.append(by_label)
        left, right = sides
        n_left, n_right = left.sum(axis=1), right.sum(axis=1)
        unchanged = int((left * right).sum())
        for p in followed:
            counts = _Counts(n_left, n_right, left[:, p], right[:, p])
            numbers = _difference(counts, unchanged, confidence)
            crude = float(with_label[b, p] / with_label[b].sum() - with_label[a, p] / with_label[a].sum())
            found.append(Effect((words[a], words[b]), plain(table.classes[p]), **numbers, p_adjusted=1.0, crude=crude))
    return _holm(found), n_met * len(followed)


def _followed(classes: Sequence[Any]) -> list[int]:
    """With two classes the one whose name sorts last (1 of 0 and 1, yes of no and yes); otherwise all."""
    if len(classes) > 2:
        return list(range(len(classes)))
    try:
        return [int(classes[1] > classes[0])]
    except TypeError:
        return [int(str(classes[1]) > str(classes[0]))]


def _met(
    context: Ints, value: NDArray[Any], weights: Ints, n_contexts: int, order: Sequence[int]
) -> tuple[list[tuple[int, int]], int]:
    """Every two values that some context holds, in the given order of values, and how many twos there are.

    If they are too many, those with the most pairs.
    """
    from scipy.sparse import csr_array

    rank = np.argsort(order)
    counts = csr_array((weights, (context, rank[value])), shape=(n_contexts, len(order)))
    together = (counts.T @ counts).tocoo()
    first, second = together.coords
    above = np.flatnonzero(first < second)
    most = above[np.lexsort((second[above], first[above], -together.data[above]))][:MAX_COMPARISONS]
    found = sorted(zip(first[most].tolist(), second[most].tolist(), strict=True))
    return [(order[a], order[b]) for a, b in found], len(above)


def _difference(counts: _Counts, unchanged: int, confidence: float) -> dict[str, Any]:
    """Difference, interval and test for two values and one label."""
    a, b, a_with, b_with = counts.a, counts.b, counts.a_with, counts.b_with
    pairs = int((a * b).sum())
    gained, lost = int(((a - a_with) * b_with).sum()), int((a_with * (b - b_with)).sum())
    # Four kinds of rows in each context, with the sum of (b has it) - (a has it) over the pairs of each.
    weights = np.concatenate([a_with, a - a_with, b_with, b - b_with])
    row_pairs = np.concatenate([b, b, a, a])
    parts = np.concatenate([b_with - b, b_with, a - a_with, -a_with])
    jackknife = jackknife_variance(pairs, gained - lost, row_pairs, parts, weights)
    low, high = difference_interval(pairs, gained, lost, jackknife, int(weights.sum()), confidence)
    p, smallest = exact_test(counts.a, counts.b, counts.a_with, counts.b_with)
    return {
        "pairs": pairs,
        "changed": pairs - unchanged,
        "gained": gained,
        "lost": lost,
        "difference": (gained - lost) / pairs,
        "ci_low": low,
        "ci_high": high,
        "p_value": p,
        "smallest_p": smallest,
    }


def difference_interval(
    pairs: int, gained: int, lost: int, jackknife: float, n_rows: int, confidence: float
) -> tuple[float, float]:
    """Agresti and Min's interval for matched pairs, on as many pairs as independent ones would be worth.

    Half a pair is added to each of gained, lost, both and neither, so that the interval has a
    width where no pair or every pair changed.
    """
    from scipy.special import ndtri

    difference = (gained - lost) / pairs
    spread = (gained + lost) / pairs - difference**2
    variance = corrected_variance(jackknife, spread / pairs)
    n = min(spread / variance if variance > 0 and spread > 0 else n_rows / 2, pairs)
    more, less = (n * gained / pairs + 0.5) / (n + 2), (n * lost / pairs + 0.5) / (n + 2)
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt((more + less - (more - less) ** 2) / (n + 2))
    return max(more - less - half, -1.0), min(more - less + half, 1.0)


def exact_test(a: Ints, b: Ints, a_with: Ints, b_with: Ints) -> tuple[float, float]:
    """Two-sided p-value of gained - lost if each context deals its labels to its rows at random.

    Also the smallest p-value that other labels could have given. In a context of n rows, k of them with the
    label, gained - lost is n times the rows of b that have it, less k times the rows of b: a hypergeometric
    number on a grid of steps n. Their sum over the contexts is added up exactly on the common grid; where that
    would be too long, its mean, variance and skewness are exact and fix a distribution of type III.
    """
    with_label = a_with + b_with
    tells = (np.minimum(b, with_label) > np.maximum(0, with_label - a)) & (a > 0) & (b > 0)
    if not tells.any():
        return 1.0, 1.0
    observed = abs(int(((a - a_with) * b_with - a_with * (b - b_with))[tells].sum()))
    kinds, times = np.unique(np.column_stack([a + b, with_label, b])[tells], axis=0, return_counts=True)
    draws = [_Draw(*kind) for kind in kinds.tolist()]
    grid = math.gcd(*(draw.n for draw in draws))
    length = sum(len(draw.chances) * draw.n // grid * n for draw, n in zip(draws, times.tolist(), strict=True))
    if length * sum(len(d.chances) * n for d, n in zip(draws, times.tolist(), strict=True)) > MAX_WORK:
        variance, third = ((times * [draw.moment(k) for draw in draws]).sum() for k in (2, 3))
        z, skewness = observed / math.sqrt(variance), third / variance**1.5
        return min(pearson_tail(z, skewness) + pearson_tail(z, -skewness), 1.0), 0.0
    chances, lowest = np.ones(1), 0
    for draw, n in zip(draws, times.tolist(), strict=True):
        for _ in range(n):
            chances = _add_draw(chances, draw.chances, draw.n // grid)
            lowest += draw.lowest
    differences = np.abs(lowest + grid * np.arange(len(chances)))
    largest = differences[chances > 0].max()
    return (
        min(float(chances[differences >= observed].sum()), 1.0),
        min(float(chances[differences >= largest].sum()), 1.0),
    )


class _Draw:
    """The rows of b that get the label when a context of n rows deals k labels, b to rows of b."""

    def __init__(self, n: int, k: int, b: int) -> None:
        from scipy.special import gammaln

        # what lies further from the mean than that has no chance that a float could hold
        mean, reach = k * b / n, 1 + 40 * math.sqrt(k * b / n * (n - k) / n * (n - b) / max(n - 1, 1))
        lowest, highest = max(0, k + b - n, math.floor(mean - reach)), min(b, k, math.ceil(mean + reach))
        x = np.arange(lowest, highest + 1)
        logs = -(gammaln(x + 1) + gammaln(k - x + 1) + gammaln(b - x + 1) + gammaln(n - k - b + x + 1))
        kept = logs > logs.max() - NEGLIGIBLE
        x, logs = x[kept], logs[kept]
        self.n = n
        self.chances: Floats = np.exp(logs - logs.max())
        self.chances /= self.chances.sum()
        self.lowest = n * int(x[0]) - k * b
        self._differences = n * x - k * b

    def moment(self, power: int) -> float:
        """A moment of gained - lost in this context; its mean is 0."""
        return float((self.chances * self._differences.astype(np.float64) ** power).sum())


def _add_draw(chances: Floats, draw: Floats, step: int) -> Floats:
    """Chances of the sum of a number on the grid and one on every ``step``-th point of it."""
    added = np.zeros(len(chances) + step * (len(draw) - 1))
    for j, chance in enumerate(draw.tolist()):
        added[j * step : j * step + len(chances)] += chance * chances
    return added


def _holm(effects: list[Effect]) -> tuple[Effect, ...]:
    """The effects with Holm's correction for how many there are."""
    from dataclasses import replace

    order = sorted(range(len(effects)), key=lambda e: effects[e].p_value)
    adjusted, worst = [1.0] * len(effects), 0.0
    for rank, e in enumerate(order):
        worst = max(worst, min(effects[e].p_value * (len(effects) - rank), 1.0))
        adjusted[e] = worst
    return tuple(replace(effect, p_adjusted=p) for effect, p in zip(effects, adjusted, strict=True))


# ---------------------------------------------------------------- words


def _gainer(effect: Effect) -> str:
    return str(effect.values[1] if effect.difference > 0 else effect.values[0])


def _loser(effect: Effect) -> str:
    return str(effect.values[0] if effect.difference > 0 else effect.values[1])


def _points(difference: float) -> str:
    """A difference of shares in words: 2.3 points more often."""
    return f"{100 * abs(difference):.1f} points {'more' if difference >= 0 else 'less'} often"


def p_words(p: float) -> str:
    """A p-value in a sentence."""
    return f"p {p_value(p)}".replace("<", "< ") if p < 0.001 else f"p = {p_value(p)}"


def _known(value: Any) -> Any:
    """A number as JSON has it."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _headline_height(examples: Evidence) -> int:
    return len(wrapped(examples.headline()).split("\n"))
