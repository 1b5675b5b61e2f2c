"""Views as plain text, for ``print`` and logs."""

from analogical.show.fitting import fit_table
from analogical.show.views import Table, View
from analogical.show.words import wrap_sentence

__all__ = ["render_text"]

WIDTH = 80
"""Columns that plain text is laid out for."""


def render_text(view: View) -> str:
    """A view as lines of text: the answer, the tables, and what they rest on."""
    lines = wrap_sentence(view.headline, WIDTH)
    for table in view.tables:
        lines += _render_table(table)
    for text in (*view.lines, f"{', '.join(view.about)}." if view.about else ""):
        lines += wrap_sentence(text, WIDTH)
    for block in view.examples:
        lines += wrap_sentence(block.title, WIDTH, "  ")
        lines += [f"  {line}" for line in _render_table(block)]
    return "\n".join(lines)


def _render_table(table: Table) -> list[str]:
    lines = ["  ".join(cell.text for cell in cells).rstrip() for cells in fit_table(table, WIDTH).lines]
    return [*lines, *wrap_sentence(table.note, WIDTH)]
