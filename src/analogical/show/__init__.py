"""Results as people read them: a result becomes a view (plain data), and views become text or HTML."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analogical._results import Result
    from analogical.study import Study


def as_text(result: "Result | Study") -> str:
    """A result or a study as plain text of 80 columns."""
    from analogical.show.views import render_text, view_of

    return render_text(view_of(result))


def as_html(result: "Result | Study") -> str:
    """A result or a study as HTML for notebooks."""
    from analogical.show.html import render_html
    from analogical.show.views import view_of

    return render_html(view_of(result))
