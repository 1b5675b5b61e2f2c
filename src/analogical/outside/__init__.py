"""Tables that lie elsewhere: lazy frames of DuckDB, Spark, Polars, Ibis and every other library that narwhals can hold.

Up to ``BUDGET`` cells the rows come home as codes, and from there on everything is memory's code. Beyond that the
library groups the rows, and only groups and a sample come here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analogical.columns.encode import EncodedTable
    from analogical.columns.rules import Rules

BUDGET = 600_000_000
"""Cells of the largest table whose rows come home: a byte each, and as much again to count them."""


def encode_outside(
    X: Any,
    y: Any,
    rules: "Rules",
    *,
    keep: Sequence[Any] = (),
    needs_label: bool = True,
    duplicates: str = "count",
    **options: Any,
) -> "EncodedTable":
    """Encode a table that is not in this process; label, weights and groups are names of its columns.

    The arguments are those of :func:`analogical.columns.encode.encode_table`, also further ones. Without a label all
    rows have the same.
    """
    from dataclasses import replace

    from analogical.columns.encode import encode_table
    from analogical.columns.roles import Names, choose_columns
    from analogical.errors import InputError
    from analogical.outside.encoding import Grouping, HomeFrame, rows_at_home
    from analogical.outside.lazy import LazyTable

    if y is None and needs_label:
        raise InputError("y is missing: give the name of the column with the label.")
    table = LazyTable.of(X)
    roles = {"label": y, "weights": rules.weights, "groups": rules.groups}
    named = {what: given for what, given in roles.items() if isinstance(given, str | int)}
    beside = [what for what, given in roles.items() if given is not None and what not in named]
    places = {what: Names(table.keys).find_one(given, what) for what, given in named.items()}
    chosen = choose_columns(table.keys, {place: what for what, place in places.items()}, rules)
    for position in (*chosen.names, *places.values()):
        table.refuse_nested(position)
    names = [f"c{p}" for p in sorted({*chosen.names, *places.values()})]
    n_rows = table.n_rows()
    if n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    is_home = n_rows * len(chosen.names) <= BUDGET
    has_order = is_home and table.engine in ("polars", "duckdb")
    if beside and not has_order:
        raise InputError(f"The {beside[0]} must be the name of a column of X, whose rows are not in this process.")
    wanted = table.keys if rules.ids == "keep" or rules.features is not None else keep
    exact = {*(table.keys[place] for place in places.values()), *(key for key in wanted if isinstance(key, str))}

    def encode(frame: HomeFrame, rules: "Rules") -> "EncodedTable":
        return encode_table(frame, y, rules, keep=keep, needs_label=needs_label, **options)

    if is_home:
        with rows_at_home(table, names, n_rows, exact) as home:
            encoded = encode(home, rules)
    else:
        encoded = Grouping(table, places, chosen.names, exact, encode, duplicates == "once").encoded(rules)
    frame = HomeFrame(table.keys, n_rows) if table.engine == "polars" and is_home else None
    return replace(encoded, engine=table.engine, has_order=has_order, frame=frame)
