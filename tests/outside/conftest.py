"""One session of Spark for all tests of a process, or a reason to skip them."""

import shutil

import pytest


@pytest.fixture(scope="session")
def spark():
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from analogical.outside.spark import open_session

    session = open_session("local[2]")
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.stop()
