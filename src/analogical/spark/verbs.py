"""Relevance of a table on Apache Spark: encode and count there, then continue as in memory."""

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from analogical._checks import check_choice, check_confidence
from analogical._progress import Progress, progress_line
from analogical._types import CodedRows
from analogical.count.counts import PairCounts
from analogical.count.groups import draw_rows, merge_rows
from analogical.engines.study import EngineStudy
from analogical.errors import InputError
from analogical.estimate.leaks import find_leaks
from analogical.estimate.significance import pools_contexts
from analogical.spark.engine import SparkEngine
from analogical.spark.planning import MOST_GROUPS, SparkPlan, choose_plan, deal_features, finishes_in_memory
from analogical.spark.session import check_spark, is_spark_frame, ship_package
from analogical.spark.table import SparkTable, encode_spark_table
from analogical.study import SEARCH_ROWS, Duplicates, Given, Study, check_given
from analogical.table.encode import with_leaks
from analogical.table.rules import ColumnOptions, Rules, rules_of
from analogical.verbs.relevance import DEFAULT_CONFIDENCE, Relevance, relevance_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["relevance"]

DRAWN = 1.05
"""Rows that Spark draws for each row of the sample: it draws about as many as it is told, and the rest is left out."""
N_STEPS = 4
"""Passes over the table whose end is shown: columns looked at, rows packed, plan chosen, pairs counted."""


def relevance(
    df: "DataFrame",
    label: str,
    *,
    given: Given = "auto",
    duplicates: Duplicates = "count",
    confidence: float = DEFAULT_CONFIDENCE,
    progress: bool = False,
    **columns: Unpack[ColumnOptions],
) -> Relevance:
    """Relevance of every feature of a Spark table for its label, counted on the executors.

    The counts are those of :func:`analogical.relevance` on the same rows, equal with ``==``. Given the same features,
    effects, intervals and p-values are the same too, up to the last digits. The deciding set is searched on a sample.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    label : str
        Name of the column with the label.
    given : {"auto", "all"} or list of features
        As in :func:`analogical.relevance`.
    duplicates, confidence
        As in :func:`analogical.relevance`.
    progress : bool
        Show progress on stderr.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups`` and ``feature_names``. ``weights`` is the name of a
        column. The edges of the bins of a column with more than 200,000 distinct numbers are
        approximate, to 0.01 % of the rows; ``notes`` says so. As given features, numbers have these bins too.

    Returns
    -------
    Relevance
        The same as in memory; ``settings.plan`` says how it was counted, and ``settings.searched_rows`` on how many
        rows the deciding set was searched.

    Raises
    ------
    InputError
        If the table or the label cannot be used, or if more than five million combinations of the given features occur.
    SparkError
        If Spark cannot finish a job; no result is made from a part of the rows.

    Notes
    -----
    If the distinct rows are at most a million and at most half of the rows, or if the table has at most 20,000 rows or
    eleven features, the distinct rows come to the driver with their number, and the rest happens in memory. Otherwise
    a sample of 20,000 rows does, and for every feature the rows are grouped by it, by what is given and by the label.
    For the paper's counts, and for ``given="all"``, the columns are divided into two to four blocks, and for each
    block the rows that agree outside of it are brought together and counted by the same code as in memory. With very
    many distinct contexts, ``given="all"`` is refused. Groups of dependent rows are not available on Spark.

    The table is read several times, so it must be the same each time: keep what is expensive or random with
    ``df.cache()``, or write it to a file first.

    Examples
    --------
    >>> from analogical.spark import open_session, relevance             # doctest: +SKIP
    >>> spark = open_session("local[2]")                                 # doctest: +SKIP
    >>> df = spark.read.parquet("visits")                                # doctest: +SKIP
    >>> relevance(df, "readmitted", ignore=["date"]).ranking()[:3]       # doctest: +SKIP
    ['ward', 'age', 'sex']
    """
    check_spark()
    if not is_spark_frame(df):
        raise InputError(
            f"df must be a PySpark dataframe, got {type(df).__name__} of {type(df).__module__.partition('.')[0]}; use"
            " analogical.relevance for other tables."
        )
    check_given(given)
    check_confidence(confidence)
    check_choice("duplicates", duplicates, ("count", "once"))
    rules = rules_of(columns, relevance, without=("groups", "feature_names"))
    ship_package(df.sparkSession)
    show = progress_line("on Spark, steps done") if progress else _show_nothing
    table = encode_spark_table(df, label, rules)
    with ExitStack() as held:
        study, plan = _study(table, duplicates, held, show)
        study.given(given)
        _ = study.counts
        show(N_STEPS, N_STEPS)
        result = relevance_of(study, given, confidence=confidence, progress=progress)
    plan = replace(plan, blocks=tuple(tuple(result.names[i] for i in block) for block in plan.blocks))
    settings = replace(result.settings, engine="spark", plan=plan, weighted=table.is_weighted)
    return replace(result, n_rows=table.margins.n_rows, settings=settings)


