"""The tables and the figure of the paper, reproduced and written to a folder with a page to read first."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analogical.errors import InputError
from analogical.paper.datasets import find_folder
from analogical.paper.figure import draw_figure
from analogical.paper.protocol import Plan
from analogical.paper.results import ReproducedTable
from analogical.paper.tables import TABLES, build_table
from analogical.paper.texts import Variant
from analogical.paper.writing import FORMATS, as_page
from analogical.plot.canvas import require_matplotlib, save_figure

if TYPE_CHECKING:
    import os

__all__ = ["PARTS", "VARIANTS", "Reproduction", "reproduce"]

PARTS = (*TABLES, "figure")
"""The parts of the paper that can be reproduced."""
VARIANTS: tuple[Variant, ...] = ("as-published", "corrected")


@dataclass(frozen=True)
class Reproduction:
    """What was run and written; the first file is the page to read first."""

    tables: tuple[ReproducedTable, ...]
    files: tuple[Path, ...]


def reproduce(
    parts: Sequence[str] = PARTS,
    out: "str | os.PathLike[str]" = "results",
    *,
    variants: Sequence[Variant] = VARIANTS,
    plan: Plan | None = None,
    data: "str | os.PathLike[str] | None" = None,
) -> Reproduction:
    """Reproduce parts of the paper and write them to a folder, with a README.md to read first.

    Parameters
    ----------
    parts : sequence of str
        ``"table1"`` to ``"table6"`` and ``"figure"``.
    out : path
        Folder to write to; it is created if necessary.
    variants : sequence of {"corrected", "as-published"}
        Which experiments; both by default.
    plan : Plan, optional
        Repetitions (10), seed (0), processes (1) and progress (none).
    data : path, optional
        Folder with the paper's data files; by default that of the variable ANALOGICAL_DATA, if it is set.

    Returns
    -------
    Reproduction
        The tables, and the files that were written.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        what = f"There is no part {unknown[0]!r}" if unknown else "No part was named"
        raise InputError(f"{what}; choose from {', '.join(PARTS)}.")
    plan = plan or Plan()
    folder = find_folder(data)
    target = _make_folder(Path(out))
    if "figure" in parts:
        require_matplotlib()  # raise the error before the work, not after
    tables: list[ReproducedTable] = []
    files: list[Path] = []
    for part in (part for part in PARTS if part in parts):
        arithmetic: tuple[Variant, ...] = ("corrected",)
        for variant in arithmetic if part == "table5" else variants:
            if part == "figure":
                computed = [table for table in tables if (table.name, table.variant) == ("table1", variant)]
                (table1,) = computed or [build_table("table1", variant, plan, folder)]
                files += _write_figure(table1, target)
            else:
                tables.append(build_table(part, variant, plan, folder))
                files += _write_table(tables[-1], target)
    page = target / "README.md"
    page.write_text(as_page(tables, [path.name for path in files if path.suffix == ".png"], plan), encoding="utf-8")
    return Reproduction(tuple(tables), (page, *files))


def _make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {str(path)!r} cannot be created: {error.strerror}; name another with --out."
        ) from None
    return path


def _write_table(table: ReproducedTable, target: Path) -> list[Path]:
    files = [target / f"{table.stem}.{ending}" for ending in FORMATS]
    for path, write in zip(files, FORMATS.values(), strict=True):
        path.write_text(write(table), encoding="utf-8")
    return files


def _write_figure(table1: ReproducedTable, target: Path) -> list[Path]:
    figure = draw_figure(table1)
    files = [target / f"figure-{table1.variant}.{ending}" for ending in ("png", "svg")]
    for path in files:
        save_figure(figure, path)
    return files
