"""``analogical generate``: tables labelled by the paper's functions; ``analogical tables``: the built-in ones."""

from typing import Annotated

import typer

from analogical._checks import check_whole
from analogical.cli.writing import show_table, write_csv
from analogical.datasets import load_table, table_names
from analogical.paper.functions import FUNCTIONS
from analogical.show.views import Cell, Heading, Table

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
    built_in = [load_table(name) for name in table_names()]
    show_table(
        Table(
            headings=(
                Heading("name", is_text=True),
                Heading("rows"),
                Heading("features"),
                Heading("label", is_text=True),
                Heading("source", is_text=True, may_wrap=True, leaves=1),
            ),
            rows=tuple(
                (
                    Cell(table.name, "good"),
                    Cell(f"{table.n_rows:,}"),
                    Cell(str(len(table.feature_names))),
                    Cell(table.label),
                    Cell(table.source),
                )
                for table in built_in
            ),
        )
    )
