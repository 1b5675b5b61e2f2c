"""An audit as a view: the conclusion, the differences between values, and the rows compared."""

import math

from analogical.questions.audit import Audit, Difference
from analogical.show.evidence import pair_blocks
from analogical.show.sentences import NOT_ADJUSTED, NOT_CAUSES, agreeing_on, assumed, no_partner
from analogical.show.views import Cell, Marks, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    count_left_out,
    counted,
    list_all,
    marked,
    p_value,
    p_words,
    percent,
    quoted,
    signed_share,
    verb,
)

__all__ = ["shown_differences", "view_audit"]

MAX_DIFFERENCES = 30
"""Maximum number of differences in the table."""
MAX_VALUE_LENGTH = 30
MAX_LABEL_LENGTH = 16
"""Maximum length of values and labels in the table."""


def view_audit(result: Audit) -> View:
    """The conclusion, the differences with intervals, and what was compared."""
    return View(
        headline=_conclude(result),
        tables=(_difference_table(result),) if result.differences else (),
        lines=(_describe_compared(result), *_describe_limits(result), NOT_CAUSES) if result.n_pairs else (NOT_CAUSES,),
        examples=pair_blocks(result.examples),
        about=(counted(result.n_rows, "row"),),
        explanation=tuple(_explain(result)) if result.n_pairs else (),
    )


# ---------------------------------------------------------------- the conclusion


def _conclude(result: Audit) -> str:
    """The conclusion about the direction."""
    feature, label = quoted(result.feature), quoted(result.label)
    if result.finding == "no-pairs":
        fewer = "" if result.same_as is not None else " Give fewer features (given, --given)."
        return f"{no_partner(result.feature, result.given, result.same_as)}{fewer}"
    if result.finding == "too-few-pairs":
        units = "pairs with different labels" if result.n_groups is None else "groups"
        return f"Too few {units} to test the difference of {label} by {feature}."
    if result.finding != "direction":
        some = f", but single contexts differ ({p_words(result.p_value)})" if result.finding == "mixed" else ""
        return f"No significant difference of {label} by {feature}{some}."
    significant = result.significant()
    largest = max(significant, key=lambda d: abs(d.difference))
    a, b = (marked(value, 20) for value in largest.values)
    more, less = (b, a) if largest.difference > 0 else (a, b)
    by = f"{100 * abs(largest.difference):.1f} points more frequent with {more} than with {less}"
    if len(result.differences) == 1:
        return f"{label} = {quoted(largest.label, 20)} is {by}."
    return (
        f"{len(significant):,} of {counted(len(result.differences), 'difference')} of {label} by {feature}"
        f" {verb(significant, 'is', 'are')} significant; the largest: {quoted(largest.label, 20)} is {by}."
    )


# ---------------------------------------------------------------- the differences


def shown_differences(result: Audit) -> list[Difference]:
    """The differences in the table: all, or the largest ones."""
    if len(result.differences) <= MAX_DIFFERENCES:
        return list(result.differences)
    return sorted(result.differences, key=lambda d: -abs(d.difference))[:MAX_DIFFERENCES]


def _difference_table(result: Audit) -> Table:
    differences = shown_differences(result)
    many_labels = len({difference.label for difference in differences}) > 1
    label = quoted(differences[0].label, MAX_LABEL_LENGTH)
    ends = [abs(end) for d in differences for end in (d.crude, d.difference_low, d.difference_high)]
    reach = min(1.1 * max([end for end in ends if end == end], default=1.0), 1.0) or 1.0

    def points(d: Difference) -> Cell:
        ends = (d.difference, d.difference_low, d.difference_high, d.crude)
        return Cell(signed_share(d.difference), chart=Marks(0.5, *((end / reach + 1) / 2 for end in ends)))

    columns = [
        text_column(
            f"vs. {marked(result.reference, 20)}", lambda d: marked(d.values[1], MAX_VALUE_LENGTH), may_shorten=True
        ),
        *([text_column("label", lambda d: marked(d.label, MAX_LABEL_LENGTH), may_shorten=True)] if many_labels else []),
        number_column(
            "points" if many_labels else f"points for {label}",
            points,
            axis=(f"−{100 * reach:.0f}", "0", f"+{100 * reach:.0f}"),
        ),
        number_column(f"{100 * result.confidence:g}% CI", _interval, drop_order=2),
        number_column("p adj." if len(differences) > 1 else "p", lambda d: p_value(d.p_adjusted), drop_order=1),
        number_column(
            "odds ratio", lambda d: f"{d.odds_ratio:.2f}" if math.isfinite(d.odds_ratio) else "-", drop_order=4
        ),
        number_column("crude", lambda d: signed_share(d.crude), drop_order=5),
        number_column("pairs", lambda d: f"{d.pairs:,}", drop_order=3),
    ]
    return tabulate(differences, columns, note=count_left_out(len(result.differences) - len(differences)))


