"""Views: what is shown of a result, as plain data that text, terminal, HTML and the report render.

Every view has a headline, tables, at most three lines, and explanations for readers who ask.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from analogical.show.notes import describe_notes, sum_up_notes
from analogical.show.words import count_left_out, counted, list_first, quoted

if TYPE_CHECKING:
    from analogical._results import Result
    from analogical.study import Study

Tone = Literal["plain", "strong", "good", "warning", "muted", "accent"]
"""Emphasis of a text; renderers choose colours."""


class Marks(NamedTuple):
    """A bar from ``zero`` to ``at``, its interval and another mark: places on an axis from 0 to 1, None if unknown."""

    zero: float
    at: float | None
    low: float | None
    high: float | None
    other: float | None

    @classmethod
    def on(cls, zero: float, *places: float) -> "Marks":
        """Marks at these places, of which NaN are unknown."""
        return cls(zero, *(None if place != place else place for place in places))


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = "plain"
    bar: float | None = None
    """Length of a bar beside the text, from 0 to 1; NaN draws an empty one."""
    shade: float | None = None
    """Strength of the background colour in HTML, from 0 to 1."""
    chart: Any = None
    """What only the page draws: :class:`Marks` on the axis of the column, or the parts of a bar."""


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
    axis: tuple[str, ...] = ()
    """Texts along the axis of a column of marks, on the page only."""


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
    """A table with a row per item; of more than 60 the first 50, or ``most``, with the number of those left out."""
    items = list(items)
    if most is None and len(items) > 60:
        most = 50
    cells = ([column.cell(item) for column in columns] for item in items[:most])
    rows = tuple(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row) for row in cells)
    note = " ".join(filter(None, (count_left_out(len(items) - len(rows)), note)))
    return Table(tuple(column.heading for column in columns), rows, title=title, note=note)


@dataclass(frozen=True)
class View:
    """What is shown of a result."""

    headline: str = ""
    """The answer, in one sentence."""
    title: str = ""
    """What a view is about, where several are on one page."""
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
    "Evidence": ("audit", "view_evidence"),
    "Interaction": ("interactions", "view_interaction"),
    "Interactions": ("interactions", "view_interactions"),
    "Redundancies": ("selection", "view_redundancies"),
    "Relevance": ("relevance", "view_relevance"),
    "Report": ("report", "view_report"),
    "Selection": ("selection", "view_selection"),
    "Study": ("views", "view_study"),
    "Transitions": ("audit", "view_transitions"),
}
"""File of this folder and function in it that make the view of each kind of result, and of studies."""


def view_of(result: "Result | Study", **options: Any) -> View:
    """The view of a result or a study, with the notes on its table."""
    kinds = [kind.__name__ for kind in type(result).__mro__]  # subclasses of Study have no entry of their own
    file, name = next(_MAKERS[kind] for kind in kinds if kind in _MAKERS)
    make: Callable[..., View] = getattr(import_module(f"analogical.show.{file}"), name)
    view = make(result, **options)
    return replace(view, about=(*view.about, *sum_up_notes(result.notes)), notes=describe_notes(result.notes))


QUESTIONS = {
    "relevance": "which features have an effect, given the others",
    "select": "which features predict the label best together",
    "interactions": "which features act together",
    "audit": "how the label differs between its values",
    "evidence": "which pairs of rows show its effect",
    "transitions": "how values and labels change in its pairs",
    "redundancies": "which features carry the same information",
    "compare": "what other methods say",
    "report": "all of this on one page",
}
"""What each function answers about a study."""


def view_study(study: "Study") -> View:
    """The table, and a line for each function that takes this study."""
    table, once = study.table, study.duplicates == "once"
    rows = counted(int(study.label_sizes.sum()), "distinct row" if once else "row")
    groups = "" if study.n_groups is None else f" in {counted(study.n_groups, 'group')}"
    refused = set() if study.n_groups is None else {"interactions"}
    if study.source is not None:
        refused |= {"compare"}
    names = ["relevance", "select"] if once else [name for name in QUESTIONS if name not in refused]
    arguments = dict.fromkeys(("audit", "evidence", "transitions"), ", feature")
    columns = [
        text_column("ask", lambda name: f"{name}(study{arguments.get(name, '')})"),
        text_column("to learn", QUESTIONS.__getitem__),
    ]
    return View(
        headline=f"Study of {counted(study.n_features, 'feature')} for {quoted(table.label)}"
        f" ({counted(len(table.classes), 'class', 'classes')}), {rows}{groups}: {list_first(table.names)}",
        tables=(tabulate(names, columns),),
    )
