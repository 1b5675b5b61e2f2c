"""The same counts by others: a group-by for each feature in DuckDB and Polars, and rows exploded to contexts in Spark.

Two rows with equal values on all features but one are a pair for it, or identical. So the pairs of a feature are those
within groups by all other features, less the identical ones; the same within a label gives those that are not changed.
All peers use this, so that they never make a pair, and all group by one whole number that holds a row, since 3^20 fits
64 bits. On the columns themselves they are slower.
"""

from typing import TYPE_CHECKING, Any

from scale_tables import LABEL, N_VALUES, names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Counts", "duckdb_counts", "explode_counts", "polars_counts"]

Counts = dict[str, list[int]]
"""Pairs and changed pairs of each feature."""

PAIRS = "n * (n - 1) / 2"
UNCHANGED = "a * (a - 1) / 2 + (n - a) * (n - a - 1) / 2"


def whole_key(cast: str) -> str:
    """A row as one whole number, in SQL."""
    return " + ".join(f"CAST({name} AS {cast}) * {N_VALUES**i}" for i, name in enumerate(names()))


def counts_of(groups: list[tuple[int, int]], rows: tuple[int, int]) -> Counts:
    """Counts from the pairs within groups, of all and of equal labels: one entry for each feature, and for rows."""
    pairs = [int(n) - int(rows[0]) for n, _ in groups]
    unchanged = [int(n) - int(rows[1]) for _, n in groups]
    return {"pairs": pairs, "changed": [p - u for p, u in zip(pairs, unchanged, strict=True)]}


def duckdb_counts(path: str, n_threads: int) -> Counts:
    """One query for each feature."""
    import duckdb

    with duckdb.connect(config={"threads": n_threads}) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT *, {whole_key('BIGINT')} AS k FROM read_parquet('{path}/*.parquet')"  # noqa: S608
        )

        def groups(key: str) -> tuple[int, int]:
            query = f"""
                SELECT sum({PAIRS.replace("/", "//")}), sum({UNCHANGED.replace("/", "//")})
                FROM (SELECT count(*) AS n, count(*) FILTER (WHERE {LABEL} = 0) AS a FROM t GROUP BY {key})
            """  # noqa: S608
            found = connection.execute(query).fetchone()
            assert found is not None  # noqa: S101
            return found[0], found[1]

        features = [groups(f"k - CAST({name} AS BIGINT) * {N_VALUES**i}") for i, name in enumerate(names())]
        return counts_of(features, groups("k"))


def polars_counts(path: str) -> Counts:
    """One query for each feature, in Polars' streaming engine."""
    import polars as pl

    def cells(name: str, place: int) -> Any:
        return pl.col(name).cast(pl.Int64) * N_VALUES**place

    key = pl.sum_horizontal(cells(name, i) for i, name in enumerate(names()))
    frame = pl.read_parquet(path).with_columns(k=key)
    n, a = pl.col("n").cast(pl.Int64), pl.col("a").cast(pl.Int64)

    def groups(by: Any) -> tuple[int, int]:
        found = (
            frame.lazy()
            .group_by(by.alias("g"))
            .agg(n=pl.len(), a=(pl.col(LABEL) == 0).sum())
            .select(pairs=(n * (n - 1) // 2).sum(), same=(a * (a - 1) // 2 + (n - a) * (n - a - 1) // 2).sum())
            .collect(engine="streaming")
        )
        return found.row(0)

    return counts_of([groups(pl.col("k") - cells(name, i)) for i, name in enumerate(names())], groups(pl.col("k")))


def explode_counts(spark: "SparkSession", path: str) -> Counts:
    """The plan that comes to mind first on Spark: every row becomes one (feature, context) for each feature."""
    spark.read.parquet(path).createOrReplaceTempView("t")
    contexts = ", ".join(f"k - CAST({name} AS BIGINT) * {N_VALUES**i}" for i, name in enumerate(names()))
    pairs, unchanged = PAIRS.replace("/", "div"), UNCHANGED.replace("/", "div")
    grouped = f"""
        SELECT feature, sum({pairs}) AS pairs, sum({unchanged}) AS same FROM (
            SELECT feature, g, count(*) AS n, count_if({LABEL} = 0) AS a FROM (
                SELECT posexplode(array({contexts}, k)) AS (feature, g), {LABEL}
                FROM (SELECT *, {whole_key("BIGINT")} AS k FROM t)
            ) GROUP BY feature, g
        ) GROUP BY feature ORDER BY feature
    """  # noqa: S608
    *features, rows = [(row["pairs"], row["same"]) for row in spark.sql(grouped).collect()]
    return counts_of(features, rows)
