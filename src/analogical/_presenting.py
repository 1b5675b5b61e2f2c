"""A relevance as people read it: text for terminals and logs, HTML for notebooks, and sentences."""

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analogical._relevance import Relevance

__all__ = [
    "aligned",
    "as_html",
    "as_text",
    "beyond",
    "cells",
    "columns",
    "counted",
    "explain",
    "interval",
    "listed",
    "noise_floor",
    "number",
    "p_value",
    "percent",
    "shortened",
    "summarise",
    "wrapped",
]

WIDTH = 80
"""Columns of a terminal that plain text is laid out for."""
LEFT = ("feature", "status")
"""Columns of words; the others are numbers and stand on the right."""


def columns(result: "Relevance") -> tuple[str, ...]:
    """Headings of the table of features; score if it is not the index, interval and p if they were asked for."""
    if result.settings.confidence is None:
        score = () if result.settings.radius == 1 else ("score",)
        return ("feature", *score, "ARI", "pairs", "changed", "values", "status")
    if result.settings.radius == 1:
        return ("feature", "ARI", _level(result), "pairs", "changed", "p", "status")
    numbers = ("ARI", _level(result)) if result.settings.bootstrap is None else (_level(result), "ARI")
    return ("feature", "score", *numbers, "pairs", "changed", "status")  # an interval follows what it is for


def _level(result: "Relevance") -> str:
    """Heading of the intervals."""
    level = result.settings.confidence
    return "" if level is None else f"{100 * level:g}% CI"


def cells(result: "Relevance", i: int) -> tuple[str, ...]:
    """One feature as the words under the headings."""
    words = {
        "feature": result.names[i],
        "score": "-" if result.score[i] != result.score[i] else f"{result.score[i]:.3f}",
        "ARI": f"{result.ari[i]:.3f}",
        "pairs": number(result.pairs[i]),
        "changed": number(result.changed[i]),
        "values": f"{result.n_values[i]:,}",
        "status": result.status[i],
    }
    if result.ci_low is not None and result.ci_high is not None and result.p_value is not None:
        words[_level(result)] = interval(result.ci_low[i], result.ci_high[i])
        words["p"] = p_value(result.p_value[i])
    return tuple(words[column] for column in columns(result))


def number(n: int) -> str:
    """A count to read; very large ones in powers of ten."""
    return f"{n:,}" if n < 10**9 else f"{float(n):.3e}"


def interval(low: float, high: float) -> str:
    """An interval of shares; a dash where there is none."""
    return "-" if low != low else f"{low:.3f}-{high:.3f}"


def p_value(p: float) -> str:
    """A p-value to read; a dash where there is none."""
    if p != p:
        return "-"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def percent(share: float) -> str:
    """A share in per cent, one decimal."""
    return f"{100 * share:.1f} %"


def noise_floor(result: "Relevance") -> str:
    """The flip rate among identical rows, in words."""
    noise = result.noise
    if noise.rate is None:
        if result.settings.duplicates == "once":
            return "Noise floor: unknown, because repeated rows were counted once."
        return "Noise floor: unknown, because no row repeats."
    sure = ""
    if noise.ci_low is not None and noise.ci_high is not None:
        sure = f" ({percent(noise.ci_low)} to {percent(noise.ci_high)})"
    return (
        f"Noise floor: identical rows differ in label in {percent(noise.rate)}{sure}"
        f" of {counted(result.n_identical, 'pair')}."
    )


