"""Results to views: what is said and shown, as plain data that text, terminal, HTML and the page render.

Every view has the same shape: the answer in a sentence, a table, at most three lines, and the rest for readers who ask.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from analogical.show.notes import describe_notes, sum_up_notes
from analogical.show.words import and_more

if TYPE_CHECKING:
    from analogical._results import Result
    from analogical.study import Study

__all__ = ["Cell", "Column", "Heading", "Table", "Tone", "View", "figures", "tabulate", "view_of", "words"]

Tone = Literal["plain", "strong", "good", "warning", "muted", "accent"]
"""What a piece of text means for the reader; renderers choose colours."""
MOST_ROWS = 50
"""Rows that a table shows."""
FEW_MORE = 10
"""So many more are shown, too: a line that says how many are left out is of little use then."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = "plain"
    bar: float | None = None
    """A share from 0 to 1 to be drawn beside the text; NaN draws an empty one."""
    shade: float | None = None
    """A share from 0 to 1 by which the cell is shaded, where there are colours."""


@dataclass(frozen=True)
class Heading:
    """Title of a column; words stand on the left, numbers on the right."""

    title: str
    is_text: bool = False
    may_shorten: bool = False
    """Whether a narrow terminal may cut the cells of this column."""
    may_wrap: bool = False
    """Whether a narrow terminal may write the cells of this column on several lines."""
    leaves: int = 0
    """Order in which columns leave a table that is too wide for the terminal, the highest first; 0 always stays."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    """A line above the table."""
    note: str = ""
    """A sentence below the table."""
    has_head: bool = True


@dataclass(frozen=True)
class Column:
    """A column of a table that is being made: its heading, and its cell for an item."""

    heading: Heading
    cell: Callable[[Any], Cell | str]


def words(title: str, cell: Callable[[Any], Cell | str], **fit: Any) -> Column:
    """A column of words, on the left."""
    return Column(Heading(title, is_text=True, **fit), cell)


def figures(title: str, cell: Callable[[Any], Cell | str], **fit: Any) -> Column:
    """A column of numbers, on the right."""
    return Column(Heading(title, **fit), cell)


def tabulate(
    items: Iterable[Any], columns: Sequence[Column], *, most: int | None = None, note: str = "", title: str = ""
) -> Table:
    """A row of cells for each item; of many items the first ones, and how many more there are."""
    items = list(items)
    n_shown = min(most, len(items)) if most is not None else MOST_ROWS if len(items) > MOST_ROWS + FEW_MORE else None
    rows = tuple(tuple(_as_cell(column.cell(item)) for column in columns) for item in items[:n_shown])
    left_out = and_more(len(items) - len(rows))
    return Table(
        tuple(column.heading for column in columns),
        rows,
        title=title,
        note=" ".join(text for text in (left_out, note) if text),
        has_head=any(column.heading.title for column in columns),
    )


def _as_cell(cell: Cell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class View:
    """A result in the order in which it is read."""

    headline: str
    """The answer, in one sentence."""
    tables: tuple[Table, ...] = ()
    lines: tuple[str, ...] = ()
    """What the answer rests on and what limits it: at most three sentences."""
    examples: tuple[Table, ...] = ()
    """Rows of the user's table."""
    about: tuple[str, ...] = ()
    """The table and what was done to it, in a few words each."""
    notes: tuple[str, ...] = ()
    """What was done to the table, a sentence each."""
    explanation: tuple[str, ...] = ()
    """Sentences for readers who ask for more."""
    details: tuple[Table, ...] = ()
    """Tables for readers who ask for more."""


_MAKERS = {
    "Audit": ("audit", "view_audit"),
    "Comparison": ("comparison", "view_comparison"),
    "EngineStudy": ("study", "view_study"),
    "Evidence": ("evidence", "view_evidence"),
    "Interactions": ("interactions", "view_interactions"),
    "Redundancies": ("redundancies", "view_redundancies"),
    "Relevance": ("relevance", "view_relevance"),
    "Report": ("report", "view_report"),
    "Selection": ("selection", "view_selection"),
    "Squares": ("squares", "view_squares"),
    "Study": ("study", "view_study"),
    "Transitions": ("evidence", "view_transitions"),
}
"""For each kind of result, and for studies, the file of this folder and the function in it that makes its view."""


def view_of(result: "Result | Study", **options: Any) -> View:
    """The view of any result, or of a study, with what was done to its table."""
    kinds = [kind.__name__ for kind in type(result).__mro__]  # some studies are of a kind of their own
    file, name = next(_MAKERS[kind] for kind in kinds if kind in _MAKERS)
    make: Callable[..., View] = getattr(import_module(f"analogical.show.{file}"), name)
    view = make(result, **options)
    holder: Any = getattr(result, "relevance", None) or getattr(result, "table", None) or result  # who has the notes
    return replace(view, about=(*view.about, *sum_up_notes(holder.notes)), notes=describe_notes(holder.notes))
