"""Audits, pairs of rows and transitions as views: how the label differs between values, and the rows behind it."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from analogical.questions.audit import Audit, Difference
from analogical.questions.evidence import Evidence, ExampleRows, Transition, Transitions
from analogical.show.relevance import (
    NOT_ADJUSTED,
    NOT_CAUSES,
    ROW_NAMES,
    agreeing_on,
    assumed,
    describe_context,
    no_partner,
)
from analogical.show.views import Cell, Marks, Table, Tone, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    count_left_out,
    counted,
    list_first,
    marked,
    number,
    p_value,
    p_words,
    percent,
    quoted,
    shorten,
    shown,
    signed_share,
    verb,
)


def view_audit(result: Audit) -> View:
    """The conclusion, the differences with intervals, and what was compared."""
    feature = quoted(result.feature)
    compared = (
        f"Compared: {result.n_compared:,} of {counted(result.n_rows, 'row')}"
        f" ({percent(result.n_compared / result.n_rows)}) have a partner with another {feature} among"
        f" {agreeing_on(result.given)}."
    )
    return View(
        headline=_conclude(result),
        tables=(_difference_table(result),) if result.differences else (),
        lines=(compared, *_say_adjusted(result), NOT_CAUSES) if result.n_pairs else (NOT_CAUSES,),
        examples=pair_blocks(result.examples),
        about=(counted(result.n_rows, "row"),),
        explanation=tuple(_explain(result)) if result.n_pairs else (),
    )


def _say_adjusted(result: Audit) -> list[str]:
    """Which members of the deciding set are not held fixed."""
    if not result.adjusted_for:
        return []
    names = list_first(result.adjusted_for, 4)
    return [
        f"Too few rows agree on {names} too: the p-value of all differences ({p_words(result.p_value)}) subtracts"
        f" {verb(result.adjusted_for, 'it', 'them')} from the label; the differences do not."
    ]


def _conclude(result: Audit) -> str:
    """The conclusion about the direction."""
    feature, label = quoted(result.feature), quoted(result.label)
    if result.finding == "no-pairs":
        fewer = "" if result.same_as is not None else " Give fewer features (given, --given)."
        return f"{no_partner(result.feature, result.given, result.same_as)}{fewer}"
    if result.finding == "too-few-pairs":
        what = "pairs with different labels" if result.n_groups is None else "groups"
        return f"Too few {what} to test the difference of {label} by {feature}."
    if result.finding != "direction":
        some = f", but single contexts differ ({p_words(result.p_value)})" if result.finding == "mixed" else ""
        return f"No significant difference of {label} by {feature}{some}."
    significant = result.significant()
    largest = max(significant, key=lambda d: abs(d.difference))
    a, b = (marked(value, 20) for value in largest.values)
    more, less = (b, a) if largest.difference > 0 else (a, b)
    by = f"{100 * abs(largest.difference):.1f} points more frequent with {more} than with {less}"
    if len(result.differences) == 1:
        return f"{label} = {quoted(largest.label, 20)} is {by} ({p_words(result.p_value)})."
    return (
        f"{len(significant):,} of {counted(len(result.differences), 'difference')} of {label} by {feature}"
        f" {verb(significant, 'is', 'are')} significant; the largest: {quoted(largest.label, 20)} is {by}."
    )


def _difference_table(result: Audit, most: int = 30) -> Table:
    """The differences, or of many the largest ones."""
    differences = list(result.differences)
    if len(differences) > most:
        differences = sorted(differences, key=lambda d: -abs(d.difference))[:most]
    many_labels = len({difference.label for difference in differences}) > 1
    ends = [abs(end) for d in differences for end in (d.crude, d.difference_low, d.difference_high)]
    reach = min(1.1 * max([end for end in ends if end == end], default=1.0), 1.0) or 1.0

    def points(d: Difference) -> Cell:
        ends = (d.difference, d.difference_low, d.difference_high, d.crude)
        return Cell(signed_share(d.difference), chart=Marks.on(0.5, *((end / reach + 1) / 2 for end in ends)))

    columns = [
        text_column(f"vs. {marked(result.reference, 20)}", lambda d: marked(d.values[1], 30), may_shorten=True),
        *([text_column("label", lambda d: marked(d.label, 16), may_shorten=True)] if many_labels else []),
        number_column(
            "points" if many_labels else f"points for {quoted(differences[0].label, 16)}",
            points,
            axis=(f"−{100 * reach:.0f}", "0", f"+{100 * reach:.0f}"),
        ),
        number_column(
            f"{100 * result.confidence:g}% CI",
            lambda d: f"{signed_share(d.difference_low)} to {signed_share(d.difference_high)}",
            drop_order=2,
        ),
        number_column("p adj." if len(differences) > 1 else "p", lambda d: p_value(d.p_adjusted), drop_order=1),
        number_column(
            "odds ratio", lambda d: f"{d.odds_ratio:.2f}" if math.isfinite(d.odds_ratio) else "-", drop_order=4
        ),
        number_column("crude", lambda d: signed_share(d.crude), drop_order=5),
        number_column("pairs", lambda d: f"{d.pairs:,}", drop_order=3),
    ]
    return tabulate(differences, columns, note=count_left_out(len(result.differences) - len(differences)))


def _explain(result: Audit) -> Iterator[str]:
    """What the numbers mean, and further results."""
    test = "exact Cochran-Mantel-Haenszel test" if result.n_groups is None else "score test of groups"
    n, label = len(result.differences), quoted(result.label)
    adjusted = f", adjusted for {n:,} comparisons (Holm). {NOT_ADJUSTED}" if n > 1 else "."
    noise = (
        "; noise cannot be estimated, because no rows repeat."
        if math.isnan(result.noise_rate)
        else f", and in {percent(result.noise_rate)} of pairs that agree on {quoted(result.feature)} as well (noise)."
    )
    yield (
        "points: adjusted difference (Mantel-Haenszel) in the share of the label from the reference; crude: the same"
        f" over all rows. p: {test}{adjusted} {assumed(result.n_groups)}"
    )
    yield (
        f"{counted(result.n_pairs, 'pair')} in {counted(result.n_contexts, 'context')}, of which the largest holds"
        f" {percent(result.largest_context)}."
    )
    yield f"{label} differs in {percent(result.index)} of the pairs{noise}"
    if result.finding == "too-few-pairs" and result.n_groups is None:
        yield (
            "No permutation of the labels within contexts would have made a difference significant (p below"
            f" {result.level:.2g})."
        )
    for name, (everybody, compared) in result.base_rates.items():
        yield f"{quoted(name)} occurs in {percent(compared)} of the compared rows and in {percent(everybody)} of all."
    if n == 1:
        yield from _explain_difference(result, result.differences[0])
    if result.n_comparisons > n:
        yield (f"Of {result.n_comparisons:,} comparisons, only those of the most frequent values and labels were made.")


def _explain_difference(result: Audit, only: Difference) -> Iterator[str]:
    """Odds ratio, homogeneity and mean over pairs of the only difference."""
    if math.isfinite(only.odds_ratio) and only.odds_low == only.odds_low:
        yield f"Odds ratio: {only.odds_ratio:.2f} ({only.odds_low:.2f} to {only.odds_high:.2f})."
    if result.n_groups is None:
        same = "contexts too small" if only.p_homogeneity != only.p_homogeneity else p_words(only.p_homogeneity)
        yield f"Test of equality in all contexts: {same}."
    yield (
        f"Mean over pairs: {100 * abs(only.pair_difference):.1f} points"
        f" {'more' if only.pair_difference >= 0 else 'less'} often ({counted(only.gained, 'pair')} gained"
        f" {quoted(only.label)}, {only.lost:,} lost it)."
    )
    if only.difference * only.pair_difference < 0:
        yield (
            "The adjusted difference and the mean over pairs differ in sign, because the mean gives large contexts more"
            " weight: look at single contexts."
        )


# ---------------------------------------------------------------- pairs of rows


def view_evidence(result: Evidence) -> View:
    """How many pairs changed, and the pairs by context."""
    if result.n_pairs == 0:
        return View(no_partner(result.feature, result.given, result.same_as))
    differs = "differs" if result.n_pairs == 1 else "differ"
    changed = "differs" if result.n_changed == 1 else "differ"
    return View(
        f"{result.n_changed:,} of {counted(result.n_pairs, 'pair')} that {differs} on {quoted(result.feature)}"
        f" {changed} in {quoted(result.label)} ({percent(result.n_changed / result.n_pairs)}).",
        lines=(f"Pairs of {agreeing_on(result.given)}.",),
        examples=pair_blocks(result),
        explanation=(
            "Pairs whose labels differ come first, from as many contexts as possible. A line that ends with a number of"
            " pairs represents that many pairs with the same values.",
            f"→: the two rows differ; =: they have the same value.{f' {ROW_NAMES}' if _has_numbers(result) else ''}",
        ),
    )


def _has_numbers(result: Evidence) -> bool:
    """Whether rows have names or numbers; rows on an engine without an order have none."""
    return any(pair.index for pair in result.pairs)


def pair_blocks(result: Evidence) -> tuple[Table, ...]:
    """The pairs grouped by context: one table per context, with a line per pair."""
    blocks: dict[tuple[tuple[str, Any], ...], list[ExampleRows]] = {}
    for pair in result.pairs:
        blocks.setdefault(pair.context, []).append(pair)
    columns = [
        text_column("", lambda pair: Cell(_change(result.feature, pair.values), "strong"), may_wrap=True),
        text_column("", lambda pair: Cell(_change(result.label, pair.labels), _tone(pair)), may_wrap=True),
        text_column("", lambda pair: Cell(f"rows {', '.join(map(shown, pair.index))}", "muted"), may_wrap=True),
        number_column(
            "", lambda pair: Cell(f"{pair.weight:,} pairs" if pair.weight > 1 else "", "muted"), may_wrap=True
        ),
    ]
    if not _has_numbers(result):
        del columns[2]
    return tuple(
        tabulate(pairs, columns, title=describe_context(context) or "(nothing given)")
        for context, pairs in blocks.items()
    )


def pair_table(feature: str, label: str, pair: ExampleRows, *, most: int = 10) -> Table:
    """One pair of rows side by side: the feature, the label, and what the rows have in common."""
    names = [f"row {shown(name, LONG_NAME)}" for name in pair.index] or ["one row", "another row"]
    lines: list[tuple[str, tuple[Any, ...], Tone]] = [
        (feature, pair.values, "accent"),
        (label, pair.labels, "good" if pair.changed else "plain"),
        *((name, (value, value), "muted") for name, value in pair.context[:most]),
    ]
    n_left = len(pair.context) - most
    left_out = f"They agree on {counted(n_left, 'more feature')}." if n_left > 0 else ""
    times = f"These two rows represent {counted(pair.weight, 'pair')}." if pair.weight > 1 else ""
    columns = [
        text_column("", lambda line: Cell(shown(line[0], LONG_NAME), "muted" if line[2] == "muted" else "strong")),
        text_column(names[0], lambda line: Cell(marked(line[1][0], 40), line[2])),
        text_column(names[1], lambda line: Cell(marked(line[1][1], 40), line[2])),
    ]
    title = "Changed: the labels differ" if pair.changed else "Unchanged: the labels are the same"
    return tabulate(lines, columns, title=title, note=" ".join(filter(None, (left_out, times))))


def _tone(pair: ExampleRows | Transition) -> Tone:
    return "good" if pair.changed else "plain"


def _change(name: str, two: tuple[Any, ...]) -> str:
    """Two values with an arrow if they differ, or an equals sign.

    Long values are cut so that different ones differ: at the end, in the middle, or as Python literals.
    """
    a, b = (marked(value, 24) for value in two)
    if two[0] != two[1] and a == b:
        a, b = (shorten(shown(value), 24, "...") for value in two)
    if two[0] != two[1] and a == b:
        a, b = (shown(repr(value)) for value in two)
    return f"{shown(name, LONG_NAME)} {a} {'→' if two[0] != two[1] else '='} {b}".strip()


def view_transitions(result: Transitions, most: int = 30) -> View:
    """A table of the largest transitions, in the order of the values."""
    if not result.counts:
        return View(no_partner(result.feature, result.given, result.same_as))
    sizes = sorted((transition.pairs for transition in result.counts), reverse=True)
    largest = [t for t in result.counts if t.pairs >= sizes[:most][-1]][:most]
    return View(
        f"{counted(len(sizes), 'transition')} of {quoted(result.feature)} and {quoted(result.label)} in"
        f" {counted(result.n_pairs, 'pair')}.",
        lines=(f"Pairs of {agreeing_on(result.given)}.",),
        tables=(transition_table(result.feature, result.label, largest, n_pairs=result.n_pairs, n_all=len(sizes)),),
    )


def transition_table(feature: str, label: str, transitions: Sequence[Transition], *, n_pairs: int, n_all: int) -> Table:
    """How values and labels change, and in how many pairs; of ``n_all`` transitions those given."""
    columns = [
        text_column(shown(feature, LONG_NAME), lambda t: Cell(_change("", t.values), _tone(t)), may_wrap=True),
        text_column(shown(label, LONG_NAME), lambda t: Cell(_change("", t.labels), _tone(t)), may_wrap=True),
        number_column("pairs", lambda t: Cell(number(t.pairs), _tone(t))),
        number_column("share", lambda t: Cell(percent(t.pairs / n_pairs), _tone(t))),
    ]
    n = len(transitions)
    return tabulate(transitions, columns, note=f"The {n} largest of {n_all:,} transitions." if n < n_all else "")