def _interval(difference: Difference) -> str:
    return f"{signed_share(difference.difference_low)} to {signed_share(difference.difference_high)}"


# ---------------------------------------------------------------- who was compared


def _describe_compared(result: Audit) -> str:
    """How many rows were compared."""
    return (
        f"Compared: {result.n_compared:,} of {counted(result.n_rows, 'row')}"
        f" ({percent(result.n_compared / result.n_rows)}) have a partner with another {quoted(result.feature)} among"
        f" {agreeing_on(result.given)}."
    )


def _describe_limits(result: Audit) -> list[str]:
    """Features that could replace the audited one."""
    if result.stand_ins:
        return [
            f"{list_all(result.stand_ins)} could replace {quoted(result.feature)} in the deciding set, and"
            f" {quoted(result.feature)} is not significant given {verb(result.stand_ins, 'it', 'them')}: the data do"
            " not show which of them matters."
        ]
    return []


def _explain(result: Audit) -> list[str]:
    """What the numbers mean, and further results."""
    test = "exact Cochran-Mantel-Haenszel test" if result.n_groups is None else "tests within and between groups"
    n = len(result.differences)
    adjusted = f", adjusted for {n:,} comparisons (Holm). {NOT_ADJUSTED}" if n > 1 else "."
    sentences = [
        "points: adjusted difference (Mantel-Haenszel) in the share of the label from the reference; crude: the same"
        f" over all rows. p: {test}{adjusted} {assumed(result.n_groups)}",
        f"{counted(result.n_pairs, 'pair')} in {counted(result.n_contexts, 'context')}, of which the largest holds"
        f" {percent(result.largest_context)}.",
        _describe_noise(result),
    ]
    if result.finding == "too-few-pairs" and result.n_groups is None:
        sentences.append(
            "However the labels of each context were dealt to its rows, no difference could have been significant (p"
            f" below {result.level:.2g})."
        )
    for label, (everybody, compared) in result.base_rates.items():
        sentences.append(
            f"{quoted(label)} occurs in {percent(compared)} of the compared rows and in {percent(everybody)} of all."
        )
    if len(result.differences) == 1:
        sentences += _explain_difference(result, result.differences[0])
    if result.n_comparisons > len(result.differences):
        sentences.append(
            f"Of {result.n_comparisons:,} comparisons, only those of the most frequent values and labels were made."
        )
    return sentences


def _describe_noise(result: Audit) -> str:
    noise = (
        "; noise cannot be estimated, because no rows repeat."
        if math.isnan(result.noise_rate)
        else f", and in {percent(result.noise_rate)} of pairs that agree on {quoted(result.feature)} as well (noise)."
    )
    return f"{quoted(result.label)} differs in {percent(result.index)} of the pairs{noise}"


def _explain_difference(result: Audit, only: Difference) -> list[str]:
    """Odds ratio, homogeneity and mean over pairs of the only difference."""
    sentences = []
    if math.isfinite(only.odds_ratio) and only.odds_low == only.odds_low:
        sentences.append(f"Odds ratio: {only.odds_ratio:.2f} ({only.odds_low:.2f} to {only.odds_high:.2f}).")
    if result.n_groups is None:
        same = "contexts too small" if only.p_homogeneity != only.p_homogeneity else p_words(only.p_homogeneity)
        sentences.append(f"Test of equality in all contexts: {same}.")
    sentences.append(
        f"Mean over pairs: {100 * abs(only.pair_difference):.1f} points"
        f" {'more' if only.pair_difference >= 0 else 'less'} often ({counted(only.gained, 'pair')} gained"
        f" {quoted(only.label)}, {only.lost:,} lost it)."
    )
    if only.difference * only.pair_difference < 0:
        sentences.append(
            "The adjusted difference and the mean over pairs differ in sign, because the mean gives large contexts more"
            " weight: look at single contexts."
        )
    return sentences
