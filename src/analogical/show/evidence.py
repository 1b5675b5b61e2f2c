"""Pairs of rows and transitions as views."""

from collections.abc import Callable, Sequence
from typing import Any

from analogical.questions.compared import ExampleRows
from analogical.questions.evidence import Evidence, Transition, Transitions
from analogical.show.sentences import ROW_NAMES, agreeing_on, describe_context, no_partner
from analogical.show.views import Cell, Table, View, number_column, tabulate, text_column
from analogical.show.words import LONG_NAME, counted, marked, number, percent, quoted, shorten, shown

__all__ = ["pair_blocks", "transition_table", "view_evidence", "view_transitions"]

MAX_TRANSITIONS = 30
"""Maximum number of transitions in a table."""
MAX_VALUE_LENGTH = 24
"""Values are cut to this length."""


def view_evidence(result: Evidence) -> View:
    """How many pairs changed, and the pairs by context."""
    if result.n_pairs == 0:
        return View(no_partner(result.feature, result.given, result.same_as))
    return View(
        headline=f"{result.n_changed:,} of {counted(result.n_pairs, 'pair')} that"
        f" {'differs' if result.n_pairs == 1 else 'differ'} on {quoted(result.feature)}"
        f" {'differs' if result.n_changed == 1 else 'differ'} in {quoted(result.label)}"
        f" ({percent(result.n_changed / result.n_pairs)}).",
        lines=(_describe_pairs(result.given),),
        examples=pair_blocks(result),
        explanation=(
            "Pairs whose labels differ come first, from as many contexts as possible. A line that ends with a number of"
            " pairs represents that many pairs with the same values.",
            f"→: the two rows differ; =: they have the same value.{f' {ROW_NAMES}' if _has_numbers(result) else ''}",
        ),
    )


def _describe_pairs(given: Sequence[str]) -> str:
    return f"Pairs of {agreeing_on(given)}."


def pair_blocks(result: Evidence) -> tuple[Table, ...]:
    """The pairs grouped by context: one table per context, with a line per pair."""
    blocks: dict[tuple[tuple[str, Any], ...], list[ExampleRows]] = {}
    for pair in result.pairs:
        blocks.setdefault(pair.context, []).append(pair)
    columns = [
        text_column("", lambda pair: Cell(_change(result.feature, pair.values), "strong"), may_wrap=True),
        text_column("", lambda pair: Cell(_change(result.label, pair.labels), _tone(pair)), may_wrap=True),
        *([text_column("", _numbered, may_wrap=True)] if _has_numbers(result) else []),
        number_column(
            "", lambda pair: Cell(f"{pair.weight:,} pairs" if pair.weight > 1 else "", "muted"), may_wrap=True
        ),
    ]
    return tuple(
        tabulate(
            pairs,
            columns,
            title=describe_context(context) or "(nothing given)",
        )
        for context, pairs in blocks.items()
    )


def _has_numbers(result: Evidence) -> bool:
    """Whether rows have names or numbers; rows on an engine without an order have none."""
    return any(pair.index for pair in result.pairs)


def _numbered(pair: ExampleRows) -> Cell:
    return Cell(f"rows {', '.join(map(shown, pair.index))}", "muted")


def _tone(pair: ExampleRows | Transition) -> Any:
    return "good" if pair.changed else "plain"


def _change(name: str, two: tuple[Any, Any]) -> str:
    """Two values with an arrow if they differ, or an equals sign."""
    a, b = _distinct_texts(two) if two[0] != two[1] else (marked(value, MAX_VALUE_LENGTH) for value in two)
    return f"{shown(name, LONG_NAME)} {a} {'→' if two[0] != two[1] else '='} {b}".strip()


def _distinct_texts(two: tuple[Any, Any]) -> tuple[str, str]:
    """Two different values as texts that differ: cut at the end, in the middle, or as Python literals."""
    ways: tuple[Callable[[Any], str], ...] = (
        lambda value: marked(value, MAX_VALUE_LENGTH),
        lambda value: shorten(shown(value), MAX_VALUE_LENGTH, "..."),
        lambda value: shown(repr(value)),
    )
    a, b = ("", "")
    for way in ways:
        a, b = map(way, two)
        if a != b:
            break
    return a, b


def view_transitions(result: Transitions) -> View:
    """A table of the largest transitions, in the order of the values."""
    if not result.counts:
        return View(no_partner(result.feature, result.given, result.same_as))
    sizes = sorted((transition.pairs for transition in result.counts), reverse=True)
    largest = [t for t in result.counts if t.pairs >= sizes[:MAX_TRANSITIONS][-1]][:MAX_TRANSITIONS]
    return View(
        f"{counted(len(sizes), 'transition')} of {quoted(result.feature)} and {quoted(result.label)} in"
        f" {counted(result.n_pairs, 'pair')}.",
        lines=(_describe_pairs(result.given),),
        tables=(transition_table(result.feature, result.label, largest, n_pairs=result.n_pairs, n_all=len(sizes)),),
    )


def transition_table(feature: str, label: str, transitions: Sequence[Transition], *, n_pairs: int, n_all: int) -> Table:
    """How values and labels change, and in how many pairs; of ``n_all`` transitions those given."""
    columns = [
        text_column(shown(feature, LONG_NAME), lambda t: Cell(_change("", t.values), _tone(t)), may_wrap=True),
        text_column(shown(label, LONG_NAME), lambda t: Cell(_change("", t.labels), _tone(t)), may_wrap=True),
        number_column("pairs", lambda t: Cell(number(t.pairs), _tone(t))),
        number_column("share", lambda t: Cell(percent(t.pairs / n_pairs), _tone(t))),
    ]
    n = len(transitions)
    return tabulate(transitions, columns, note=f"The {n} largest of {n_all:,} transitions." if n < n_all else "")
