"""``analogical reproduce``: the paper's tables and figure, run again."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analogical.cli.options import Quiet, Seed
from analogical.cli.streams import be_quiet, say_notes, shows_progress, start_output
from analogical.cli.writing import print_line, show_table
from analogical.show.views import number_column, tabulate, text_column
from analogical.show.words import shown

if TYPE_CHECKING:
    from analogical.paper.reproduce import Reproduction
    from analogical.paper.results import ReproducedTable

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
        bool, typer.Option("--as-published", help="Only the authors' protocol, errors included.")
    ] = False,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Only the corrected experiments. By default both are run.")
    ] = False,
    repetitions: Annotated[
        int | None, typer.Option(metavar="N", help="Runs per average.", show_default="10, or 3 with --quick")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="3 repetitions, and without the slow parts.")] = False,
    seed: Seed = 0,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 means one per core. Does not change the numbers.")] = -1,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder with the paper's data files.", show_default="the variable ANALOGICAL_DATA"
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download missing data files into the data folder (or OUT/data).")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's tables and figure, next to the printed numbers.

    Every table is written as Markdown, CSV, JSON and LaTeX, the figure as PNG and SVG. Start with README.md in
    the folder.

    Examples
    --------
    - analogical reproduce all --quick

    - analogical reproduce table4 table6 --as-published --repetitions 100

    - analogical reproduce all --data papers/ari/datasets --out results
    """
    from analogical.paper.datasets import download_datasets, find_folder
    from analogical.paper.protocol import Plan
    from analogical.paper.reproduce import PARTS, VARIANTS
    from analogical.paper.reproduce import reproduce as run
    from analogical.paper.writing import refuse_foreign_folder

    if quiet:
        be_quiet()
    wanted = list(PARTS) if not parts or "all" in parts else parts
    runs = repetitions if repetitions is not None else QUICK if quick else 10
    variants = [v for v in VARIANTS if {"as-published": as_published, "corrected": corrected}[v]] or list(VARIANTS)
    refuse_foreign_folder(out)
    folder = find_folder(data)
    if download:
        folder = folder or Path(out) / "data"
        say_notes([f"downloaded {name}.csv to {folder}" for name in download_datasets(folder)])
    if n_jobs not in (0, 1):
        _start_processes(n_jobs)
    start_output()
    plan = Plan(
        repetitions=runs,
        seed=seed,
        n_jobs=n_jobs,
        leave_out=SLOW if quick else (),
        progress=shows_progress(),
    )
    _show(run(wanted, out, variants=variants, plan=plan, data=folder))


def _start_processes(n_jobs: int) -> None:
    """Start the processes before the work, ignoring Ctrl-C: this process stops them, and they print no traceback."""
    from joblib import Parallel, delayed

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # processes inherit it
    try:
        Parallel(n_jobs=n_jobs)(delayed(abs)(number) for number in range(2))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _show(done: "Reproduction") -> None:
    """How many printed numbers agree, what is missing, and where to read on."""

    def agreement(table: "ReproducedTable") -> str:
        agreeing, judged = table.agreement()
        return f"{agreeing:,} of {judged:,}" if judged else "none to judge"

    columns = [
        text_column("table", lambda table: table.name),
        text_column("variant", lambda table: table.variant),
        number_column("printed numbers that agree", agreement, may_wrap=True),
    ]
    if done.tables:
        show_table(tabulate(done.tables, columns))
    for note in dict.fromkeys(note for table in done.tables for note in table.notes):
        print_line(shown(note), "yellow", in_one_piece=True)
    print_line(f"Read {shown(done.files[0])} first; {len(done.files)} files were written.", in_one_piece=True)
