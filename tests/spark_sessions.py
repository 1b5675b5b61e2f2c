"""Spark sessions for tests: one at a time in a process, all on the loopback address."""

import os
import warnings

import context_tables
import pytest
from standalone import HOST, environment

from analogical.errors import MissingDependencyError
from analogical.spark.session import check_java, check_spark

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": HOST,
    "spark.driver.host": HOST,
    "spark.driver.memory": "1g",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "UTC",
}


def missing():
    """Why Spark cannot be used here; None if it can."""
    try:
        check_spark()
        check_java()
    except MissingDependencyError as error:
        return str(error)
    return None


needs_spark = [
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
    pytest.mark.xdist_group("spark"),  # one process starts Java, not all of them
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket"),  # PySpark 4.0 leaves sockets open
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


def session_on(master, **settings):
    """A session on a master; the one that is there is used again if it is on the same master, otherwise stopped."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(context_tables)  # executors do not have the tests
    os.environ.update({name: environment()[name] for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON")})
    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master == master and not settings:
            return active
        active.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        builder = SparkSession.builder.master(master).appName("tests of analogical")
        for name, value in (SETTINGS | settings).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
