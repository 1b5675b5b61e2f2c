"""An audit as a view: what was compared, the differences, and what can be said."""

from analogical._audit import Audit, Difference
from analogical.presenting.evidence import pair_blocks
from analogical.presenting.views import Cell, Heading, Table, View, describe_notes
from analogical.presenting.words import counted, listed, p_value, p_words, percent, points, quoted, shown, verb

__all__ = ["view_audit"]

MAX_DIFFERENCES = 30
"""Lines of a table of differences."""


def view_audit(result: Audit) -> View:
    """What was compared, the differences, and what can be said about the direction."""
    facts = _audit_facts(result) if result.n_pairs else []
    return View(
        headline=f"Audit of {quoted(result.feature)} for {quoted(result.label)}, all else equal",
        notes=describe_notes(result.notes),
        facts=tuple(facts),
        tables=(_difference_table(result),) if len(result.differences) > 1 else (),
        findings=(_conclude(result),),
        examples=pair_blocks(result.examples),
        caveat="This is association under equal recorded features, not proof of cause.",
    )


def _audit_facts(result: Audit) -> list[str]:
    noise = result.noise
    facts = [
        f"{counted(result.n_pairs, 'pair')} of rows are equal on {_given(result)} and differ on"
        f" {quoted(result.feature)} ({result.n_compared:,} of {counted(result.n_rows, 'row')} sit in one).",
        f"In {percent(result.ari)} of the pairs ({percent(result.ari_low)} to {percent(result.ari_high)})"
        f" {quoted(result.label)} differs; "
        + (
            "how often it differs by noise alone is unknown, because no row repeats."
            if noise.rate is None or noise.rate_low is None or noise.rate_high is None
            else f"between identical rows it differs in {percent(noise.rate)} ({percent(noise.rate_low)} to"
            f" {percent(noise.rate_high)})."
        ),
    ]
    if len(result.differences) == 1:
        found = result.differences[0]
        a, b = (shown(value, 20) for value in found.values)
        facts += [
            f"All else equal, {b} has {quoted(found.label)} {points(found.difference)} than {a}"
            f" ({100 * found.difference_low:+.1f} to {100 * found.difference_high:+.1f}): {b} gains it in"
            f" {counted(found.gained, 'pair')} and loses it in {found.lost:,}; {p_words(found.p_value)}.",
            f"Over all rows, like or unlike, {b} has it {points(found.crude)}.",
        ]
    return facts


def _given(result: Audit) -> str:
    if not result.given:
        return "no feature at all"
    return f"the {len(result.given)} other features" if len(result.given) > 6 else listed(result.given)


def _difference_table(result: Audit) -> Table:
    differences = list(result.differences)
    if len(differences) > MAX_DIFFERENCES:
        differences.sort(key=lambda d: -abs(d.difference))
    titles = ("from", "to", "label", "pairs", "gained", "lost", "points", "interval", "p")
    return Table(
        headings=tuple(Heading(title, is_text=k < 3, may_shorten=k < 3) for k, title in enumerate(titles)),
        rows=tuple(_difference_cells(difference) for difference in differences[:MAX_DIFFERENCES]),
        note=_difference_note(result),
    )


def _difference_cells(found: Difference) -> tuple[Cell, ...]:
    return (
        Cell(shown(found.values[0], 16)),
        Cell(shown(found.values[1], 16)),
        Cell(shown(found.label, 12)),
        Cell(f"{found.pairs:,}"),
        Cell(f"{found.gained:,}"),
        Cell(f"{found.lost:,}"),
        Cell(f"{100 * found.difference:+.1f}"),
        Cell(f"{100 * found.difference_low:+.1f} {100 * found.difference_high:+.1f}"),
        Cell(p_value(found.p_adjusted)),
    )


def _difference_note(result: Audit) -> str:
    n = len(result.differences)
    note = (
        "points: how much more often the second value has the label, in per cent of the pairs; p: McNemar's test"
        f" for groups, corrected for {counted(n, 'comparison')} (Holm)."
    )
    if result.n_comparisons > n:
        note += f" Of {result.n_comparisons:,} comparisons those with the most pairs were made."
    if n > MAX_DIFFERENCES:
        rest = n - MAX_DIFFERENCES
        note += f" The {MAX_DIFFERENCES} largest are shown; to_dict() and --json have the other {rest:,}."
    return note


def _conclude(result: Audit) -> str:
    """What can be said about the direction, in a sentence or two."""
    if result.finding == "no-pairs":
        return (
            f"Nothing can be said: no two rows are equal on {_given(result)} and differ on {quoted(result.feature)}."
            " Name fewer columns with features, or leave out more with ignore."
        )
    if result.finding == "too-few-pairs":
        return (
            f"Too few pairs to tell: whatever the labels of these {counted(result.n_compared, 'row')} had been, no"
            f" direction could have been significant (p below {result.level:.2g})."
        )
    if result.finding != "direction":
        mixed = f" The values do differ in some contexts, in one direction or the other ({p_words(result.p_value)})."
        start = "No direction is significant; the interval shows what is still possible."
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
    a, b = (shown(value) for value in found.values)
    return (b, a) if found.difference > 0 else (a, b)
