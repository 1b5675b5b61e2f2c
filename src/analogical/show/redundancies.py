"""Redundancies as a view."""

from analogical.show.notes import describe_notes
from analogical.show.views import View
from analogical.show.words import counted, shown, verb
from analogical.verbs.redundancies import Dropped, Redundancies

__all__ = ["describe_dropped", "view_redundancies"]


def view_redundancies(result: Redundancies) -> View:
    """One line per finding."""
    headline = f"Redundancies among {counted(len(result.names), 'column')}, {counted(result.n_rows, 'row')}"
    findings = [f"constant: {', '.join(map(shown, result.constants))}"] if result.constants else []
    findings += [f"same information: {' = '.join(map(shown, group))}" for group in result.renamings]
    findings += [
        f"{' and '.join(map(shown, d.determined_by))} {verb(d.determined_by, 'determines', 'determine')}"
        f" {shown(d.feature)} ({counted(d.support, 'test')})"
        for d in result.dependencies
    ]
    return View(
        headline if findings else f"{headline}: none",
        notes=describe_notes(result.notes),
        findings=tuple(findings),
        caveat=_not_searched(result),
    )


def _not_searched(result: Redundancies) -> str:
    """What was not searched, because the table has too many columns or it was not requested."""
    if not result.searched_one:
        return "Dependencies on one column were not searched: there are too many columns."
    return "" if result.searched_two else "Dependencies on two columns were not searched."


def describe_dropped(dropped: Dropped) -> str:
    """Why a feature was left out, in one line."""
    feature = shown(dropped.feature)
    if dropped.reason == "constant":
        return f"{feature}: one value only"
    if dropped.reason == "id":
        return f"{feature}: an identifier, distinct in nearly every row"
    return f"{feature}: the same information as {shown(dropped.in_favour_of[0])}"
