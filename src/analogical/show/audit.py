"""An audit as a view: what was compared, the differences, and the conclusion."""

import math

from analogical.show.evidence import given_words, no_pairs_words, pair_blocks
from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, View
from analogical.show.words import (
    counted,
    listed,
    marked,
    p_value,
    p_words,
    percent,
    points,
    quoted,
    verb,
)
from analogical.verbs.audit import Audit, Difference

__all__ = ["view_audit"]

FEW_NAMES = 2
"""Given features that are named again in sentences after the headline."""
MAX_DIFFERENCES = 30
"""Lines of a table of differences."""
LONG_VALUE = 30
LONG_LABEL = 16
"""Characters of values and labels in that table."""


def view_audit(result: Audit) -> View:
    """What was compared, the differences, and the direction."""
    facts = _audit_facts(result) if result.n_pairs else []
    return View(
        headline=f"Audit of {quoted(result.feature)} for {quoted(result.label)}"
        + ("" if result.same_as is not None else f", given {given_words(result.given)}"),
        notes=describe_notes(result.notes),
        facts=tuple(facts),
        tables=(_difference_table(result),) if len(result.differences) > 1 else (),
        findings=(_conclude(result),),
        examples=pair_blocks(result.examples),
        caveat=_caveat(result),
    )


def _caveat(result: Audit) -> str:
    units = (
        "independent rows" if result.n_groups is None else f"{counted(result.n_groups, 'independent group')} of rows"
    )
    return f"Differences are associations given the recorded features, not causes. Intervals and p assume {units}."


def _audit_facts(result: Audit) -> list[str]:
    facts = [_describe_compared(result)]
    if len(result.differences) == 1:
        facts += _describe_difference(result, result.differences[0])
    noise = (
        "; noise cannot be estimated, because no rows repeat."
        if math.isnan(result.noise_rate)
        else f", and in {percent(result.noise_rate)} of pairs that agree on {quoted(result.feature)} as well (noise)."
    )
    facts.append(f"{quoted(result.label)} differs in {percent(result.index)} of the pairs{noise}")
    if result.stand_ins:
        facts.append(
            f"{listed(result.stand_ins)} could replace {quoted(result.feature)} in the deciding set, and"
            f" {quoted(result.feature)} is not significant given {verb(result.stand_ins, 'it', 'them')}: the data do"
            " not show which of them matters."
        )
    return facts


def _describe_compared(result: Audit) -> str:
    """Who was compared, and who was not."""
    share = result.n_compared / result.n_rows
    text = (
        f"Compared: {result.n_compared:,} of {counted(result.n_rows, 'row')} ({percent(share)}) have a partner with"
        f" another {quoted(result.feature)}{f' that agrees on {_given_again(result)}' if result.given else ''}:"
        f" {counted(result.n_pairs, 'pair')} in {counted(result.n_contexts, 'context')}, of which the largest holds"
        f" {percent(result.largest_context)}."
    )
    if len(result.base_rates) == 1:
        ((label, (everybody, compared)),) = result.base_rates.items()
        text += (
            f" {quoted(label)} occurs in {percent(compared)} of the compared rows and in {percent(everybody)} of all."
        )
    return text


def _given_again(result: Audit) -> str:
    """What is given, after the headline has named it."""
    return given_words(result.given) if len(result.given) <= FEW_NAMES else "these features"


def _describe_difference(result: Audit, found: Difference) -> list[str]:
    """Two values and one label, in sentences."""
    a, b = (marked(value, 20) for value in found.values)
    how = f"{points(found.difference)} than {a}" if round(1000 * found.difference) else f"as often as {a}"
    odds = "not defined"
    if found.odds_ratio > 0 and math.isfinite(found.odds_ratio):
        bounds = "" if found.odds_low != found.odds_low else f" ({found.odds_low:.2f} to {found.odds_high:.2f})"
        odds = f"{found.odds_ratio:.2f}{bounds}"
    test = f"{p_words(found.p_value)} (exact Cochran-Mantel-Haenszel)"
    same = "contexts too small" if found.p_homogeneity != found.p_homogeneity else p_words(found.p_homogeneity)
    homogeneity = f"; test of equality in all contexts: {same}"
    if result.n_groups is not None:
        test = "p unknown, too few informative groups"
        if not math.isnan(found.p_value):
            test = f"{p_words(found.p_value)} (within and between groups)"
        homogeneity = ""
    sentences = [
        f"Adjusted difference (Mantel-Haenszel): {b} has {quoted(found.label)} {how}"
        f" ({100 * found.difference_low:+.1f} to {100 * found.difference_high:+.1f}); {test}. Odds ratio:"
        f" {odds}{homogeneity}.",
        f"Mean over pairs: {points(found.pair_difference)} ({counted(found.gained, 'pair')} gained"
        f" {quoted(found.label)}, {found.lost:,} lost it). Crude difference, over all rows: {points(found.crude)}.",
    ]
    if found.difference * found.pair_difference < 0:
        sentences.append(
            "The adjusted difference and the mean over pairs differ in sign, because the mean gives large contexts more"
            " weight: look at single contexts."
        )
    return sentences


