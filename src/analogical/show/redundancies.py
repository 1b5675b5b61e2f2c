"""Redundancies as a view."""

from typing import TYPE_CHECKING, NamedTuple

from analogical.questions.redundancies import COPY, Redundancies
from analogical.show.views import View, number_column, tabulate, text_column
from analogical.show.words import counted, list_all, percent, shown

if TYPE_CHECKING:
    from analogical.questions.selector import Dropped

__all__ = ["describe_dropped", "view_redundancies"]


class _Line(NamedTuple):
    """A line of the table: a column, why it is redundant, and how many rows tested it."""

    column: str
    redundancy: str
    tests: str = ""


def view_redundancies(result: Redundancies) -> View:
    """One line per finding: constants, columns with the same information, those that others determine, near-copies."""
    lines = [
        *(_Line(name, "one value only") for name in result.constants),
        *(_Line(name, f"same information as {shown(first)}") for first, *rest in result.renamings for name in rest),
        *(
            _Line(d.feature, f"determined by {list_all(d.determined_by)}", f"{d.support:,}")
            for d in result.dependencies
        ),
    ]
    near = [_Line(c.feature, f"{shown(c.of)} leaves {percent(c.left)} of it open") for c in result.near_copies]
    columns = [
        text_column("column", lambda line: shown(line.column), may_shorten=True),
        text_column("redundancy", lambda line: line.redundancy, may_wrap=True),
        *([number_column("tests", lambda line: line.tests, drop_order=1)] if result.dependencies else []),
    ]
    exact = {line.column for line in lines}
    lines += near
    return View(
        _headline(counted(len(result.names), "column"), len(exact), len({line.column for line in near} - exact)),
        tables=(tabulate(lines, columns),) if lines else (),
        lines=tuple(filter(None, [_what_is_open(result), _not_searched(result)])),
        about=(counted(result.n_rows, "row"), counted(len(result.names), "column")),
        explanation=(
            *(["tests: rows that could have contradicted the dependency, and did not."] if result.dependencies else []),
            *([f"relevance treats a column as a copy if at most {percent(COPY)} of it is open."] if near else []),
        ),
    )


def _headline(columns: str, n_exact: int, n_near: int) -> str:
    """How many columns are redundant, and how many nearly."""
    exact = f"{n_exact:,} of {columns} {'is' if n_exact == 1 else 'are'}" if n_exact else f"None of {columns} is"
    near = f"; {n_near:,} {'more ' if n_exact else ''}nearly {'is' if n_near == 1 else 'are'}" if n_near else ""
    return f"{exact} redundant{near}."


def _what_is_open(result: Redundancies) -> str:
    """What "open" means in the lines on near-copies."""
    if not result.near_copies:
        return ""
    return "Open: share of a column's entropy that is left when the other is known; numbers are compared in their bins."


def _not_searched(result: Redundancies) -> str:
    """What was not searched: too many columns, or not requested."""
    if not result.searched_one:
        return "Dependencies on one column and near-copies were not searched: there are too many columns."
    if not result.searched_near:
        return "Dependencies on two columns and near-copies were not searched: there are too many columns."
    return "" if result.searched_two else "Dependencies on two columns were not searched."


def describe_dropped(dropped: "Dropped") -> str:
    """Why a feature was left out, in one line."""
    feature = shown(dropped.feature)
    if dropped.reason == "constant":
        return f"{feature}: one value only"
    if dropped.reason == "id":
        return f"{feature}: an identifier, distinct in nearly every row"
    return f"{feature}: the same information as {shown(dropped.in_favour_of[0])}"
