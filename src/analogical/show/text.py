"""Views as plain text, for ``print`` and logs."""

from collections.abc import Sequence
from textwrap import wrap

from analogical.show.views import Table, View
from analogical.show.words import LONG_NAME, shorten, width_of

__all__ = ["aligned", "padded", "render_text", "wrapped"]

WIDTH = 80
"""Columns that plain text is laid out for."""


def render_text(view: View) -> str:
    """A view as lines of text."""
    lines = [wrapped(sentence) for sentence in (view.headline, *view.notes, *view.facts) if sentence]
    for table in view.tables:
        lines += _render_table(table)
    lines += [wrapped(sentence) for sentence in (view.findings if view.brief is None else view.brief)]
    if view.examples and view.caveat:
        lines.append("")
    for block in view.examples:
        lines.append(wrapped(block.title, "  "))
        lines += [f"  {line}" for line in _render_table(block)]
    if view.caveat:
        lines += ["", wrapped(view.caveat)]
    return "\n".join(lines)


def _render_table(table: Table) -> list[str]:
    head = [tuple(heading.title for heading in table.headings)] if table.has_head else []
    limits = [LONG_NAME if heading.may_shorten else None for heading in table.headings]
    cells = (
        (cell.text if n is None else shorten(cell.text, n) for cell, n in zip(row, limits, strict=True))
        for row in table.rows
    )
    rows = [*head, *map(tuple, cells)]
    lines = aligned(rows, [heading.is_text for heading in table.headings])
    return [*lines, wrapped(table.note)] if table.note else lines


def aligned(rows: Sequence[Sequence[str]], is_text: Sequence[bool]) -> list[str]:
    """Rows of words as lines of aligned columns, words on the left, numbers on the right."""
    widths = [max(width_of(row[c]) for row in rows) for c in range(len(rows[0]))] if rows else []
    return [
        "  ".join(padded(word, width, left) for word, width, left in zip(row, widths, is_text, strict=True)).rstrip()
        for row in rows
    ]


def padded(word: str, width: int, left: bool) -> str:
    """A word in a column: on the left, or on the right."""
    space = " " * (width - width_of(word))
    return word + space if left else space + word


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph in lines of a terminal; later lines are set in."""
    return "\n".join(wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)) if text else ""
