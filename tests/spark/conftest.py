"""The session of the tests on Spark."""

import pytest
from spark_sessions import LOCAL, session_on


def pytest_collection_modifyitems(items):
    """The cluster comes last: a process has one session at a time, and the local one is started once."""
    items.sort(key=lambda item: "test_cluster.py" in item.nodeid)


@pytest.fixture
def session():
    """The local session of this process."""
    return session_on(LOCAL)


@pytest.fixture(scope="session", autouse=True)
def _nothing_comes_here():
    """Tables of the tests are so small that they would be counted in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analogical.spark.opening.HERE_BYTES", 0)
        yield