def summarise(result: "Relevance") -> str:
    """What was read, in one line: rows, features, label, repeated rows and contradictions."""
    parts = [
        counted(result.n_rows, "row"),
        counted(len(result.names), "feature"),
        f"label {result.label!r} with {counted(len(result.classes), 'class', 'classes')}"
        f" ({', '.join(shortened(str(value)) for value in result.classes[:6])}"
        f"{', ...' if len(result.classes) > 6 else ''})",
    ]
    repeated = result.n_rows - result.n_distinct
    if repeated == 0:
        parts.append("no repeated rows")
    else:
        once = ", counted once" if result.settings.duplicates == "once" else ""
        parts.append(f"{counted(result.n_distinct, 'distinct row')} ({repeated:,} repeated{once})")
        parts.append(
            f"{counted(result.n_contradictions, 'contradiction')}"
            f" in {counted(result.n_identical, 'pair')} of identical rows"
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
        f"{len(relevant)} of {counted(n, 'feature')} {_verb(relevant, 'changes', 'change')} the label with all"
        f" else equal{_naming(relevant)}."
        if relevant
        else f"None of the {counted(n, 'feature')} was seen to change the label with all else equal."
    ]
    if result.p_value is not None:
        weak = [result.names[i] for i in result.order() if result.status[i] == "relevant" and result.p_value[i] > 0.05]
        if weak:
            sentences.append(f"Noise alone could explain {len(weak)} of them (p > .05: {_names(weak)}).")
    if irrelevant := by_status.get("irrelevant", []):
        sentences.append(
            f"{len(irrelevant)} never {_verb(irrelevant, 'does', 'do')}, on the pairs there are{_naming(irrelevant)}."
        )
    silent = by_status.get("no-pairs", [])
    why = dict(zip(result.names, result.determined_by or (None,) * n, strict=True))
    if redundant := [name for name in silent if why[name]]:
        reasons = [f"{name} by {listed(why[name] or ())}" for name in redundant]
        sentences.append(
            f"{len(redundant)} {_verb(redundant, 'is', 'are')} redundant, determined by other features, and so"
            f" {_verb(redundant, 'has', 'have')} no pair{_naming(reasons)}."
        )
    if unexplained := [name for name in silent if not why[name]]:
        reason = "redundant, or too few rows" if result.determined_by is None else "not enough rows"
        sentences.append(
            f"{len(unexplained)} {_verb(unexplained, 'has', 'have')} no pair of rows that differ on"
            f" {_verb(unexplained, 'it', 'them')} alone, so the index says nothing{_naming(unexplained)}:"
            f" {reason} (the paper writes 2)."
        )
    if unique := [result.names[i] for i in result.order() if result.n_values[i] == result.n_rows > 2]:
        sentences.append(
            f"{listed(unique)} {_verb(unique, 'has', 'have')} another value in every row, so that no two rows are"
            f" equal beside {_verb(unique, 'it', 'them')}: leave out what is an id."
        )
    if constant := by_status.get("constant", []):
        sentences.append(f"{len(constant)} {_verb(constant, 'has', 'have')} one value only{_naming(constant)}.")
    if result.settings.radius > 1:
        typical = max(0.0005, float(np.nanmean(result.score)))
        best = [result.names[i] for i in result.order() if result.score[i] >= typical][:3]
        sentences.append(
            f"The score looks further: {beyond(result)}."
            + (f" It ranks {listed(best)} highest." if best else " It finds nothing either.")
        )
    sentences.append(noise_floor(result))
    if result.n_contradictions and result.settings.duplicates == "count":
        sentences.append(
            "An index near it may be noise; p is the chance that noise alone sets a feature's values as far apart."
        )
    return " ".join(sentences)


def beyond(result: "Relevance") -> str:
    """Which pairs beyond distance 1 the score rests on, and why."""
    settings = result.settings
    sampled = ", a random sample of those there are" if settings.is_sampled else ""
    stopped = "" if settings.converged else "; the fit did not fully converge"
    return f"{settings.reason} ({counted(settings.n_pairs_used, 'pair')} used{sampled}{stopped})"


def as_text(result: "Relevance") -> str:
    """A plain table, best feature first."""
    lines = [
        f"Relevance of {counted(len(result.names), 'feature')} for {result.label!r}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}"
    ]
    order = result.order()
    shown = order if len(order) <= 60 else order[:50]
    heads = columns(result)
    lines += aligned([heads, *(cells(result, i) for i in shown)], [head in LEFT for head in heads])
    if len(shown) < len(order):
        lines.append(f"... and {len(order) - len(shown):,} more; to_frame() has all")
    if result.settings.radius > 1:
        lines.append(wrapped(f"Score: {beyond(result)}."))
    lines.append(wrapped(noise_floor(result)))
    return "\n".join(lines)


def as_html(result: "Relevance") -> str:
    """A small table with bars for notebooks; names are escaped, colours follow the notebook's theme."""
    right = "text-align:right;font-variant-numeric:tabular-nums;padding:2px 10px"
    left = "text-align:left;padding:2px 10px"
    heads = columns(result)
    head = "".join(f'<th style="{left if column in LEFT else right}">{column}</th>' for column in heads)
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
            + "".join(f'<td style="{right}{faded}">{word}</td>' for word in words[2:-1])
            + f'<td style="{left}{faded}">{words[-1]}</td></tr>'
        )
    return (
        f"<div><p>{escape(summarise(result))}</p>"
        f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table><p>{escape(explain(result))}</p></div>"
    )


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Rows of words as lines of aligned columns, words on the left or on the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return [
        "  ".join(
            word.ljust(width) if words else word.rjust(width)
            for word, width, words in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph in lines of a terminal; later lines are set in."""
    return "\n".join(wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)) if text else ""


def listed(words: Sequence[object]) -> str:
    """Words in a sentence: a, b and c."""
    *most, last = map(str, words)
    return f"{', '.join(most)} and {last}" if most else last


def counted(n: int, word: str, plural: str | None = None) -> str:
    """A number with its noun: 1 row, 1,204 rows."""
    return f"{n:,} {word if n == 1 else plural or word + 's'}"


def _verb(subjects: Sequence[str], singular: str, plural: str) -> str:
    return singular if len(subjects) == 1 else plural


def _naming(names: Sequence[str]) -> str:
    return f" ({_names(names)})"


def _names(names: Sequence[str], limit: int = 6) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit])}{more}"


def shortened(text: str, limit: int = 20) -> str:
    """A long value cut to fit a line."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
