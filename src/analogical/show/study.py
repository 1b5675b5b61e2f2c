"""A study as a view: its table, and the functions that can be called with it."""

from typing import TYPE_CHECKING

from analogical.show.views import View, tabulate, text_column
from analogical.show.words import counted, list_first, quoted

if TYPE_CHECKING:
    from analogical.study import Study

__all__ = ["QUESTIONS", "view_study"]

QUESTIONS = {
    "relevance": "which features have an effect, given the others",
    "select": "which features predict the label best together",
    "interactions": "which features act together",
    "squares": "label shares and rows of two features together",
    "audit": "how the label differs between its values",
    "evidence": "which pairs of rows show its effect",
    "transitions": "how values and labels change in its pairs",
    "redundancies": "which features carry the same information",
    "relaxed_index": "a screen for features that act only together",
    "compare": "what other methods say",
    "report": "all of this on one page",
}
"""What each function answers about a study."""
ARGUMENTS = {"squares": "first, second", "audit": "feature", "evidence": "feature", "transitions": "feature"}
"""What some functions take besides the study."""


def view_study(study: "Study") -> View:
    """The table, and a line for each function that takes this study."""
    table, once = study.table, study.duplicates == "once"
    rows = counted(study.margins.n_rows, "distinct row" if once else "row")
    units = "" if study.n_groups is None else f" in {counted(study.n_groups, 'group')}"
    return View(
        headline=f"Study of {counted(study.n_features, 'feature')} for {quoted(table.label)}"
        f" ({counted(len(table.classes), 'class', 'classes')}), {rows}{units}: {list_first(table.names)}",
        tables=(
            tabulate(
                _functions_for(study), [text_column("ask", _call), text_column("to learn", QUESTIONS.__getitem__)]
            ),
        ),
    )


def _functions_for(study: "Study") -> list[str]:
    """The functions that take this study."""
    if study.duplicates == "once":
        return ["relevance", "select"]
    refused = set() if study.n_groups is None else {"interactions"}
    return [name for name in QUESTIONS if name not in refused]


def _call(name: str) -> str:
    return f"{name}({', '.join(filter(None, ('study', ARGUMENTS.get(name))))})"
