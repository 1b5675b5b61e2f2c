"""Pairs of rows and transitions as views."""

from collections.abc import Callable
from typing import Any

from analogical._evidence import Evidence, EvidencePair, Transitions
from analogical.presenting.notes import describe_notes
from analogical.presenting.views import Cell, Heading, Table, Tone, View
from analogical.presenting.words import LONG_NAME, counted, marked, percent, quoted, shorten, shown

__all__ = ["pair_blocks", "view_evidence", "view_transitions"]

MAX_TRANSITIONS = 30
"""Lines of a table of transitions."""
LONG_VALUE = 24
"""Values are cut to this length."""


def view_evidence(result: Evidence) -> View:
    """How many pairs changed, and the pairs by context."""
    if result.n_pairs == 0:
        return View(f"No two rows differ on {quoted(result.feature)} alone, so there is no evidence on it.")
    return View(
        headline=f"{result.n_changed:,} of {counted(result.n_pairs, 'pair')} that differ on {quoted(result.feature)}"
        f" alone {'differs' if result.n_changed == 1 else 'differ'} in {quoted(result.label)}"
        f" ({percent(result.n_changed / result.n_pairs)})",
        notes=describe_notes(result.notes),
        examples=pair_blocks(result),
    )


def pair_blocks(result: Evidence) -> tuple[Table, ...]:
    """The pairs brought together by context: the context once, then a line for each pair."""
    blocks: dict[tuple[tuple[str, Any], ...], list[EvidencePair]] = {}
    for pair in result.pairs:
        blocks.setdefault(pair.context, []).append(pair)
    words = (Heading(title, is_text=True, may_wrap=True) for title in ("values", "labels", "rows"))
    headings = (*words, Heading("stands for", may_wrap=True))
    return tuple(
        Table(
            headings=headings,
            rows=tuple(
                (
                    Cell(_change(result.feature, pair.values), "strong"),
                    Cell(_change(result.label, pair.labels), "good" if pair.changed else "plain"),
                    Cell(f"rows {shown(pair.index[0])}, {shown(pair.index[1])}", "muted"),
                    Cell(f"{pair.weight:,} pairs" if pair.weight > 1 else "", "muted"),
                )
                for pair in pairs
            ),
            title=", ".join(f"{shown(name, LONG_NAME)}={marked(value, 30)}" for name, value in context)
            or "(no other features)",
            has_head=False,
        )
        for context, pairs in blocks.items()
    )


def _change(name: str, two: tuple[Any, Any]) -> str:
    """A change from one value to another, or that it stayed the same."""
    a, b = _told_apart(two) if two[0] != two[1] else (marked(value, LONG_VALUE) for value in two)
    return f"{shown(name, LONG_NAME)} {a} {'→' if two[0] != two[1] else '='} {b}".strip()


def _told_apart(two: tuple[Any, Any]) -> tuple[str, str]:
    """Two different values as texts that differ: cut in the middle, or as Python writes them, if need be."""
    ways: tuple[Callable[[Any], str], ...] = (
        lambda value: marked(value, LONG_VALUE),
        lambda value: shorten(shown(value), LONG_VALUE, "...", keep_end=True),
        lambda value: shown(repr(value)),
    )
    a, b = ("", "")
    for way in ways:
        a, b = map(way, two)
        if a != b:
            break
    return a, b


def view_transitions(result: Transitions) -> View:
    """The largest transitions in a table."""
    if not result.counts:
        return View(f"No two rows differ on {quoted(result.feature)} alone, so it has no transitions.")
    sizes = [transition.pairs for transition in result.counts]
    smallest = sorted(sizes, reverse=True)[:MAX_TRANSITIONS][-1]
    largest = [t for t in result.counts if t.pairs >= smallest][:MAX_TRANSITIONS]
    note = f"The {len(largest)} largest of {len(sizes):,} changes; --json has all." if len(largest) < len(sizes) else ""
    tones: dict[bool, Tone] = {True: "good", False: "plain"}
    table = Table(
        headings=(
            Heading(shown(result.feature, LONG_NAME), is_text=True, may_wrap=True),
            Heading(shown(result.label, LONG_NAME), is_text=True, may_wrap=True),
            Heading("pairs"),
            Heading("share"),
        ),
        rows=tuple(
            tuple(
                Cell(text, tones[t.changed])
                for text in (
                    _change("", t.values),
                    _change("", t.labels),
                    f"{t.pairs:,}",
                    percent(t.pairs / result.n_pairs),
                )
            )
            for t in largest
        ),
        note=note,
    )
    return View("", notes=describe_notes(result.notes), tables=(table,))
