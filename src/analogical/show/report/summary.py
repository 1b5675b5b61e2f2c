"""The sentences of a report: the verdict, whether the table can answer, the limits; and the report as a view."""

from analogical.questions.report import Doubt, Report, Turn
from analogical.show.notes import leaks_of
from analogical.show.relevance import say_effects, view_relevance
from analogical.show.sentences import SMALL, agreeing_on, assumed, describe_direction, has_direction
from analogical.show.views import View
from analogical.show.words import LONG_NAME, counted, in_points, list_all, list_first, percent, points_of, shown, verb

__all__ = ["describe_answer", "describe_limits", "describe_turn", "verdict", "view_report"]

MAX_FEATURES = 10
"""Features in the table of the view."""


def verdict(report: Report) -> str:
    """The answer in a sentence or two."""
    ranked = report.relevance
    names = ranked.with_status("effect")
    if not names:
        ruled_out = all(status in ("none", "constant") for status in ranked.status)
        rest = f"No interval exceeds {SMALL}." if ruled_out else "Not all effects are ruled out."
        return f"{say_effects(ranked)} {rest}"
    i = ranked.names.index(names[0])
    points = ranked.points[i]
    largest = f"The largest is that of {shown(names[0])}"
    if points is None or not has_direction(ranked, i):
        return f"{say_effects(ranked)} {largest}."
    return f"{say_effects(ranked)} {largest}: {describe_direction(points)}."


def describe_answer(report: Report) -> list[str]:
    """What the answer is based on, and what limits it."""
    ranked = report.relevance
    if report.answer == "no" and not ranked.compared.any():
        return ["No two rows can be compared for any feature. Collect more rows, or leave out columns."]
    if report.answer == "no":
        return ["No feature is significant, and no effect is ruled out: there are too few rows."]
    sentences = []
    if effects := ranked.with_status("effect"):
        sentences.append(f"{counted(len(effects), 'feature has', 'features have')} a significant effect.")
    if none := ranked.with_status("none"):
        sentences.append(f"{counted(len(none), 'feature has', 'features have')} no effect of more than {SMALL}.")
    return [*sentences, *(_doubt(report, doubt) for doubt in report.doubts())]


def _doubt(report: Report, doubt: Doubt) -> str:
    ranked = report.relevance
    if doubt == "unclear":
        names = ranked.with_status("unclear")
        return f"{list_first(names)} {verb(names, 'is', 'are')} unclear: not significant, but not ruled out."
    if doubt == "stand-ins":
        names = [name for name in ranked.ranking() if ranked.stand_ins[ranked.names.index(name)]]
        return f"Other features could replace {list_first(names)}: the data hardly show which of them matters."
    if doubt == "copies":
        names = ranked.with_status("same")
        carry = verb(names, "carries", "carry")
        return f"{list_first(names)} {carry} the same information as another feature; no test can distinguish them."
    if doubt == "few-compared":
        shares = [panel.n_compared / ranked.n_rows for panel in report.panels if panel.n_compared]
        return (
            f"Many rows have no partner: {percent(min(shares))} to {percent(max(shares))} of all rows are compared,"
            " depending on the feature."
        )
    names = [*leaks_of(ranked.notes)]
    known = verb(names, "alone predicts nearly all labels: is it", "each predict nearly all labels alone: are they")
    return f"{list_first(names)} {known} known before the label?"


def describe_turn(report: Report, item: Turn) -> str:
    """Why a feature has another status if nothing is given."""
    ranked = report.relevance
    i = ranked.names.index(item.feature)
    alone = f"{in_points(points_of(report.alone[i]))} points"
    if item.reason == "explained":
        left = "no effect remains" if ranked.status[i] == "none" else "no significant effect remains"
        return f"{alone} alone; among {agreeing_on(item.others)}, {left}."
    if item.reason == "together":
        return f"Not significant alone ({alone}): its effect depends on {list_all(item.others)}."
    return (
        f"Not significant alone ({alone}); among {agreeing_on(item.others)}, the effect is"
        f" {in_points(points_of(ranked.effect[i]))} points."
    )


def describe_limits(report: Report) -> list[str]:
    """The limits of the report."""
    return [
        "Effects are associations, not causes. Rows agree on recorded columns only; an unrecorded one may explain a"
        " difference.",
        f"{assumed(report.relevance.settings.n_groups)} They do not extend to rows from another time or place.",
        "“Unclear” is not “none”: a feature compared on too few rows, or not at all, may still matter.",
    ]


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
