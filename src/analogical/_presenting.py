"""A relevance as people read it: text for terminals and logs, HTML for notebooks, and sentences."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analogical._relevance import Relevance

__all__ = ["COLUMNS", "as_html", "as_text", "cells", "explain", "summarise"]

COLUMNS = ("feature", "ARI", "pairs", "changed", "values", "status")


def cells(result: "Relevance", i: int) -> tuple[str, ...]:
    """One feature as the words under COLUMNS."""
    return (
        result.names[i],
        f"{result.ari[i]:.3f}",
        f"{result.pairs[i]:,}",
        f"{result.changed[i]:,}",
        f"{result.n_values[i]:,}",
        result.status[i],
    )


def summarise(result: "Relevance") -> str:
    """What was read, in one line: rows, features, label, repeated rows and contradictions."""
    parts = [
        _counted(result.n_rows, "row"),
        _counted(len(result.names), "feature"),
        f"label {result.label!r} with {_counted(len(result.classes), 'class', 'classes')}"
        f" ({', '.join(_shortened(str(value)) for value in result.classes[:6])}"
        f"{', ...' if len(result.classes) > 6 else ''})",
    ]
    repeated = result.n_rows - result.n_distinct
    if repeated == 0:
        parts.append("no repeated rows")
    else:
        once = ", counted once" if result.settings.duplicates == "once" else ""
        parts.append(f"{_counted(result.n_distinct, 'distinct row')} ({repeated:,} repeated{once})")
        parts.append(
            f"{_counted(result.n_contradictions, 'contradiction')}"
            f" in {_counted(result.n_identical, 'pair')} of identical rows"
            if result.n_contradictions
            else "no contradictions"
        )
    return ", ".join(parts)


def explain(result: "Relevance") -> str:
    """What the numbers say, in plain sentences, with their limits."""
    by_status: dict[str, list[str]] = {}
    for i in result.order():
        by_status.setdefault(result.status[i], []).append(result.names[i])
    n = len(result.names)
    relevant = by_status.get("relevant", [])
    sentences = [
        f"{len(relevant)} of {_counted(n, 'feature')} {_verb(relevant, 'changes', 'change')} the label with all"
        f" else equal{_naming(relevant)}."
        if relevant
        else f"None of the {_counted(n, 'feature')} was seen to change the label with all else equal."
    ]
    if irrelevant := by_status.get("irrelevant", []):
        sentences.append(
            f"{len(irrelevant)} never {_verb(irrelevant, 'does', 'do')}, on the pairs there are{_naming(irrelevant)}."
        )
    if silent := by_status.get("no-pairs", []):
        sentences.append(
            f"{len(silent)} {_verb(silent, 'has', 'have')} no pair of rows that differ on"
            f" {_verb(silent, 'it', 'them')} alone, so nothing can be said{_naming(silent)}:"
            " redundant, or too few rows (the paper writes 2)."
        )
    if constant := by_status.get("constant", []):
        sentences.append(f"{len(constant)} {_verb(constant, 'has', 'have')} one value only{_naming(constant)}.")
    if result.n_contradictions and result.settings.duplicates == "count":
        sentences.append(
            f"Identical rows disagree on the label in {result.n_contradictions / result.n_identical:.1%} of their"
            " pairs: read an index near that share as noise."
        )
    return " ".join(sentences)


def as_text(result: "Relevance") -> str:
    """A plain table, best feature first."""
    lines = [
        f"Relevance of {_counted(len(result.names), 'feature')} for {result.label!r}"
        f" ({_counted(len(result.classes), 'class', 'classes')}), {_counted(result.n_rows, 'row')}"
    ]
    order = result.order()
    shown = order if len(order) <= 60 else order[:50]
    rows = [COLUMNS, *(cells(result, i) for i in shown)]
    widths = [max(len(row[c]) for row in rows) for c in range(len(COLUMNS))]
    for row in rows:
        padded = (
            word.ljust(width) if column in ("feature", "status") else word.rjust(width)
            for word, width, column in zip(row, widths, COLUMNS, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    if len(shown) < len(order):
        lines.append(f"... and {len(order) - len(shown):,} more; to_frame() has all")
    return "\n".join(lines)


def as_html(result: "Relevance") -> str:
    """A small table with bars for notebooks; names are escaped, colours follow the notebook's theme."""
    right = "text-align:right;font-variant-numeric:tabular-nums;padding:2px 10px"
    left = "text-align:left;padding:2px 10px"
    head = "".join(
        f'<th style="{left if column in ("feature", "status") else right}">{column}</th>' for column in COLUMNS
    )
    body = []
    for i in result.order():
        words = [escape(word) for word in cells(result, i)]
        score = result.score[i]
        width = 0.0 if score != score else 60 * score
        bar = (
            '<span style="display:inline-block;width:60px;height:8px;margin-right:8px;border-radius:2px;'
            'background:rgba(128,128,128,.18)"><span style="display:block;height:8px;border-radius:2px;'
            f'background:#3b78c3;width:{width:.0f}px"></span></span>'
        )
        faded = ";opacity:.6" if score != score else ""
        body.append(
            f'<tr><td style="{left}{faded}">{words[0]}</td><td style="{right}{faded}">{bar}{words[1]}</td>'
            + "".join(f'<td style="{right}{faded}">{word}</td>' for word in words[2:5])
            + f'<td style="{left}{faded}">{words[5]}</td></tr>'
        )
    return (
        f"<div><p>{escape(summarise(result))}</p>"
        f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table><p>{escape(explain(result))}</p></div>"
    )


def _counted(n: int, word: str, plural: str | None = None) -> str:
    return f"{n:,} {word if n == 1 else plural or word + 's'}"


def _verb(subjects: Sequence[str], singular: str, plural: str) -> str:
    return singular if len(subjects) == 1 else plural


def _naming(names: Sequence[str], limit: int = 6) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f" ({', '.join(names[:limit])}{more})"


def _shortened(text: str, limit: int = 20) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
