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
    axis_end,
    describe_context,
    measure_of,
    no_partner,
)
from analogical.show.views import Cell, Marks, Table, Tone, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    Measure,
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
    three_digits,
    verb,
)

CLASSES = Measure()
"""How classes are shown, and values of features."""


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
        lines=(compared, *_say_adjusted(result), *_say_bounded(result), NOT_CAUSES)
        if result.n_pairs
        else (NOT_CAUSES,),
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


def _say_bounded(result: Audit) -> list[str]:
    """How many numbers are not taken as they are."""
    return [
        f"{n:,} of {n_rows:,} numbers of {quoted(result.label)} are far from the others and count as a bound, so these"
        ' are not differences of all numbers; for those give scale="number" (--scale number).'
        for note in result.notes
        if note.kind == "label-clipped"
        for n, n_rows in (note.counts,)
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
    measure, (a, b) = measure_of(result), (marked(value, 20) for value in largest.values)
    size = measure.shown(largest.difference)
    more = "higher" if size > 0 else "lower"
    what = of = label if measure.kind in ("number", "log") else f"the {measure.mean} of {label}"
    if measure.are_classes:
        more, what, of = "more frequent", f"{label} = {quoted(largest.label, 20)}", quoted(largest.label, 20)
        a, b = (a, b) if size > 0 else (b, a)
    by = f"{measure.amount(size)} {more} with {b} than with {a}"
    if len(result.differences) == 1:
        return f"{what[:1].upper()}{what[1:]} is {by} ({p_words(result.p_value)})."
    return (
        f"{len(significant):,} of {counted(len(result.differences), 'difference')} of {label} by {feature}"
        f" {verb(significant, 'is', 'are')} significant; the largest: {of} is {by}."
    )


def _difference_table(result: Audit, most: int = 30) -> Table:
    """The differences, or of many the largest ones."""
    differences = list(result.differences)
    if len(differences) > most:
        differences = sorted(differences, key=lambda d: -abs(d.difference))[:most]
    many_labels, measure = len({difference.label for difference in differences}) > 1, measure_of(result)
    ends = [abs(measure.shown(end)) for d in differences for end in (d.crude, d.difference_low, d.difference_high)]
    reach = axis_end(max((end for end in ends if end == end), default=0.0))

    def size(d: Difference) -> Cell:
        places = map(measure.shown, (d.difference, d.difference_low, d.difference_high, d.crude))
        return Cell(measure.change(d.difference), chart=Marks.on(0.5, *((place / reach + 1) / 2 for place in places)))

    heading = "points" if many_labels else f"points for {quoted(differences[0].label, 16)}"
    columns = [
        text_column(f"vs. {marked(result.reference, 20)}", lambda d: marked(d.values[1], 30), may_shorten=True),
        *([text_column("label", lambda d: marked(d.label, 16), may_shorten=True)] if many_labels else []),
        number_column(
            heading if measure.are_classes else measure.name or "difference",
            size,
            axis=(f"−{three_digits(reach)}", "0", f"+{three_digits(reach)}"),
        ),
        number_column(
            f"{100 * result.confidence:g}% CI",
            lambda d: measure.changes(d.difference_low, d.difference_high),
            drop_order=2,
        ),
        number_column("p adj." if len(differences) > 1 else "p", lambda d: p_value(d.p_adjusted), drop_order=1),
        number_column(
            "odds ratio", lambda d: f"{d.odds_ratio:.2f}" if math.isfinite(d.odds_ratio) else "-", drop_order=4
        ),
        number_column("crude", lambda d: measure.change(d.crude), drop_order=5),
        number_column("pairs", lambda d: f"{d.pairs:,}", drop_order=3),
    ]
    if not measure.are_classes:
        del columns[-3]  # odds ratios are of shares
    return tabulate(differences, columns, note=count_left_out(len(result.differences) - len(differences)))


def _explain(result: Audit) -> Iterator[str]:
    """What the numbers mean, and further results."""
    measure, n, label = measure_of(result), len(result.differences), quoted(result.label)
    test, index, noise = "exact Cochran-Mantel-Haenszel test", result.index, result.noise_rate
    what = "points: adjusted difference (Mantel-Haenszel) in the share of the label"
    differs, square = f"in {percent(index)} of", ""
    repeats = f"in {percent(noise)} of"
    if not measure.are_classes:
        test, ratio = "Welch's t-test within contexts", ", as a ratio less 1," if measure.kind == "log" else ""
        what = f"{measure.name or 'difference'}: adjusted difference in the {measure.mean} of {label}{ratio}"
        differs, square = f"by {measure.amount_of(index)} in", " (root mean square)"
        repeats = f"by {measure.amount_of(noise)} in"
    test = test if result.n_groups is None else "score test of groups"
    adjusted = f", adjusted for {n:,} comparisons (Holm). {NOT_ADJUSTED}" if n > 1 else "."
    yield f"{what} from the reference; crude: the same over all rows. p: {test}{adjusted} {assumed(result.n_groups)}"
    yield (
        f"{counted(result.n_pairs, 'pair')} in {counted(result.n_contexts, 'context')}, of which the largest holds"
        f" {percent(result.largest_context)}."
    )
    known = f", and {repeats} pairs that agree on {quoted(result.feature)} as well (noise)."
    unknown = "; noise cannot be estimated, because no rows repeat."
    yield f"{label} differs {differs} the pairs{square}{unknown if math.isnan(noise) else known}"
    if result.finding == "too-few-pairs" and result.n_groups is None:
        yield (
            "No permutation of the labels within contexts would have made a difference significant (p below"
            f" {result.level:.2g})."
        )
    for name, (everybody, compared) in result.base_rates.items():
        if measure.are_classes:
            yield (
                f"{quoted(name)} occurs in {percent(compared)} of the compared rows and in {percent(everybody)} of all."
            )
        else:
            of_both = (three_digits(math.exp(x) if measure.kind == "log" else x, 5) for x in (compared, everybody))
            yield f"The {measure.average} of {quoted(name)} is {' in the compared rows and '.join(of_both)} in all."
    if n == 1:
        yield from _explain_difference(result, result.differences[0])
    if result.n_comparisons > n:
        yield (f"Of {result.n_comparisons:,} comparisons, only those of the most frequent values and labels were made.")
    if not measure.are_classes and len(result.examples):
        yield _say_examples(result.examples)


def _explain_difference(result: Audit, only: Difference) -> Iterator[str]:
    """Odds ratio, homogeneity and mean over pairs of the only difference."""
    if math.isfinite(only.odds_ratio) and only.odds_low == only.odds_low:
        yield f"Odds ratio: {only.odds_ratio:.2f} ({only.odds_low:.2f} to {only.odds_high:.2f})."
    if result.n_groups is None:
        same = "contexts too small" if only.p_homogeneity != only.p_homogeneity else p_words(only.p_homogeneity)
        yield f"Test of equality in all contexts: {same}."
    measure = measure_of(result)
    size = measure.shown(only.pair_difference)
    pairs, by = counted(only.gained, "pair"), f"Mean over pairs: {measure.amount(size)}"
    if measure.are_classes:
        more = f"more often ({pairs}" if size >= 0 else f"less often ({pairs}"
        yield f"{by} {more} gained {quoted(only.label)}, {only.lost:,} lost it)."
    else:
        more = "higher" if size >= 0 else "lower"
        yield f"{by} {more} ({quoted(result.label)} is higher in {pairs}, lower in {only.lost:,})."
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
    same = f"→: the two rows differ; =: they have the same value.{f' {ROW_NAMES}' if _has_numbers(result) else ''}"
    of_pairs = f"{counted(result.n_pairs, 'pair')} that {differs} on {quoted(result.feature)}"
    if result.scale == "classes":
        changed = "differs" if result.n_changed == 1 else "differ"
        headline = (
            f"{result.n_changed:,} of {of_pairs} {changed} in {quoted(result.label)}"
            f" ({percent(result.n_changed / result.n_pairs)})."
        )
        order = (
            "Pairs whose labels differ come first, from as many contexts as possible. A line that ends with a number of"
            " pairs represents that many pairs with the same values."
        )
    else:
        measure = measure_of(result)
        half = f"half of them {f'by {_median(result)} or less' if result.median else 'not at all'}"
        by = f"by {measure.amount_of(result.index)} (root mean square; {half})"
        headline = f"{of_pairs} {differs} in {quoted(result.label)} {by}."
        order = _say_examples(result)
    return View(
        headline,
        lines=(f"Pairs of {agreeing_on(result.given)}.",),
        examples=pair_blocks(result),
        explanation=(order, same),
    )


def _median(result: Evidence) -> str:
    """The median difference of labels that are numbers."""
    measure = measure_of(result)
    return measure.amount(measure.shown(result.median))


def _say_examples(result: Evidence) -> str:
    """Which pairs are shown of labels that are numbers."""
    return (
        "Pairs shown: one half with the largest differences, the other half near the median difference"
        f" ({_median(result)})."
    )


def _has_numbers(result: Evidence) -> bool:
    """Whether rows have names or numbers; rows on an engine without an order have none."""
    return any(pair.index for pair in result.pairs)


def pair_blocks(result: Evidence) -> tuple[Table, ...]:
    """The pairs grouped by context: one table per context, with a line per pair."""
    blocks: dict[tuple[tuple[str, Any], ...], list[ExampleRows]] = {}
    for pair in result.pairs:
        blocks.setdefault(pair.context, []).append(pair)
    measure = measure_of(result)

    def label_change(pair: ExampleRows) -> str:
        by = measure.move(pair.labels) if measure.kind in ("number", "log") else math.nan
        return f"{_change(result.label, pair.labels, measure)}{f' ({measure.signed(by)}{measure.words})' * (by == by)}"

    columns = [
        text_column("", lambda pair: Cell(_change(result.feature, pair.values), "strong"), may_wrap=True),
        text_column("", lambda pair: Cell(label_change(pair), _tone(pair)), may_wrap=True),
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


def _change(name: str, two: tuple[Any, ...], measure: Measure = CLASSES, digits: int = 6) -> str:
    """Two values with an arrow if they differ, or an equals sign.

    Long values are cut so that different ones differ: at the end, in the middle, or as Python literals.
    """
    a, b = (measure.label(value, digits) for value in two)
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
    measure = measure_of(result)
    what = f"and {quoted(result.label)}"
    if not measure.are_classes:
        what = f"with the {measure.average} of {quoted(result.label)} on either side,"
    table = transition_table(
        result.feature, result.label, largest, n_pairs=result.n_pairs, n_all=len(sizes), measure=measure
    )
    return View(
        f"{counted(len(sizes), 'transition')} of {quoted(result.feature)}{'' if measure.are_classes else ','} {what} in"
        f" {counted(result.n_pairs, 'pair')}.",
        lines=(f"Pairs of {agreeing_on(result.given)}.",),
        tables=(table,),
    )


def transition_table(
    feature: str,
    label: str,
    transitions: Sequence[Transition],
    *,
    n_pairs: int,
    n_all: int,
    measure: Measure = CLASSES,
) -> Table:
    """How values and labels change, and in how many pairs; of ``n_all`` transitions those given."""
    columns = [
        text_column(shown(feature, LONG_NAME), lambda t: Cell(_change("", t.values), _tone(t)), may_wrap=True),
        text_column(
            shown(label, LONG_NAME), lambda t: Cell(_change("", t.labels, measure, 5), _tone(t)), may_wrap=True
        ),
        number_column("pairs", lambda t: Cell(number(t.pairs), _tone(t))),
        number_column("share", lambda t: Cell(percent(t.pairs / n_pairs), _tone(t))),
    ]
    if not measure.are_classes:
        columns.insert(
            2,
            number_column(
                measure.name or "difference", lambda t: Cell(measure.signed(measure.move(t.labels)), _tone(t))
            ),
        )
    n = len(transitions)
    return tabulate(transitions, columns, note=f"The {n} largest of {n_all:,} transitions." if n < n_all else "")