def _difference_table(result: Audit) -> Table:
    differences = list(result.differences)
    if len(differences) > MAX_DIFFERENCES:
        differences.sort(key=lambda d: -abs(d.difference))
    many_labels = len({difference.label for difference in differences}) > 1
    words = ("value", "label") if many_labels else ("value",)
    leaving = {"crude": 5, "odds ratio": 4, "pairs": 3, "interval": 2, "p": 1}
    titles = (*words, "pairs", "points", "interval", "odds ratio", "p", "crude")
    return Table(
        headings=tuple(
            Heading(title, is_text=title in words, may_shorten=title in words, leaves=leaving.get(title, 0))
            for title in titles
        ),
        rows=tuple(_difference_cells(difference, many_labels) for difference in differences[:MAX_DIFFERENCES]),
        note=_difference_note(result),
    )


def _difference_cells(found: Difference, with_label: bool) -> tuple[Cell, ...]:
    return (
        Cell(marked(found.values[1], LONG_VALUE)),
        *([Cell(marked(found.label, LONG_LABEL))] if with_label else []),
        Cell(f"{found.pairs:,}"),
        Cell(f"{100 * found.difference:+.1f}"),
        Cell(f"{100 * found.difference_low:+.1f} {100 * found.difference_high:+.1f}"),
        Cell(f"{found.odds_ratio:.2f}" if math.isfinite(found.odds_ratio) else "-"),
        Cell(p_value(found.p_adjusted)),
        Cell(f"{100 * found.crude:+.1f}"),
    )


def _difference_note(result: Audit) -> str:
    n = len(result.differences)
    labels = list(dict.fromkeys(difference.label for difference in result.differences))
    whose = quoted(labels[0], 20) if len(labels) == 1 else "the label"
    test = "exact Cochran-Mantel-Haenszel test" if result.n_groups is None else "tests within and between groups"
    note = (
        f"points: adjusted difference (Mantel-Haenszel) in the share of {whose} from the reference,"
        f" {marked(result.reference, 20)}; p: {test}, adjusted for {counted(n, 'comparison')} (Holm); crude: difference"
        " over all rows."
    )
    if result.n_comparisons > n:
        note += (
            f" Of {result.n_comparisons:,} comparisons, only those of the most frequent values and labels were made."
        )
    if n > MAX_DIFFERENCES:
        rest = n - MAX_DIFFERENCES
        note += f" The {MAX_DIFFERENCES} largest are shown; to_dict() and --json have the other {rest:,}."
    return note


def _conclude(result: Audit) -> str:
    """The conclusion about the direction, in a sentence or two."""
    if result.finding == "no-pairs":
        fewer = "" if result.same_as is not None else "; give fewer features (given, --given)"
        return f"No rows could be compared. {no_pairs_words(result.examples)}{fewer}."
    if result.finding == "too-few-pairs" and result.n_groups is not None:
        return "Too few groups: no difference could be tested."
    if result.finding == "too-few-pairs":
        return (
            f"Too few pairs: no labelling of these {counted(result.n_compared, 'row')} could have given a significant"
            f" difference (p below {result.level:.2g})."
        )
    if result.finding != "direction":
        mixed = (
            f" A test for differences of any direction in single contexts is significant ({p_words(result.p_value)})."
        )
        start = "No difference is significant; the interval shows the plausible range."
        return start + (mixed if result.finding == "mixed" else "")
    significant = result.significant()
    if len(result.differences) == 1:
        more, _ = _more_and_less(significant[0])
        return f"{quoted(significant[0].label)} is significantly more frequent for {more}."
    strongest = max(significant, key=lambda d: abs(d.difference))
    more, less = _more_and_less(strongest)
    return (
        f"{len(significant)} of {counted(len(result.differences), 'comparison')} "
        f"{verb(significant, 'is', 'are')} significant; the largest: {quoted(strongest.label)} is more frequent for"
        f" {more} than for {less}, by {100 * abs(strongest.difference):.1f} points."
    )


def _more_and_less(found: Difference) -> tuple[str, str]:
    """The value that has the label more often, and the other one."""
    a, b = (marked(value) for value in found.values)
    return (b, a) if found.difference > 0 else (a, b)
