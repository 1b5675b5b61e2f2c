"""A report as one page: its content as plain data (``page``), and that as HTML (``rendering``)."""

from typing import TYPE_CHECKING

from analogical.show.report.summary import view_report

if TYPE_CHECKING:
    from analogical.questions.report import Report

__all__ = ["MARK", "render_page", "view_report"]

MARK = "analogical report"
"""Name of the generator in the head of every page, by which our own files are recognised."""


def render_page(result: "Report") -> str:
    """The page as one HTML file without any reference to a network."""
    from analogical.show.report.page import page_of
    from analogical.show.report.rendering import render

    return render(page_of(result), MARK)
