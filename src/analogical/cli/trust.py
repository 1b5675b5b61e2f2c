"""The commands that show what a number rests on: the pairs behind it, and the all-else-equal audit."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analogical._audit import CAVEAT, TABLE_LEFT, Audit, audit
from analogical._evidence import Evidence, Transitions, evidence, transitions
from analogical.cli.options import Confidence, File, Header, Ignore, Json, Label, Separator, Weights, columns_of
from analogical.cli.reading import Source, read_source
from analogical.errors import InputError

__all__ = ["register"]

MAX_TRANSITIONS = 30
"""Lines of the table of transitions; the largest are shown."""


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("evidence")(show_evidence)
    app.command("audit")(show_audit)


def show_evidence(
    file: File,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to look at.", show_default=False)],
    label: Label = None,
    limit: Annotated[int, typer.Option(help="How many pairs to show.")] = 10,
    weights: Weights = None,
    ignore: Ignore = None,
    as_json: Json = False,
    separator: Separator = None,
    header: Header = True,
) -> None:
    """Show the very pairs of rows that a feature's index was counted on.

    Each pair is two rows that are equal but for the feature. Changed pairs come first, from as many
    different contexts as possible; then follows how many pairs go from which value and label to which.

    Example: analogical evidence monks-1 --feature jacket_color --limit 3
    """
    if limit < 1:
        raise InputError(f"--limit must be a whole number from 1, got {limit}.")
    source = read_source(
        file, label=label, weights=weights, ignore=columns_of(ignore), separator=separator, header=header
    )
    _refuse_role(feature, source, "--feature")
    found = evidence(source.frame, source.label, feature, limit, weights=source.weights)
    changes = transitions(source.frame, source.label, feature, weights=source.weights)
    if as_json:
        content = found.to_dict() | {"transitions": changes.to_dict()["transitions"]}
        _write_json({"source": _source(source), **content})
        return
    console = Console(highlight=False)
    _print_source(console, source)
    console.print(Text(f"{found.headline()}{'.' if found.n_pairs else ''}"))
    _print_pairs(console, found)
    if changes.counts:
        console.print()
        _print_transitions(console, changes)


def show_audit(
    file: File,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to audit.", show_default=False)],
    label: Label = None,
    given: Annotated[
        str | None,
        typer.Option(
            metavar="COLS",
            help="Compare rows that are equal on these columns, separated by commas; on all if not given.",
            show_default=False,
        ),
    ] = None,
    ignore: Ignore = None,
    confidence: Confidence = 0.95,
    limit: Annotated[int, typer.Option(help="How many example pairs to show.")] = 4,
    weights: Weights = None,
    as_json: Json = False,
    separator: Separator = None,
    header: Header = True,
) -> None:
    """Audit one feature with all else equal: does it change the label, in whose favour, and by how much.

    Rows that are equal but for the feature are compared with each other. The audit says how often their
    labels differ, which value gains which label, by how much and how sure that is, and shows examples.

    Examples
    --------
    - analogical audit berkeley --label admitted --feature gender

    - analogical audit loans.csv --label approved --feature gender --ignore id,date
    """
    if given is not None and ignore is not None:
        raise InputError("--given and --ignore exclude each other; give one of them.")
    source = read_source(
        file, label=label, weights=weights, ignore=columns_of(ignore), separator=separator, header=header
    )
    _refuse_role(feature, source, "--feature")
    equal_on = None if given is None else columns_of(given)
    for column in equal_on or ():
        _refuse_role(column, source, "--given")
    result = audit(
        source.frame,
        source.label,
        feature,
        given=equal_on,
        weights=source.weights,
        confidence=confidence,
        limit=limit,
    )
    if as_json:
        _write_json({"source": _source(source), **result.to_dict()})
        return
    console = Console(highlight=False)
    _print_source(console, source)
    _print_audit(console, result)


def _refuse_role(column: str, source: Source, option: str) -> None:
    """A column cannot be the label or the weights and something else as well."""
    if column == source.label:
        raise InputError(f"{option} names {column!r}, which is the label; choose another column, or another --label.")
    if column == source.weights:
        raise InputError(f"{option} names {column!r}, which holds the weights; choose another column.")


def _source(source: Source) -> dict[str, Any]:
    return {"title": source.title, "notes": list(source.notes)}


def _write_json(content: dict[str, Any]) -> None:
    json.dump(content, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def _print_source(console: Console, source: Source) -> None:
    console.print(Text(source.title, style="dim"))
    for note in source.notes:
        console.print(Text(note, style="dim"))


def _print_pairs(console: Console, found: Evidence) -> None:
    """The context once, in grey, and under it the changes, the changed label in colour."""
    for context, pairs in found.blocks():
        console.print()
        console.print(Text(context, style="dim"))
        lines = _grid(("left", "left", "left", "right"))
        for values, labels, rows, stands_for in pairs:
            changed = "→" in labels
            lines.add_row(
                Text(f"  {values}", style="bold"),
                Text(labels, style="bold green" if changed else ""),
                Text(rows, style="dim"),
                Text(stands_for, style="dim"),
            )
        console.print(lines)


def _print_transitions(console: Console, changes: Transitions) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, side in ((changes.feature, "left"), (changes.label, "left"), ("pairs", "right"), ("share", "right")):
        table.add_column(Text(name), justify="left" if side == "left" else "right")
    sizes = [transition.pairs for transition in changes.counts]
    smallest = sorted(sizes, reverse=True)[:MAX_TRANSITIONS][-1]
    shown = [k for k, size in enumerate(sizes) if size >= smallest][:MAX_TRANSITIONS]
    words = changes.rows()
    for k in shown:
        table.add_row(*(Text(word, style="green" if changes.counts[k].changed else "") for word in words[k]))
    console.print(table)
    if len(shown) < len(sizes):
        console.print(Text(f"The {len(shown)} largest of {len(sizes):,} changes; --json has all.", style="dim"))


def _print_audit(console: Console, result: Audit) -> None:
    console.print(Text(result.headline(), style="bold"))
    *facts, conclusion = result.sentences()
    for sentence in facts:
        console.print()
        console.print(Text(sentence))
    if len(result.effects) > 1:
        console.print()
        heads, *rows = result.table()
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name, left in zip(heads, TABLE_LEFT, strict=True):
            table.add_column(name, justify="left" if left else "right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        console.print(Text(result.table_note(), style="dim"))
    console.print()
    console.print(Text(conclusion, style="bold"))
    if result.examples.pairs:
        _print_pairs(console, result.examples)
    console.print()
    console.print(Text(CAVEAT, style="dim"))


def _grid(sides: Sequence[str]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for side in sides:
        grid.add_column(justify="left" if side == "left" else "right")
    return grid
