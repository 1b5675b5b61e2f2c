"""The records of a result as a dataframe."""

from collections.abc import Sequence
from typing import Any

__all__ = ["frame_of_records"]

LARGEST = 2**63 - 1
"""Larger integers do not fit a dataframe column, and become text."""


def frame_of_records(records: Sequence[dict[str, Any]], columns: Sequence[str], backend: str) -> Any:
    """One row per record; unknown numbers become NaN, lists and dictionaries text."""
    from analogical.table.frames import build_frame

    cells = {name: _column([record[name] for record in records]) for name in columns}
    return build_frame({name: list(map(_storable, column)) for name, column in cells.items()}, backend)


def _column(cells: list[Any]) -> list[Any]:
    if any(isinstance(cell, int) and abs(cell) > LARGEST for cell in cells):
        cells = [None if cell is None else str(cell) for cell in cells]
    if any(isinstance(cell, list | dict) for cell in cells):
        return [None if cell is None else _joined(cell) for cell in cells]
    known = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in known}
    if len(types) > 1 and not types <= {int, float}:
        return [None if cell is None else str(cell) for cell in cells]
    if len(known) < len(cells) and all(isinstance(cell, int | float) for cell in known):
        return [float("nan") if cell is None else float(cell) for cell in cells]
    return cells


def _storable(cell: Any) -> Any:
    """Text that every library can store: lone surrogates are escaped."""
    return cell.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(cell, str) else cell


def _joined(cell: Any) -> str:
    if isinstance(cell, dict):
        return ", ".join(f"{key}={value}" for key, value in cell.items())
    return ", ".join(map(str, cell))
