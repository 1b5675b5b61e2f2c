"""All that a view says, in one line: for tests of words."""

from analogical.show.views import view_of


def all_said(result):
    view = view_of(result)
    cells = [cell.text for table in (*view.tables, *view.examples, *view.details) for row in table.rows for cell in row]
    notes = [table.note for table in view.tables]
    return " ".join((view.headline, *cells, *notes, *view.lines, *view.about, *view.explanation, *view.notes))
