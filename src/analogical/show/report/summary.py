"""A report as a short view, for terminals and notebooks; the page itself says more."""

import math

from analogical.show.report.sentences import describe_answer, describe_turn, size_of, verdict
from analogical.show.report.words import unmarked
from analogical.show.views import Cell, Heading, Table, View
from analogical.show.words import and_more, counted, listed, p_value, quoted, shown
from analogical.verbs.report import Report

__all__ = ["view_report"]

MAX_FEATURES = 10
"""Features in the table."""


def view_report(result: Report) -> View:
    """The verdict, the best features with their effects, and those with another status alone."""
    found = result.relevance
    records = result.records()
    n_more = len(records) - MAX_FEATURES
    table = Table(
        headings=(
            Heading("", leaves=3),
            Heading("feature", is_text=True, may_shorten=True),
            Heading("points"),
            Heading("interval", leaves=2),
            Heading("p", leaves=1),
            Heading("alone", leaves=4),
            Heading("status", is_text=True),
        ),
        rows=tuple(
            (
                Cell(str(record["rank"])),
                Cell(shown(record["name"])),
                Cell(_points(record["effect"]), bar=_share(record["effect"])),
                Cell(_interval(record["effect_low"], record["effect_high"])),
                Cell(p_value(math.nan if record["p_adjusted"] is None else record["p_adjusted"])),
                Cell(_points(record["alone"])),
                Cell(_status(record["status"], record["same_as"])),
            )
            for record in records[:MAX_FEATURES]
        ),
        note=and_more(n_more, "the page has all"),
    )
    given = (f"Given: {listed(found.deciding)}.",) if found.deciding else ()
    return View(
        headline=f"Report on {counted(len(records), 'feature')} for {quoted(found.label)},"
        f" {counted(found.n_rows, 'row')}: {len(result.panels)} in detail",
        facts=(unmarked(verdict(result)), *given),
        tables=(table,),
        findings=(
            f"Can this table answer? {result.answer.capitalize()}. {unmarked(' '.join(describe_answer(result)))}",
            *(f"{shown(item.feature, 60)}: {unmarked(describe_turn(result, item))}" for item in result.turned),
        ),
        caveat="The page is in .html; .save(path) writes it.",
    )


def _share(effect: float | None) -> float:
    return math.nan if effect is None else math.sqrt(effect)


def _points(effect: float | None) -> str:
    return "-" if effect is None else f"{size_of(effect):.1f}"


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{size_of(low):.1f}-{size_of(high):.1f}"


def _status(status: str, same_as: str | None) -> str:
    return status if same_as is None else f"same as {shown(same_as)}"
