"""``analogical reproduce``, ``generate`` and ``tables``: the paper run again, its functions, and built-in tables."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from analogical._checks import check_whole
from analogical._progress import stop_clock
from analogical.cli.options import Quiet, Seed
from analogical.cli.streams import be_quiet, say_notes, shows_progress
from analogical.cli.writing import print_line, show_table, write_csv
from analogical.datasets import load_table, table_names
from analogical.paper.functions import FUNCTIONS, sample
from analogical.show.views import Cell, number_column, tabulate, text_column
from analogical.show.words import shown


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
    from analogical.paper import reproduce as library
    from analogical.paper.datasets import download_datasets, find_folder
    from analogical.paper.tables import Plan, ReproducedTable

    if quiet:
        be_quiet()
    library.refuse_foreign_folder(out)
    folder = find_folder(data)
    if download:
        folder = folder or Path(out) / "data"
        say_notes([f"downloaded {name}.csv to {folder}" for name in download_datasets(folder)])
    if n_jobs not in (0, 1):
        _start_processes(n_jobs)
    stop_clock()
    slow = ("mushroom", "primary-tumor-class", "monks-2-rule", "monks-3-rule", "relieff")
    plan = Plan(
        repetitions=repetitions if repetitions is not None else 3 if quick else 10,
        seed=seed,
        n_jobs=n_jobs,
        leave_out=slow if quick else (),
        progress=shows_progress(),
    )
    asked = {"as-published": as_published, "corrected": corrected}
    variants = [variant for variant in library.VARIANTS if asked[variant]] or library.VARIANTS
    wanted = parts if parts and "all" not in parts else library.PARTS
    done = library.reproduce(wanted, out, variants=variants, plan=plan, data=folder)

    def agreement(table: ReproducedTable) -> str:
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


def generate(
    function: Annotated[
        str,
        typer.Argument(
            help="One of the paper's functions: " + "; ".join(f"{f.name}: {f.formula}" for f in FUNCTIONS.values()),
            show_default=False,
            metavar="g1..g8",
        ),
    ],
    features: Annotated[int, typer.Option(help="Number of features.")] = 10,
    values: Annotated[int, typer.Option(help="Values per feature.")] = 2,
    rows: Annotated[
        int | None,
        typer.Option(help="Rows, drawn without replacement; all possible rows by default.", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the sample.", show_default=False)] = None,
) -> None:
    """Write a table labelled by one of the paper's eight functions, as CSV on stdout.

    Example: analogical generate g1 --rows 500 --seed 0 | analogical score -
    """
    if seed is not None:
        check_whole("--seed", seed, low=0)
    X, y = sample(function, features, values, rows, seed)
    names = [f"x{i}" for i in range(features)]
    write_csv([*names, "class"], ((*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)))


def tables() -> None:
    """List the built-in tables, which can be named in place of a file."""
    columns = [
        text_column("name", lambda table: Cell(table.name, "good")),
        number_column("rows", lambda table: f"{table.n_rows:,}"),
        number_column("features", lambda table: str(len(table.feature_names))),
        text_column("label", lambda table: table.label),
        text_column("source", lambda table: table.source, may_wrap=True, drop_order=1),
    ]
    show_table(tabulate(map(load_table, table_names()), columns))
