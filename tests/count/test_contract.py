"""The engine in memory keeps the contract of all engines."""

import pytest
from engine_contract import EngineContract, pytest_generate_tests  # noqa: F401

from analogical.count.memory import MemoryEngine


class TestMemory(EngineContract):
    @pytest.fixture(params=[None, 2], ids=["one thread", "two threads"])
    def make_engine(self, request, monkeypatch):
        """Build the engine; small tables are counted in threads too."""
        monkeypatch.setattr("analogical.count.threads.SMALL_WORK", 0)
        return lambda: MemoryEngine(request.param)
