"""A Spark dataframe to a study of it: encoded there, counted there, or brought here if its distinct rows are few."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from analogical.engines.blocks import deal_features
from analogical.engines.encode import EngineTable, encode_relation
from analogical.engines.study import EngineStudy
from analogical.estimate.significance import pools_contexts
from analogical.spark.engine import KeptFrame, SparkEngine
from analogical.spark.planning import MOST_GROUPS, SparkPlan, choose_plan, finishes_in_memory
from analogical.spark.relation import SparkRelation
from analogical.spark.session import check_spark, ship_package
from analogical.spark.words import Layout, PackBatches
from analogical.study import SEARCH_ROWS, Duplicates, Study
from analogical.table.rules import Rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["open_study"]


def open_study(
    df: "DataFrame",
    label: Any,
    rules: Rules,
    *,
    keep: Sequence[Any] = (),
    look_for_leaks: bool = True,
    look_for_units: bool = False,
    duplicates: Duplicates = "count",
) -> Study:
    """The study of a Spark dataframe, classic or Connect; see :func:`analogical.engines.open.engine_study_of`.

    If the distinct rows are at most a million and at most half of the rows, or if the table has at most 20,000 rows or
    eleven features, they come here with their number. Otherwise rows stay on Spark, packed, and the study asks for
    groups of them. The table is read several times, so it must be the same each time.
    """
    check_spark()
    relation = SparkRelation(df)
    ship_package(df.sparkSession)
    looks: Any = {"look_for_leaks": look_for_leaks, "look_for_units": look_for_units}
    table = encode_relation(relation, label, rules, keep=keep, **looks)
    blocks = deal_features(table.margins, min(2, len(table.columns)))
    engine = _packed(table, SparkPlan("grouped", blocks, 1, 1.0, True))
    sample = engine.sample(SEARCH_ROWS)
    n_distinct = engine.estimate_distinct(sample)
    needs_rows = pools_contexts(len(table.columns)) or engine.n_rows <= SEARCH_ROWS
    if finishes_in_memory(engine.n_rows, n_distinct, needs_rows):
        rows = engine.here(limit=2 * MOST_GROUPS)
        if rows is not None:
            plan = _by_name(engine.plan, table)
            return Study.of_rows(table, rows, duplicates=duplicates, engine_name="spark", plan=plan)
    plan = choose_plan(table.margins, sample, n_distinct, _n_shuffled(df))
    engine = replace(engine, plan=plan) if plan.blocks == blocks else _packed(table, plan)
    return EngineStudy.of(table, engine, duplicates=duplicates, plan=_by_name(plan, table))


def _packed(table: EngineTable, plan: SparkPlan) -> SparkEngine:
    """The table as words, which Spark keeps as long as the engine lives."""
    n_codes = tuple(table.n_codes.tolist()[len(table.columns) :])
    layout = Layout((*table.margins.n_values.tolist(), *n_codes), plan.blocks)
    pack = PackBatches(layout, table.encoders, table.label_encoder, table.is_weighted)
    rows = cast("SparkRelation", table.relation).frame.select(*table.sources)
    words = rows.mapInArrow(pack.__call__, ", ".join(f"{name} long" for name in pack.names))
    has_unit = table.n_units is not None
    return SparkEngine(KeptFrame(words), table.margins, plan, n_codes, table.bin_sizes, has_unit, table.is_weighted)


def _n_shuffled(df: "DataFrame") -> int:
    """Partitions of a shuffle, by the settings of the session."""
    return int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def _by_name(plan: SparkPlan, table: EngineTable) -> SparkPlan:
    """The plan as results tell it."""
    return replace(plan, blocks=tuple(tuple(table.names[i] for i in block) for block in plan.blocks))
