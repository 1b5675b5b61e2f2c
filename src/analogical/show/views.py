"""Views: what is shown of a result, as plain data that text, terminal, HTML and the report render.

Every view has a headline, tables, at most three lines, and explanations for readers who ask.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from analogical.show.notes import describe_notes, sum_up_notes
from analogical.show.words import count_left_out

if TYPE_CHECKING:
    from analogical._results import Result
    from analogical.study import Study

__all__ = ["Cell", "Column", "Heading", "Table", "Tone", "View", "number_column", "tabulate", "text_column", "view_of"]

Tone = Literal["plain", "strong", "good", "warning", "muted", "accent"]
"""Emphasis of a text; renderers choose colours."""
MAX_TABLE_ROWS = 50
"""Maximum number of rows of a table."""
MAX_EXTRA_ROWS = 10
"""Up to this many rows more are shown rather than counted as left out."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = "plain"
    bar: float | None = None
    """Length of a bar beside the text, from 0 to 1; NaN draws an empty one."""
    shade: float | None = None
    """Strength of the background colour in HTML, from 0 to 1."""


@dataclass(frozen=True)
class Heading:
    """Title and layout of a column; text is aligned left, numbers right."""

    title: str
    is_text: bool = False
    may_shorten: bool = False
    """Whether cells may be shortened in a narrow terminal."""
    may_wrap: bool = False
    """Whether cells may be wrapped in a narrow terminal."""
    drop_order: int = 0
    """Columns with the highest number are dropped first if the terminal is too narrow; 0 always stays."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    """A line above the table."""
    note: str = ""
    """A sentence below the table."""

    @property
    def has_head(self) -> bool:
        """Whether any column has a title."""
        return any(heading.title for heading in self.headings)


@dataclass(frozen=True)
class Column:
    """A heading, and the function that makes the cell of an item."""

    heading: Heading
    cell: Callable[[Any], Cell | str]


def text_column(title: str, cell: Callable[[Any], Cell | str], **fit: Any) -> Column:
    """A column of text, aligned left."""
    return Column(Heading(title, is_text=True, **fit), cell)


def number_column(title: str, cell: Callable[[Any], Cell | str], **fit: Any) -> Column:
    """A column of numbers, aligned right."""
    return Column(Heading(title, **fit), cell)


def tabulate(
    items: Iterable[Any], columns: Sequence[Column], *, most: int | None = None, note: str = "", title: str = ""
) -> Table:
    """A table with a row per item; of many items the first ones, with the number of those left out."""
    items = list(items)
    if most is None and len(items) > MAX_TABLE_ROWS + MAX_EXTRA_ROWS:
        most = MAX_TABLE_ROWS
    rows = tuple(tuple(_as_cell(column.cell(item)) for column in columns) for item in items[:most])
    left_out = count_left_out(len(items) - len(rows))
    return Table(
        tuple(column.heading for column in columns),
        rows,
        title=title,
        note=" ".join(text for text in (left_out, note) if text),
    )


def _as_cell(cell: Cell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class View:
    """What is shown of a result."""

    headline: str
    """The answer, in one sentence."""
    tables: tuple[Table, ...] = ()
    lines: tuple[str, ...] = ()
    """Basis and limits of the answer: at most three sentences."""
    examples: tuple[Table, ...] = ()
    """Rows of the user's table."""
    about: tuple[str, ...] = ()
    """Size of the table and what was done to it, in a few words each."""
    notes: tuple[str, ...] = ()
    """What was done to the table, a sentence each."""
    explanation: tuple[str, ...] = ()
    """Sentences for readers who ask for more."""
    details: tuple[Table, ...] = ()
    """Tables for readers who ask for more."""


_MAKERS = {
    "Audit": ("audit", "view_audit"),
    "Comparison": ("comparison", "view_comparison"),
    "Evidence": ("evidence", "view_evidence"),
    "Interaction": ("interactions", "view_interaction"),
    "Interactions": ("interactions", "view_interactions"),
    "Redundancies": ("redundancies", "view_redundancies"),
    "Relevance": ("relevance", "view_relevance"),
    "Report": ("report", "view_report"),
    "Selection": ("selection", "view_selection"),
    "Study": ("study", "view_study"),
    "Transitions": ("evidence", "view_transitions"),
}
"""File of this folder and function in it that make the view of each kind of result, and of studies."""


def view_of(result: "Result | Study", **options: Any) -> View:
    """The view of a result or a study, with the notes on its table."""
    kinds = [kind.__name__ for kind in type(result).__mro__]  # subclasses of Study have no entry of their own
    file, name = next(_MAKERS[kind] for kind in kinds if kind in _MAKERS)
    make: Callable[..., View] = getattr(import_module(f"analogical.show.{file}"), name)
    view = make(result, **options)
    return replace(view, about=(*view.about, *sum_up_notes(result.notes)), notes=describe_notes(result.notes))
