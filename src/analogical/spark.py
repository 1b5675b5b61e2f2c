"""Relevance of a table that lies on Apache Spark, counted there: the same result as in memory.

>>> from analogical.spark import relevance                           # doctest: +SKIP
>>> relevance(spark.read.parquet("visits"), "readmitted")            # doctest: +SKIP
"""

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_attribution, check_choice, check_confidence, check_radius, seed_from
from analogical._progress import progress_line
from analogical._relevance import Counted, Duplicates, Relevance, relevance_of
from analogical._spark_session import check_spark, is_spark_frame, open_session, ship_package
from analogical._types import Note
from analogical.encoding.binning import Bins
from analogical.encoding.leaks import find_leaks, tell_label
from analogical.encoding.spark.table import SparkTable, encode_spark_table
from analogical.encoding.table import EncodedTable, with_leaks
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.engines.spark.engine import SparkEngine, SparkRows
from analogical.engines.spark.planning import MOST_GROUPS, SparkPlan, choose_plan, deal_features, finishes_in_memory
from analogical.engines.spark.words import LABEL, WEIGHT, Layout, PackWords
from analogical.errors import InputError
from analogical.scoring.attribution import ATTRIBUTIONS, AttributionMethod
from analogical.scoring.dependencies import Determinants
from analogical.scoring.radius import Radius
from analogical.scoring.significance import pools_contexts
from analogical.scoring.summaries import summarise_contexts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["open_session", "relevance"]

N_SAMPLED = 20_000
"""Rows that are drawn to choose the plan, to look for redundant features and, beyond distance 1, to be compared."""


