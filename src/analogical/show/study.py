"""A study as a view: its table, and the functions that take it."""

from typing import TYPE_CHECKING

from analogical.show.views import View, tabulate, words
from analogical.show.words import counted, quoted, some_of

if TYPE_CHECKING:
    from analogical.study import Study

__all__ = ["QUESTIONS", "view_study"]

QUESTIONS = {
    "relevance": ("", "which features have an effect, given the others"),
    "select": ("", "which features predict the label best together"),
    "interactions": ("", "which features act together"),
    "squares": ("first, second", "label shares and rows of two features together"),
    "audit": ("feature", "how the label differs between its values"),
    "evidence": ("feature", "which pairs of rows show its effect"),
    "transitions": ("feature", "how values and labels change in its pairs"),
    "redundancies": ("", "which features carry the same information"),
    "relaxed_index": ("", "a screen for features that act only together"),
    "compare": ("", "what other methods say"),
    "report": ("", "all of this on one page"),
}
"""For each function what it takes beside a study, and what it answers."""


def view_study(study: "Study") -> View:
    """The table, what was noted, and one line for each question."""
    table, once = study.table, study.duplicates == "once"
    asked = [name for name in QUESTIONS if not once or name in ("relevance", "select")]
    if study.n_groups is not None:
        asked.remove("interactions")
    if study.engine_name != "memory":
        asked = [name for name in asked if name not in ("relaxed_index", "compare")]
    rows = counted(study.margins.n_rows, "distinct row" if once else "row")
    units = "" if study.n_groups is None else f" in {counted(study.n_groups, 'group')}"
    return View(
        headline=f"Study of {counted(study.n_features, 'feature')} for {quoted(table.label)}"
        f" ({counted(len(table.classes), 'class', 'classes')}), {rows}{units}: {some_of(table.names)}",
        tables=(tabulate(asked, [words("ask", _call), words("to learn", lambda name: QUESTIONS[name][1])]),),
    )


def _call(name: str) -> str:
    """How a function is asked."""
    also = QUESTIONS[name][0]
    return f"{name}(study, {also})" if also else f"{name}(study)"
