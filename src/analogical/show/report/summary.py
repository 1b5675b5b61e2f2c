"""A report as a short view, for terminals and notebooks; the page itself says more."""

from analogical.show.relevance import view_relevance
from analogical.show.report.sentences import describe_answer, describe_turn, verdict
from analogical.show.views import View
from analogical.show.words import LONG_NAME, shown
from analogical.verbs.report import Report

__all__ = ["view_report"]

MAX_FEATURES = 10
"""Features in the table."""


def view_report(result: Report) -> View:
    """The verdict, the best features with their effects, and where the page is."""
    view = view_relevance(result.relevance, top=MAX_FEATURES)
    return View(
        headline=verdict(result),
        tables=view.tables,
        lines=(
            f"Can this table answer? {result.answer.capitalize()}. {' '.join(describe_answer(result))}",
            "The page is in .html; .save(path) writes it.",
        ),
        about=view.about,
        explanation=tuple(f"{shown(item.feature, LONG_NAME)}: {describe_turn(result, item)}" for item in result.turned),
    )
