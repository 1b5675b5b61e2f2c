import pytest
from spark_sessions import LOCAL, session_on


def pytest_collection_modifyitems(items):
    """The cluster comes last: a process has one session at a time, and the local one is started once."""
    items.sort(key=lambda item: "test_cluster.py" in item.nodeid)


@pytest.fixture
def session():
    """The local session of this process."""
    return session_on(LOCAL)
