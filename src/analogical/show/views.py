"""Results to views: what is said and shown, as plain data that text, terminal, HTML and pages render."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from analogical._results import Result
    from analogical.study import Study

__all__ = ["Cell", "Heading", "Table", "Tone", "View", "view_of"]

Tone = Literal["plain", "strong", "good", "warning", "muted", "accent"]
"""What a piece of text means for the reader; renderers choose colours."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = "plain"
    bar: float | None = None
    """A share from 0 to 1 to be drawn beside the text; NaN draws an empty one."""


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
class View:
    """A result in the order in which it is read."""

    headline: str
    summary: str = ""
    """What was read, in one sentence."""
    notes: tuple[str, ...] = ()
    """What was done to the table."""
    facts: tuple[str, ...] = ()
    """Sentences before the tables."""
    tables: tuple[Table, ...] = ()
    findings: tuple[str, ...] = ()
    """Sentences after the tables: what the numbers say, with their limits."""
    bullets: tuple[str, ...] = ()
    """The findings in short, for readers who have not asked for more."""
    details: tuple[Table, ...] = ()
    """Tables for readers who have asked for more."""
    brief: tuple[str, ...] | None = None
    """What a short text says instead of the findings."""
    examples: tuple[Table, ...] = ()
    caveat: str = ""


_MAKERS = {
    "Audit": ("audit", "view_audit"),
    "Comparison": ("comparison", "view_comparison"),
    "Evidence": ("evidence", "view_evidence"),
    "Interactions": ("interactions", "view_interactions"),
    "Redundancies": ("redundancies", "view_redundancies"),
    "Relevance": ("relevance", "view_relevance"),
    "Report": ("report", "view_report"),
    "Selection": ("selection", "view_selection"),
    "SparkStudy": ("study", "view_study"),
    "Squares": ("interactions", "view_squares"),
    "Study": ("study", "view_study"),
    "Transitions": ("evidence", "view_transitions"),
}
"""For each kind of result, and for studies, the file of this folder and the function in it that makes its view."""


def view_of(result: "Result | Study", **options: Any) -> View:
    """The view of any result, or of a study."""
    file, name = _MAKERS[type(result).__name__]
    make: Callable[..., View] = getattr(import_module(f"analogical.show.{file}"), name)
    return make(result, **options)
