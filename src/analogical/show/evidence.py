"""Pairs of rows and transitions as views."""

from collections.abc import Callable, Sequence
from typing import Any

from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, Tone, View
from analogical.show.words import LONG_NAME, counted, listed, marked, percent, quoted, shorten, shown
from analogical.verbs.evidence import Evidence, EvidencePair, Transitions

__all__ = ["given_words", "no_pairs_words", "pair_blocks", "view_evidence", "view_transitions"]

MAX_TRANSITIONS = 30
"""Lines of a table of transitions."""
MAX_NAMED = 6
"""Given features that a sentence names; more are counted."""
LONG_VALUE = 24
"""Values are cut to this length."""


def given_words(given: Sequence[str]) -> str:
    """What rows agree on: a few names, or how many."""
    if not given:
        return "no other feature"
    return counted(len(given), "feature") if len(given) > MAX_NAMED else listed(given)


def no_pairs_words(result: Evidence | Transitions) -> str:
    """Why there are no pairs."""
    feature = quoted(result.feature)
    if result.same_as is not None:
        return (
            f"{feature} is a copy of {quoted(result.same_as)}, so rows that agree on the deciding set do not"
            " differ on it; name the given features yourself (given, --given)"
        )
    return f"No two rows differ on {feature}, given {given_words(result.given)}"


def view_evidence(result: Evidence) -> View:
    """How many pairs changed, and the pairs by context."""
    if result.n_pairs == 0:
        return View(f"{no_pairs_words(result)}.", notes=describe_notes(result.notes))
    return View(
        headline=f"{result.n_changed:,} of {counted(result.n_pairs, 'pair')} that differ on {quoted(result.feature)}"
        f" {'differs' if result.n_changed == 1 else 'differ'} in {quoted(result.label)}"
        f" ({percent(result.n_changed / result.n_pairs)}), given {given_words(result.given)}",
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
            or "(nothing given)",
            has_head=False,
        )
        for context, pairs in blocks.items()
    )


def _change(name: str, two: tuple[Any, Any]) -> str:
    """A change from one value to another, or that it stayed the same."""
    a, b = _distinct_texts(two) if two[0] != two[1] else (marked(value, LONG_VALUE) for value in two)
    return f"{shown(name, LONG_NAME)} {a} {'→' if two[0] != two[1] else '='} {b}".strip()


def _distinct_texts(two: tuple[Any, Any]) -> tuple[str, str]:
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
        return View(f"{no_pairs_words(result)}.", notes=describe_notes(result.notes))
    sizes = [transition.pairs for transition in result.counts]
    smallest = sorted(sizes, reverse=True)[:MAX_TRANSITIONS][-1]
    largest = [t for t in result.counts if t.pairs >= smallest][:MAX_TRANSITIONS]
    note = f"Pairs of rows that agree on {given_words(result.given)}." if result.given else "Pairs of any two rows."
    if len(largest) < len(sizes):
        note += f" The {len(largest)} largest of {len(sizes):,} changes; --json has all."
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
