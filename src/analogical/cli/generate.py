"""``analogical generate``: tables labelled by the paper's functions; ``analogical tables``: the built-in ones."""

from typing import Annotated

import typer

from analogical._checks import check_whole
from analogical.cli.writing import show_table, write_csv
from analogical.datasets import load_table, table_names
from analogical.paper.functions import FUNCTIONS
from analogical.show.views import Cell, number_column, tabulate, text_column

__all__ = ["generate", "tables"]


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
    from analogical.paper.sampling import sample

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
