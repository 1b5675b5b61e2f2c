"""Spark sessions for tests: one at a time in a process, all on the loopback address; and tables on them."""

import os
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import context_tables
import numpy as np
import pytest
from engine_contract import margins_of
from standalone import HOST, environment, free_port

from analogical.errors import MissingDependencyError
from analogical.spark.engine import KeptFrame, SparkEngine
from analogical.spark.planning import choose_plan
from analogical.spark.session import check_java, check_spark, ship_package
from analogical.spark.words import LABEL, WEIGHT, Layout

SMALL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for Java: jobs of a second are not worth its best compiler."""

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": HOST,
    "spark.driver.host": HOST,
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": SMALL_JAVA,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SMALL_JAVA,
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "UTC",
}
LOCAL = "local[2]"
CONNECT_PORT = "spark.connect.grpc.binding.port"
LOCAL_SETTINGS = {
    # Queries are interpreted: of a small table that is faster than to compile them, as the cluster does.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Clients of Spark Connect are served too.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": HOST,
}


@cache
def missing():
    """Why Spark cannot be used here; None if it can."""
    try:
        check_spark()
        check_java()
    except MissingDependencyError as error:
        return str(error)
    return None


WARNINGS = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket"),  # PySpark 4.0 leaves sockets open
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


def all_need_spark():
    """The marks of a file of tests that is skipped as a whole where Spark cannot be used."""
    if missing():
        pytest.skip(missing(), allow_module_level=True)
    return WARNINGS


def session_on(master):
    """A session on a master; the one that is there is used again if it is on the same master, otherwise stopped."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(context_tables)  # executors do not have the tests
    os.environ.update({name: environment()[name] for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON")})
    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master == master:
            return active
        active.stop()
    settings = dict(SETTINGS)
    if master == LOCAL:
        settings |= LOCAL_SETTINGS | {CONNECT_PORT: str(free_port())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        builder = SparkSession.builder.master(master).appName("tests of analogical")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spread(session, rows, n_partitions=4, n_features=None, has_unit=False):
    """Coded rows on Spark, in so many partitions; the columns after the features are bins, and last the unit."""
    import pyarrow as pa

    ship_package(session)
    if rows.weights is not None:
        rows = rows.take(rows.weights > 0)
    n_features = rows.n_features if n_features is None else n_features
    margins = margins_of(rows.select(range(n_features)))
    plan = replace(choose_plan(margins, rows, len(rows.codes), n_partitions), n_partitions=n_partitions)
    n_codes = tuple(rows.n_values[n_features:].tolist())
    layout = Layout((*margins.n_values.tolist(), *n_codes), plan.blocks)
    cells = dict(zip(layout.names, layout.pack(list(rows.codes.T)), strict=True))
    cells[LABEL] = rows.labels.astype(np.int64)
    if rows.weights is not None:
        cells[WEIGHT] = rows.weights
    frame = session.createDataFrame(pa.table(cells)).repartition(n_partitions)
    sizes = tuple(rows.value_sizes(c) for c in range(n_features, rows.n_features - has_unit))
    return SparkEngine(KeptFrame(frame), margins, plan, n_codes, sizes, has_unit, rows.weights is not None)


LEFT_OUT = ("engine", "plan", "backend", "examples", "changed_pair", "kept_pair")
"""Who counted, and single rows, which have no number on Spark: one of equal rows stands for all."""


def plain(told):
    """The data of a result without that, and contexts in an order of their own."""
    if isinstance(told, dict):
        return {name: plain(one) for name, one in told.items() if name not in LEFT_OUT}
    if isinstance(told, list):
        parts = [plain(one) for one in told if not (isinstance(one, dict) and "rows" in one)]
        return sorted(parts, key=lambda one: str(one["context"])) if "context" in str(parts[:1])[:100] else parts
    return told


@contextmanager
def connected(session):
    """A session of Spark Connect to the Spark of a classic session, as in a process that has no other."""
    from pyspark.sql.connect.session import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # functions then make expressions of Connect
        port = session.sparkContext.getConf().get(CONNECT_PORT)
        client = SparkSession.builder.remote(f"sc://{HOST}:{port}").create()
        yield client
        client.stop()
