"""A report as a short view, for terminals and notebooks; the page itself says more."""

import math

from analogical._report import Report
from analogical.presenting.report.sentences import describe_answer, describe_disagreement, measure_of, verdict
from analogical.presenting.report.words import unmarked
from analogical.presenting.views import Cell, Heading, Table, View
from analogical.presenting.words import counted, interval, p_value, quoted, shares, shown

__all__ = ["view_report"]

MAX_FEATURES = 10
"""Features in the table."""


def view_report(result: Report) -> View:
    """The verdict, the best features, and where they stand by mutual information."""
    found = result.relevance
    records = result.records()
    n_more = len(records) - MAX_FEATURES
    table = Table(
        headings=(
            Heading("", leaves=3),
            Heading("feature", is_text=True, may_shorten=True),
            Heading(measure_of(result)[0]),
            Heading("interval", leaves=2),
            Heading("p", leaves=1),
            Heading("by MI", leaves=4),
            Heading("status", is_text=True),
        ),
        rows=tuple(
            (
                Cell(str(record["rank"])),
                Cell(shown(record["name"])),
                Cell(_share(record["score"]), bar=math.nan if record["score"] is None else record["score"]),
                Cell("-" if record["score_low"] is None else interval(record["score_low"], record["score_high"])),
                Cell(p_value(math.nan if record["p_adjusted"] is None else record["p_adjusted"])),
                Cell(f"{record['information_rank']:g}"),
                Cell(record["status"]),
            )
            for record in records[:MAX_FEATURES]
        ),
        note=f"... and {n_more:,} more; save(path) writes the page" if n_more > 0 else "",
    )
    return View(
        headline=f"Report on {counted(len(records), 'feature')} for {quoted(found.label)},"
        f" {counted(found.n_rows, 'row')}: {len(result.panels)} in detail",
        facts=(unmarked(verdict(result)),),
        tables=(table,),
        findings=(
            f"Can this table answer? {result.answer.capitalize()}. {unmarked(' '.join(describe_answer(result)))}",
            *(
                f"By mutual information {shown(item.feature, 60)} is {item.information_rank:g}, here {item.rank:g}."
                f" {unmarked(describe_disagreement(result, item))}"
                for item in result.disagreements
            ),
        ),
        caveat="The page is in .html; .save(path) writes it.",
    )


def _share(score: float | None) -> str:
    return shares(math.nan if score is None else score)
