"""Views as HTML for notebooks: texts are escaped, and colours are readable on light and dark pages."""

from html import escape

from analogical.show.views import Cell, Table, Tone, View
from analogical.show.words import count_left_out

# All results share one small style, which touches nothing outside them. Notebooks do not say whether their page is
# light or dark, so coloured text has a contrast of at least 4.5 to white and of 4 to #111.
STYLE = """<style>
.analogical-result {line-height: 1.45; max-width: 100%}
.analogical-result p {margin: .35em 0; max-width: 50em}
.analogical-result ul {margin: .35em 0; padding-left: 1.2em; max-width: 50em}
.analogical-result details {margin: .35em 0}
.analogical-result summary {cursor: pointer; opacity: .7}
.analogical-result .table {overflow-x: auto; max-width: 100%}
.analogical-result table {border-collapse: collapse; margin: .35em 0; border: none; font-size: inherit}
.analogical-result th, .analogical-result td {padding: 2px 10px; border: none; text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; background: none; color: inherit}
.analogical-result thead th {border-bottom: 1px solid rgba(128, 128, 128, .5); font-weight: 600}
.analogical-result tbody tr:hover {background: rgba(128, 128, 128, .12)}
.analogical-result .text {text-align: left}
.analogical-result .strong {font-weight: 600}
.analogical-result .good {color: #2b8552; font-weight: 600}
.analogical-result .warning {color: #ad6511}
.analogical-result .muted {opacity: .7}
.analogical-result .accent {color: #3576c4}
.analogical-result .bar {display: inline-block; height: .6em; margin-left: 8px; border-radius: 2px;
  background: rgba(128, 128, 128, .18); vertical-align: baseline; text-align: left}
.analogical-result .bar > span {display: block; height: 100%; border-radius: 2px; background: #3576c4}
</style>"""


def render_html(view: View) -> str:
    """A view as a piece of HTML, with at most 20 examples."""
    n_left = len(view.examples) - 20
    items = "".join(f"<li>{escape(text)}</li>" for text in (*view.explanation, *view.notes))
    details = f"<ul>{items}</ul>{''.join(map(_render_table, view.details))}"
    parts = [
        _paragraph(view.headline, "strong"),
        *map(_render_table, view.tables),
        *map(_paragraph, view.lines),
        *(f"{_paragraph(block.title, 'muted')}{_render_table(block)}" for block in view.examples[:20]),
        _paragraph(count_left_out(n_left), "muted"),
        _paragraph(f"{', '.join(view.about)}." if view.about else "", "muted"),
        f"<details><summary>details</summary>{details}</details>" if items or view.details else "",
    ]
    return f'<div class="analogical-result">{STYLE}{"".join(parts)}</div>'


def _paragraph(text: str, tone: Tone = "plain") -> str:
    return f"<p{_classes(tone)}>{escape(text)}</p>" if text else ""


def _render_table(table: Table) -> str:
    head = "".join(
        f"<th{_classes('plain', is_text=heading.is_text)}>{escape(heading.title)}</th>" for heading in table.headings
    )
    body = ""
    for row in table.rows:
        body += "<tr>"
        for heading, cell in zip(table.headings, row, strict=True):
            # a background weak enough for text of any colour
            shade = "" if cell.shade is None else f' style="background:rgba(53,118,196,{0.4 * cell.shade:.2f})"'
            classes = _classes(cell.tone, is_text=heading.is_text)
            body += f"<td{classes}{shade}>{escape(cell.text)}{_bar(cell)}</td>"
        body += "</tr>"
    thead = f"<thead><tr>{head}</tr></thead>" if table.has_head else ""
    return f'<div class="table"><table>{thead}<tbody>{body}</tbody></table></div>{_paragraph(table.note, "muted")}'


def _classes(tone: Tone, *, is_text: bool = False) -> str:
    """The classes of a cell or a paragraph: its alignment and its tone."""
    names = " ".join(filter(None, ("text" * is_text, "" if tone == "plain" else tone)))
    return f' class="{names}"' if names else ""


def _bar(cell: Cell) -> str:
    """A small bar after a number, of at most 60 pixels; empty if the number is unknown."""
    if cell.bar is None:
        return ""
    width = 0.0 if cell.bar != cell.bar else 60 * min(max(cell.bar, 0.0), 1.0)
    return f'<span class="bar" style="width:60px"><span style="width:{width:.0f}px"></span></span>'
