"""Results to the terminal: a well-set table for people, JSON and CSV for machines."""

import csv
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analogical._presenting import LEFT, cells, columns, explain, summarise
from analogical._relevance import Relevance

__all__ = ["show_relevance", "write_csv", "write_json", "write_relevance_csv"]

_STATUS_STYLE = {"relevant": "green", "irrelevant": "dim", "constant": "dim", "no-pairs": "yellow"}
_BAR_WIDTH = 6
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def show_relevance(result: Relevance, title: str, notes: Sequence[str], top: int | None) -> None:
    """What was read, the table of features, and what it means in words."""
    console = Console(highlight=False)
    console.print(Text(f"{title}: {summarise(result)}"))
    for note in notes:
        console.print(Text(note, style="dim"))
    order = result.order()
    shown = order if top is None else order[:top]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    heads = columns(result)
    words = [cells(result, i) for i in shown]
    widths = [max(len(word) for word in column) for column in zip(heads, *words, strict=True)]
    gaps = 2 * (len(heads) + 1)
    widths[0] = min(widths[0], max(7, console.width - gaps - _BAR_WIDTH - sum(widths[1:])))  # never cut a digit
    for column, width in zip(heads, widths, strict=True):
        table.add_column(column, justify="left" if column in LEFT else "right", no_wrap=True, min_width=width)
        if column == heads[1]:
            table.add_column("", no_wrap=True, min_width=_BAR_WIDTH)
    for i, (name, score, *numbers, status) in zip(shown, words, strict=True):
        bar = Text(_bar(result.score[i]), style="blue")
        shortened = Text(name)
        shortened.truncate(widths[0], overflow="ellipsis")
        table.add_row(shortened, score, bar, *numbers, Text(status, style=_STATUS_STYLE[status]))
    console.print()
    console.print(table)
    console.print()
    if len(shown) < len(order):
        console.print(Text(f"Best {len(shown)} of {len(order)} features shown.", style="dim"))
    console.print(Text(explain(result)))


def write_relevance_csv(result: Relevance, top: int | None) -> None:
    """One line per feature, best first."""
    features = result.to_dict()["features"]
    rows = [features[i] | {"determined_by": ";".join(features[i]["determined_by"])} for i in result.order()[:top]]
    write_csv(rows[0], (row.values() for row in rows))


def write_json(result: Relevance, source: dict[str, Any], top: int | None) -> None:
    """The result as one JSON object; with top, only the best features, in column order."""
    content = {"source": source, **result.to_dict()}
    if top is not None:
        content["features"] = [content["features"][i] for i in np.sort(result.order()[:top])]
    json.dump(content, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def write_csv(header: Any, rows: Any) -> None:
    """CSV on stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def _bar(share: float) -> str:
    """A share from 0 to 1 as blocks, to an eighth of a character; nothing where it is unknown."""
    if share != share:
        return ""
    eighths = round(share * _BAR_WIDTH * 8)
    if share >= 0.0005:  # what is written as more than 0 is seen
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
