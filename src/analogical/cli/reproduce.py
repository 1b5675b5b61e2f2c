"""``analogical reproduce``: the paper's tables and figure, run again."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from analogical.cli.options import Seed
from analogical.cli.writing import show_table
from analogical.presenting.views import Cell, Heading, Table
from analogical.presenting.words import shown

__all__ = ["reproduce"]

QUICK = 3
"""Repetitions of a quick run."""
SLOW = ("mushroom", "primary-tumor-class", "monks-2-rule", "monks-3-rule", "relieff")
"""What a quick run leaves out."""


def reproduce(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="table1 to table6, figure, or all.", metavar="[PART]...", show_default="all"),
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder to write to.")] = "results",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Only the authors' protocol, slips included.")
    ] = False,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Only the corrected experiments. By default both are run.")
    ] = False,
    repetitions: Annotated[
        int | None, typer.Option(metavar="N", help="Runs behind every average.", show_default="10, or 3 with --quick")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: 3 repetitions, and without what takes long.")
    ] = False,
    seed: Seed = 0,
    n_jobs: Annotated[
        int, typer.Option(help="Processes; -1 means one per core. The numbers do not depend on it.")
    ] = -1,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder with the paper's data files.", show_default="the variable ANALOGICAL_DATA"
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch missing data files into the data folder (or OUT/data).")
    ] = False,
) -> None:
    """Run the paper's tables and figure again, beside the printed numbers.

    Every table is written as Markdown, CSV, JSON and LaTeX, the figure as PNG and SVG; start reading at
    README.md in the folder.

    Examples
    --------
    - analogical reproduce all --quick

    - analogical reproduce table4 table6 --as-published --repetitions 100

    - analogical reproduce all --data papers/ari/datasets --out results
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from analogical.experiments.datasets import download_datasets, find_folder
    from analogical.experiments.protocol import Plan
    from analogical.experiments.reproduce import PARTS, VARIANTS
    from analogical.experiments.reproduce import reproduce as run

    wanted = list(PARTS) if not parts or "all" in parts else parts
    runs = repetitions if repetitions is not None else QUICK if quick else 10
    variants = [v for v in VARIANTS if {"as-published": as_published, "corrected": corrected}[v]] or list(VARIANTS)
    errors = Console(stderr=True, highlight=False)
    folder = find_folder(data)
    if download:
        folder = folder or Path(out) / "data"
        for name in download_datasets(folder):
            typer.echo(f"downloaded {name}.csv to {folder}", err=True)
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors) as progress:

        def track(results: Iterable[Any], total: int, what: str) -> Iterable[Any]:
            yield from progress.track(results, total=total, description=what)

        done = run(
            wanted,
            out,
            variants=variants,
            plan=Plan(repetitions=runs, seed=seed, n_jobs=n_jobs, leave_out=SLOW if quick else (), track=track),
            data=folder,
        )
    _show(done.tables, done.files)


def _show(tables: Any, files: Any) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    rows = []
    for table in tables:
        agrees, judged = table.agreement()
        text = f"{agrees:,} of {judged:,}" if judged else "none to judge"
        rows.append((Cell(table.name), Cell(table.variant), Cell(text)))
    if rows:
        headings = (
            Heading("table", is_text=True),
            Heading("variant", is_text=True),
            Heading("printed numbers that agree"),
        )
        show_table(Table(headings, tuple(rows)), console)
    for note in dict.fromkeys(note for table in tables for note in table.notes):
        console.print(Text(note, style="yellow"), soft_wrap=True)
    console.print(Text(f"Read {shown(files[0])} first; {len(files)} files were written."), soft_wrap=True)
