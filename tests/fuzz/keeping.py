"""Tables that found a bug, as small text files in the folder ``cases``; imports nothing from analogical."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from fuzz.tables import Column, Table

CASES = Path(__file__).parent / "cases"

_READ = {
    "float": float,
    "int": int,
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "zoned": lambda text: datetime.fromisoformat(text).astimezone(UTC),
    "time": time.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
    "tuple": lambda cells: tuple(map(_read_cell, cells)),
    "frozenset": lambda cells: frozenset(map(_read_cell, cells)),
}


def _read_cell(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    ((kind, content),) = stored.items()
    return _READ[kind](content)


def _store_cell(cell: Any) -> Any:
    if isinstance(cell, float) and (not math.isfinite(cell) or cell == 0):
        return {"float": str(cell)}
    if isinstance(cell, int) and abs(cell) >= 2**63:
        return {"int": str(cell)}
    if isinstance(cell, tuple | frozenset):
        return {type(cell).__name__: [_store_cell(part) for part in cell]}
    if isinstance(cell, timedelta):
        return {"timedelta": cell.total_seconds()}
    if isinstance(cell, datetime):
        return {"datetime" if cell.tzinfo is None else "zoned": cell.isoformat()}
    if isinstance(cell, date | time):
        return {type(cell).__name__: cell.isoformat()}
    return {"Decimal": str(cell)} if isinstance(cell, Decimal) else cell


def store_table(table: Table, **settings: Any) -> str:
    """A table and the settings of its check as text."""
    content = {
        **settings,
        "seed": list(table.seed),
        "columns": [
            {"name": c.name, "kind": c.kind, "number": c.number, "cells": list(map(_store_cell, c.cells))}
            for c in table.columns
        ],
        "labels": list(map(_store_cell, table.labels)),
        "weights": table.weights,
        "groups": table.groups,
    }
    return json.dumps(content)


def read_table(text: str) -> tuple[Table, dict[str, Any]]:
    """A stored table, and the settings of its check."""
    content = json.loads(text)
    columns = [
        Column(c["name"], c["kind"], list(map(_read_cell, c["cells"])), c["number"]) for c in content.pop("columns")
    ]
    labels = list(map(_read_cell, content.pop("labels")))
    table = Table(columns, labels, content.pop("weights"), content.pop("groups"), tuple(content.pop("seed")))
    return table, content
