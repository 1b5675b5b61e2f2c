"""Views: what is shown of a result, as plain data that text, terminal, HTML and the report render.

Every view has a headline, tables, at most three lines, and explanations for readers who ask. Text is fitted to a width:
sentences are wrapped, names are shortened, and numbers are never cut.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from analogical.show.notes import describe_notes, sum_up_notes, warnings_of
from analogical.show.words import (
    LONG_NAME,
    count_left_out,
    counted,
    list_first,
    quoted,
    shorten_apart,
    width_of,
    wrap_sentence,
    wrap_words,
)

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
        """Marks at these places, of which NaN are unknown; views with None are equal, those with NaN are not."""
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
    about, lines = (*view.about, *sum_up_notes(result.notes)), (*view.lines, *warnings_of(result.notes))
    return replace(view, lines=lines, about=about, notes=describe_notes(result.notes))


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


# ---------------------------------------------------------------- as text

BAR_WIDTH = 6
EIGHTHS = " ▏▎▍▌▋▊▉█"


def render_text(view: View, width: int = 80) -> str:
    """A view as lines of text: the answer, the tables, and what they rest on."""

    def table_lines(table: Table) -> list[str]:
        lines = ["  ".join(cell.text for cell in cells).rstrip() for cells in fit_table(table, width).lines]
        return [*lines, *wrap_sentence(table.note, width)]

    lines = wrap_sentence(view.headline, width)
    for table in view.tables:
        lines += table_lines(table)
    for text in (*view.lines, f"{', '.join(view.about)}." if view.about else ""):
        lines += wrap_sentence(text, width)
    for block in view.examples:
        lines += wrap_sentence(block.title, width, "  ")
        lines += [f"  {line}" for line in table_lines(block)]
    return "\n".join(lines)


class FittedTable(NamedTuple):
    """Lines of padded cells, to be written one after the other."""

    lines: tuple[tuple[Cell, ...], ...]
    left_out: tuple[str, ...]
    """Titles of the columns that did not fit."""


@dataclass(frozen=True)
class _Fitted:
    """A column with its cells; the first one is its title, if the table has a head."""

    heading: Heading
    cells: tuple[Cell, ...]
    width: int
    has_bar: bool

    def narrowest(self, shortest_name: int) -> int:
        """How narrow the column may become; only long words are broken, so that they do not displace numbers."""
        if self.heading.may_shorten:
            return min(self.width, shortest_name)
        if self.heading.may_wrap:
            words = (word for cell in self.cells for word in cell.text.split())
            return min(24, max(map(width_of, words), default=0))
        return self.width


def fit_table(
    table: Table, width: int, *, keeps_all: bool = False, writable: Callable[[str], str] = str, blocks: bool = True
) -> FittedTable:
    """A table as lines of a width.

    If it does not fit, cells are wrapped and names shortened, as far as their headings allow; then bars and
    columns are dropped, in the order that the headings say. Lines may still be too wide. With ``keeps_all`` nothing is
    dropped and only very long names are shortened. ``writable`` makes the replacements that the encoding of the output
    needs; bars are drawn with ``blocks``, or with ``#``.
    """
    titles = [tuple(Cell(heading.title, "strong") for heading in table.headings)] if table.has_head else []
    cells = [[replace(cell, text=writable(cell.text)) for cell in row] for row in (*titles, *table.rows)]
    all_columns = []
    for k, heading in enumerate(table.headings):
        of_column = tuple(row[k] for row in cells)
        longest = max((width_of(cell.text) for cell in of_column), default=0)
        has_bar = any(cell.bar is not None for cell in of_column)
        all_columns.append(_Fitted(heading, of_column, longest, has_bar))
    for columns, shortest_name in [(all_columns, LONG_NAME)] if keeps_all else _plans(all_columns):
        floors = [column.narrowest(shortest_name) for column in columns]
        left = width - 2 * (len(columns) - 1) - (2 + BAR_WIDTH) * sum(column.has_bar for column in columns)
        if sum(floors) <= left:
            break
    widths = [column.width for column in columns]
    while sum(widths) > left and (loose := [k for k, floor in enumerate(floors) if widths[k] > floor]):
        widths[max(loose, key=widths.__getitem__)] -= 1  # the widest that may be narrowed
    kept = {column.heading for column in columns}
    return FittedTable(
        lines=tuple(_lines(columns, widths, writable("…"), blocks)),
        left_out=tuple(column.heading.title for column in all_columns if column.heading not in kept),
    )


def _plans(columns: list[_Fitted]) -> Iterator[tuple[list[_Fitted], int]]:
    """Ways to show a table, the fullest first: its columns, and how far names may be shortened.

    Columns with drop orders from 4 go before bars, then names become shorter, then the others go.
    """
    orders = sorted({column.heading.drop_order for column in columns} - {0}, reverse=True)
    yield columns, 14
    for order in (order for order in orders if order >= 4):
        columns = [column for column in columns if column.heading.drop_order < order]
        yield columns, 14
    columns = [replace(column, has_bar=False) for column in columns]
    yield columns, 14
    yield columns, 7
    for order in (order for order in orders if order < 4):
        yield [column for column in columns if column.heading.drop_order < order], 7


def _lines(
    columns: Sequence[_Fitted], widths: Sequence[int], ellipsis: str, blocks: bool
) -> Iterator[tuple[Cell, ...]]:
    """The lines of all rows; a row has as many lines as its tallest cell."""
    wrapped = []
    for column, width in zip(columns, widths, strict=True):
        texts = [cell.text for cell in column.cells]
        if width < column.width and not column.heading.may_wrap:
            texts = shorten_apart(texts, width, ellipsis)
        wrapped.append([wrap_words(text, width) if column.heading.may_wrap else [text] for text in texts])
    for r, parts in enumerate(zip(*wrapped, strict=True)):
        for n, line in enumerate(zip_longest(*parts, fillvalue="")):
            cells = []
            for column, text, width in zip(columns, line, widths, strict=True):
                cell, space = column.cells[r], " " * (width - width_of(text))
                cells.append(Cell(text + space if column.heading.is_text else space + text, cell.tone))
                if column.has_bar:
                    cells.append(Cell(_bar(cell.bar if n == 0 else None, blocks).ljust(BAR_WIDTH), "accent"))
            yield tuple(cells)


def _bar(share: float | None, blocks: bool) -> str:
    """A share from 0 to 1 as blocks, to an eighth of a character; empty if it is unknown."""
    if share is None or not share > 0:  # unknown, or an estimate below 0
        return ""
    eighths = min(round(share * BAR_WIDTH * 8), BAR_WIDTH * 8)
    if share >= 0.0005:  # not written as 0, so the bar must be visible
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    if blocks:
        return "█" * whole + (EIGHTHS[rest] if rest else "")
    return "#" * round(eighths / 8) or "." * (eighths > 0)
