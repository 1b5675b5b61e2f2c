"""The study of a Spark dataframe: collected if it or its distinct rows are small, otherwise counted on Spark."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.engines.blocks import deal_features
from analogical.engines.encode import EngineTable, encode_relation
from analogical.engines.study import EngineStudy
from analogical.estimate.significance import pools_contexts
from analogical.spark.engine import KeptFrame, SparkEngine
from analogical.spark.planning import MOST_GROUPS, SparkPlan, choose_plan, finishes_in_memory
from analogical.spark.relation import SparkRelation
from analogical.spark.session import check_spark, collect, ship_package
from analogical.spark.words import Layout, PackBatches
from analogical.study import SEARCH_ROWS, Duplicates, Study

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["open_study"]

HERE_BYTES = 2**29
"""Largest table that comes to this process as a whole: half of what Spark collects by default."""
TEXTS = ("string", "varchar", "char")
WIDTHS = {
    **dict.fromkeys(("boolean", "tinyint"), 1),
    **dict.fromkeys(("smallint",), 2),
    **dict.fromkeys(("int", "float", "date", *TEXTS), 4),
    **dict.fromkeys(("bigint", "double", "timestamp", "timestamp_ntz"), 8),
    "decimal": 16,
}
"""Bytes of a cell, in addition to the characters of a text."""


def open_study(
    df: "DataFrame",
    label: Any,
    rules: Rules,
    *,
    keep: Sequence[Any] = (),
    duplicates: Duplicates = "count",
) -> Study:
    """The study of a Spark dataframe, classic or Connect; see :func:`analogical.engines.open.engine_study_of`.

    A table of at most half a gigabyte is collected. Of a larger one the distinct rows are collected with their numbers
    if there are at most a million of them, and at most half as many as rows or at most eleven features. Otherwise rows
    stay on Spark, packed, and the study asks for groups of them. A larger table is read several times, so it must be
    the same each time.
    """
    check_spark()
    relation = SparkRelation(df)
    if isinstance(label, str) and _comes_here(relation, rules):
        rows = collect(df, "reading the table")
        encoded = replace(encode_table(rows, label, rules, keep=keep), frame=None)
        plan = SparkPlan("collected", (), 1, 1.0, False)
        return Study.of_table(encoded, duplicates=duplicates, engine_name="spark", plan=plan)
    ship_package(df.sparkSession)
    table = encode_relation(relation, label, rules, keep=keep)
    blocks = deal_features(table.margins, min(2, len(table.columns)))
    engine = _packed(table, SparkPlan("grouped", blocks, 1, 1.0, True))
    sample = engine.sample(SEARCH_ROWS)
    n_distinct = engine.estimate_distinct()
    needs_rows = pools_contexts(len(table.columns)) or engine.n_rows <= SEARCH_ROWS
    if finishes_in_memory(engine.n_rows, n_distinct, needs_rows):
        rows = engine.here(limit=2 * MOST_GROUPS)
        if rows is not None:
            plan = _by_name(engine.plan, table)
            return Study.of_rows(table, rows, duplicates=duplicates, engine_name="spark", plan=plan)
    plan = choose_plan(table.margins, sample, n_distinct, _n_shuffled(df))
    engine = replace(engine, plan=plan) if plan.blocks == blocks else _packed(table, plan)
    return EngineStudy.of(table, engine, duplicates=duplicates, plan=_by_name(plan, table))


def _comes_here(relation: SparkRelation, rules: Rules) -> bool:
    """Whether the table is small, by the types of its columns and the lengths of texts.

    A table with other types is not: encoding it on Spark refuses them by name.
    """
    widths = [WIDTHS.get(base) for base in relation.bases.values()]
    roles = [role for role in (rules.weights, rules.groups) if role is not None]
    if None in widths or not all(isinstance(role, str) for role in roles):
        return False
    there = relation.numbered()
    lengths = {f"n{p}": f"sum(octet_length(s{p}))" for p, base in enumerate(relation.bases.values()) if base in TEXTS}
    seen = there.aggregate({"n": "count(*)"} | lengths, "counting the rows")
    n_bytes = seen["n"] * sum(width or 0 for width in widths) + sum(seen[name] or 0 for name in lengths)
    return 0 < int(n_bytes) <= HERE_BYTES


def _packed(table: EngineTable, plan: SparkPlan) -> SparkEngine:
    """The table as words, which Spark keeps as long as the engine lives."""
    n_features = len(table.columns)
    n_codes = tuple(table.n_codes.tolist()[n_features:])
    bin_sizes = tuple(encoder.sizes for encoder in table.encoders[n_features : n_features + len(table.bins)])
    layout = Layout((*table.margins.n_values.tolist(), *n_codes), plan.blocks)
    pack = PackBatches(layout, table.encoders, table.label_encoder, table.is_weighted)
    rows = cast("SparkRelation", table.relation).frame.select(*table.sources)
    words = rows.mapInArrow(pack.__call__, ", ".join(f"{name} long" for name in pack.names))
    has_unit = table.n_units is not None
    return SparkEngine(KeptFrame(words), table.margins, plan, n_codes, bin_sizes, has_unit, table.is_weighted)


def _n_shuffled(df: "DataFrame") -> int:
    """Partitions of a shuffle, by the settings of the session."""
    return int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def _by_name(plan: SparkPlan, table: EngineTable) -> SparkPlan:
    """The plan with names of features, for results."""
    return replace(plan, blocks=tuple(tuple(table.names[i] for i in block) for block in plan.blocks))
