"""Redundancies as a view."""

from typing import NamedTuple

from analogical.show.views import View, figures, tabulate, words
from analogical.show.words import counted, listed, shown
from analogical.verbs.redundancies import Dropped, Redundancies

__all__ = ["describe_dropped", "view_redundancies"]


class _Line(NamedTuple):
    """A column, why it is redundant, and how often that was tested."""

    column: str
    redundancy: str
    tests: str = ""


def view_redundancies(result: Redundancies) -> View:
    """One line per finding: constant columns, columns with the same information, and columns that others determine."""
    lines = [
        *(_Line(name, "one value only") for name in result.constants),
        *(_Line(name, f"same information as {shown(first)}") for first, *rest in result.renamings for name in rest),
        *(_Line(d.feature, f"determined by {listed(d.determined_by)}", f"{d.support:,}") for d in result.dependencies),
    ]
    columns = [
        words("column", lambda line: shown(line.column), may_shorten=True),
        words("redundancy", lambda line: line.redundancy, may_wrap=True),
        figures("tests", lambda line: line.tests, leaves=1),
    ]
    n_redundant = len({line.column for line in lines})
    n = counted(len(result.names), "column")
    return View(
        f"{n_redundant:,} of {n} {'is' if n_redundant == 1 else 'are'} redundant."
        if lines
        else f"None of {n} is redundant.",
        tables=(tabulate(lines, columns),) if lines else (),
        lines=tuple(filter(None, [_not_searched(result)])),
        about=(counted(result.n_rows, "row"), n),
        explanation=("tests: rows that could have contradicted the dependency, and did not.",)
        if result.dependencies
        else (),
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
