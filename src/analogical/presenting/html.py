"""Views as HTML for notebooks: everything from the data is escaped, colours follow the notebook's theme."""

from html import escape

from analogical.presenting.views import Cell, Table, Tone, View

__all__ = ["render_html"]

RIGHT = "text-align:right;font-variant-numeric:tabular-nums;padding:2px 10px"
LEFT = "text-align:left;padding:2px 10px"
BAR_WIDTH = 60
TONES: dict[Tone, str] = {
    "plain": "",
    "good": ";color:#2a7d4f",
    "strong": ";font-weight:600",
    "warning": "",
    "muted": ";opacity:.7",
}


def render_html(view: View) -> str:
    """A view as a piece of HTML."""
    parts = [
        f"<p><b>{escape(view.headline)}</b></p>" if view.headline else "",
        *(f"<p>{escape(text)}</p>" for text in (view.summary, *view.notes, *view.facts) if text),
        *(_render_table(table) for table in view.tables),
        *(f"<p>{escape(text)}</p>" for text in view.findings),
        *(f'<p style="opacity:.7">{escape(block.title)}</p>{_render_table(block)}' for block in view.examples),
        f"<p><i>{escape(view.caveat)}</i></p>" if view.caveat else "",
    ]
    return f"<div>{''.join(parts)}</div>"


def _render_table(table: Table) -> str:
    head = "".join(
        f'<th style="{LEFT if heading.is_text else RIGHT}">{escape(heading.title)}</th>' for heading in table.headings
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{LEFT if heading.is_text else RIGHT}{TONES[cell.tone]}">{_bar(cell)}{escape(cell.text)}</td>'
            for heading, cell in zip(table.headings, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    thead = f"<thead><tr>{head}</tr></thead>" if table.has_head else ""
    return f'<table style="border-collapse:collapse">{thead}<tbody>{body}</tbody></table>{note}'


def _bar(cell: Cell) -> str:
    """A small bar before a number; an empty one where the number is unknown."""
    if cell.bar is None:
        return ""
    width = 0.0 if cell.bar != cell.bar else BAR_WIDTH * min(max(cell.bar, 0.0), 1.0)
    return (
        f'<span style="display:inline-block;width:{BAR_WIDTH}px;height:8px;margin-right:8px;border-radius:2px;'
        'background:rgba(128,128,128,.18)"><span style="display:block;height:8px;border-radius:2px;'
        f'background:#3b78c3;width:{width:.0f}px"></span></span>'
    )