def count_pairs(df: "DataFrame", label: str) -> tuple[PairCounts, SparkPlan]:
    """The paper's counts alone, and how they were counted: for benchmarks."""
    ship_package(df.sparkSession)
    with ExitStack() as held:
        study, plan = _study(encode_spark_table(df, label, Rules()), "count", held, _show_nothing)
        return study.counts, plan


def _show_nothing(done: int, total: int) -> None:
    """Progress that nobody asked for."""


def _study(table: SparkTable, duplicates: Duplicates, held: ExitStack, show: Progress) -> tuple[Study, SparkPlan]:
    """A study of all rows in this process if the distinct ones are few, else one of rows that stay on Spark."""
    show(1, N_STEPS)
    margins, n_features = table.margins, len(table.columns)
    blocks = deal_features(margins, min(2, n_features))
    engine = _packed(table, SparkPlan("grouped", blocks, 1, 1.0, True), held)
    n_distinct = engine.estimate_distinct()
    show(2, N_STEPS)
    needs_rows = pools_contexts(n_features) or engine.n_rows <= SEARCH_ROWS
    if finishes_in_memory(engine.n_rows, n_distinct, needs_rows):
        rows = engine.merged().here(limit=2 * MOST_GROUPS)
        if rows is not None:
            rows = merge_rows(rows)  # in an order of their own: Spark has another one each time
            encoded = with_leaks(table.encoded(rows), find_leaks(rows))
            return Study.of_table(encoded, duplicates=duplicates), engine.plan
    sample = _sample(engine)
    n_shuffled = int(engine.frame.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    plan = choose_plan(margins, sample, n_distinct, n_shuffled)
    engine = replace(engine, plan=plan) if plan.blocks == blocks else _packed(table, plan, held)
    leaks = _leaks(engine, sample)
    if duplicates == "once":
        engine = engine.distinct()
        held.callback(engine.frame.unpersist)
        sample = _sample(engine)
    show(3, N_STEPS)
    return EngineStudy(with_leaks(table.encoded(sample), leaks), engine, duplicates=duplicates), plan


def _packed(table: SparkTable, plan: SparkPlan, held: ExitStack) -> SparkEngine:
    """The table as words, kept by Spark until they are let go."""
    words = table.words(plan.blocks).persist()
    held.callback(words.unpersist)
    return SparkEngine(words, table.margins, plan, table.is_weighted)


def _sample(engine: SparkEngine) -> CodedRows:
    """The rows that the deciding set is chosen on: all of them, if they are few."""
    drawn = engine.sample(int(DRAWN * SEARCH_ROWS), 0)
    n_left = min(SEARCH_ROWS, engine.n_rows)
    return draw_rows(drawn, n_left, np.random.default_rng(0)) if drawn.n_rows > n_left else drawn


def _leaks(engine: SparkEngine, sample: CodedRows) -> dict[int, float]:
    """Columns that tell the label in nearly all rows, with that share, of those that do so in the sample."""
    likely = list(find_leaks(sample))
    most = int(engine.margins.n_values[likely].sum()) * engine.margins.n_labels
    groups = (engine.group([[i] for i in likely], most) or []) if likely else []
    return {i: share for i, rows in zip(likely, groups, strict=True) if (share := find_leaks(rows).get(0))}