def relevance(
    df: "DataFrame",
    label: str,
    *,
    weights: str | None = None,
    features: Any = None,
    ignore: Any = None,
    missing: Missing = "value",
    bins: Bins = 5,
    max_values: int | None = 20,
    ids: Ids = "drop",
    bin_label: int | None = None,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    noise_free: bool = False,
    confidence: float | None = 0.95,
    redundancies: bool = True,
    random_state: Any = 0,
    progress: bool = False,
) -> Relevance:
    """Relevance of every feature of a Spark table for its label, counted on the executors.

    The counts are those of :func:`analogical.relevance` on the same rows, equal with ``==``. At distance 1 index,
    effect, intervals and p-values are the same too, up to the last digits. Beyond it the score rests on rows or pairs
    that are drawn, and draws of another order of the rows differ a little, as they do in memory.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    label : str
        Name of the column with the label.
    weights : str, optional
        Name of the column that says how many rows each row stands for.
    features, ignore, missing, bins, max_values, ids, bin_label
        As in :func:`analogical.relevance`. The edges of the bins of a column with more than 200,000 different numbers
        lie at steps of a ten-thousandth of the rows; ``notes`` says so.
    radius : int or "auto"
        As in :func:`analogical.relevance`. Distance 1 is counted on all rows. What lies beyond rests on the sample;
        ``notes`` says so.
    attribution, duplicates, noise_free, confidence
        As in :func:`analogical.relevance`.
    redundancies : bool
        Look for the features that determine those without pairs: in the sample, and what is found is checked on all
        rows.
    random_state : int, RandomState or None
        Seed of the sample.
    progress : bool
        Show on stderr how far long work is.

    Returns
    -------
    Relevance
        The same as in memory; ``settings.plan`` says how it was counted.

    Raises
    ------
    InputError
        If the table or the label cannot be used.
    SparkError
        If Spark cannot finish a job; no result is made from a part of the rows.

    Notes
    -----
    The plan is chosen from a few cheap passes. If the distinct rows are at most a million and at most half of the rows,
    or if the table is small (rows times features squared up to 40 million), the distinct rows come to the driver with
    their number, and the rest happens in memory. Otherwise only a sample of about 20,000 rows does. The columns are
    dealt into two blocks, or up to four, and for each block the rows that agree outside of it are brought together and
    counted by the same code as in memory. Groups of dependent rows and the bootstrap are not available on Spark.

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
    level, seed = check_confidence(confidence), seed_from(random_state)
    check_choice("duplicates", duplicates, ("count", "once"))
    check_attribution(attribution, tuple(ATTRIBUTIONS))
    treatment = Treatment.of(missing, bins, max_values, ids, bin_label)
    session = df.sparkSession
    ship_package(session)
    steps = _Steps(progress)
    table = encode_spark_table(df, label, weights=weights, features=features, ignore=ignore, treatment=treatment)
    check_radius(radius, len(table.columns))
    with ExitStack() as held:
        encoded, counted, plan = _count(table, SparkEngine(session), duplicates, seed, held, steps)
        result = relevance_of(
            encoded,
            MemoryEngine(),
            counted=counted,
            radius=radius,
            attribution=attribution,
            duplicates=duplicates,
            noise_free=noise_free,
            confidence=level,
            redundancies=redundancies,
            seed=seed,
            progress=progress,
        )
    plan = replace(plan, blocks=tuple(tuple(result.names[i] for i in block) for block in plan.blocks))
    settings = replace(result.settings, engine="spark", plan=plan, weighted=table.is_weighted)
    return replace(result, settings=settings, notes=(*result.notes, *_sample_notes(result, counted)))


class _Steps:
    """Which of the passes over the table is under way."""

    N_STEPS = 4
    """Columns looked at, rows packed, plan chosen, pairs counted."""

    def __init__(self, progress: bool) -> None:
        self.show = progress_line("on Spark, steps done") if progress else None
        self.done = 0

    def next(self) -> None:
        """One more pass is done."""
        self.done += 1
        if self.show is not None:
            self.show(self.done, self.N_STEPS)

    def end(self) -> None:
        """Nothing is left to do on Spark."""
        if self.show is not None:
            self.show(self.N_STEPS, self.N_STEPS)


def _count(
    table: SparkTable, engine: SparkEngine, duplicates: Duplicates, seed: int | None, held: ExitStack, steps: _Steps
) -> tuple[EncodedTable, Counted | None, SparkPlan]:
    """The whole table if its distinct rows are few, else a sample of it and what was counted on Spark."""
    steps.next()
    margins, n_features = table.margins, len(table.columns)
    blocks = deal_features(margins, min(2, n_features))
    rows = _packed(table, SparkPlan("grouped", blocks, 1, 1.0, True), held)
    n_distinct = rows.estimate_distinct()
    steps.next()
    if finishes_in_memory(rows.n_rows, n_distinct, pools_contexts(n_features)):
        here = rows.merged().here(limit=2 * MOST_GROUPS)
        if here is not None:
            steps.end()
            whole = table.encoded(here)
            return with_leaks(whole, find_leaks(here)), None, rows.plan
    sample = rows.sample(max(N_SAMPLED, engine.rows_compared(n_features)), seed)
    plan = choose_plan(
        margins, sample, n_distinct, int(engine.session.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    )
    rows = replace(rows, plan=plan) if plan.blocks == blocks else _packed(table, plan, held)
    steps.next()
    counted = rows
    if duplicates == "once":
        counted = rows.distinct()
        held.callback(counted.frame.unpersist)
    sums = engine.sum_contexts(counted, summarise_contexts(counted.margins))
    steps.next()
    encoded = with_leaks(table.encoded(sample), {i: share for i in find_leaks(sample) if (share := _tells(rows, i))})
    return encoded, Counted(rows.n_rows, sums, counted.margins, sample, partial(_check, rows)), plan


def _packed(table: SparkTable, plan: SparkPlan, held: ExitStack) -> SparkRows:
    """The table as words, kept by Spark until they are let go."""
    layout = Layout(tuple(table.margins.n_values.tolist()), plan.blocks)
    names = [*layout.names, LABEL, *([WEIGHT] if table.is_weighted else [])]
    words = table.map_codes(PackWords(layout), ", ".join(f"{name} long" for name in names)).persist()
    held.callback(words.unpersist)
    return SparkRows(words, layout, table.margins, plan, table.is_weighted)


def _tells(rows: SparkRows, feature: int) -> float:
    """In which share of all rows a feature tells the label, if it does so in nearly all; otherwise 0."""
    found = rows.sizes_by([feature])
    table = np.zeros((1, int(rows.margins.n_values[feature]), rows.margins.n_labels), np.int64)
    table[0, found.column("k0").to_numpy(), found.column(LABEL).to_numpy()] = found.column("n").to_numpy()
    (is_leak,), (share,) = tell_label(table)
    return float(share) if is_leak else 0.0


def _check(rows: SparkRows, found: Determinants) -> Determinants:
    """The dependencies of a sample that hold in all rows."""
    held = {i: by for i, by in found.by.items() if rows.sizes_by(by, i).column("n")[0].as_py() == 0}
    return replace(found, by=held)


def _sample_notes(result: Relevance, counted: Counted | None) -> tuple[Note, ...]:
    """What rests on a sample of the rows."""
    if counted is None or counted.rows.n_rows == counted.sums.counts.n_rows:
        return ()
    parts = ["score"] if result.settings.radius > 1 else []
    if result.settings.redundancies and "no-pairs" in result.paper_status:
        parts.append("redundancies")
    return (Note("sampled", tuple(parts), (counted.rows.n_rows, counted.n_rows)),) if parts else ()
