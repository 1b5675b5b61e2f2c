"""The engine on DuckDB keeps the contract of all engines."""

import numpy as np
import pytest
from engine_contract import EngineContract, margins_of, pytest_generate_tests  # noqa: F401

from analogical.duck import engine as duck_engine
from analogical.duck.engine import DuckEngine
from analogical.duck.session import Session


def held(rows, session=None):
    """An engine that holds coded rows."""
    import pyarrow as pa

    session = session or Session()
    columns = {f"c{i}": rows.codes[:, i] for i in range(rows.n_features)} | {"label": rows.labels}
    if rows.weights is not None:
        columns["weight"] = rows.weights
    table = pa.table({name: pa.array(cells) for name, cells in columns.items()})
    session.connection.register("given", table)
    session.connection.execute("CREATE TABLE codes AS SELECT * FROM given").fetchall()
    session.connection.unregister("given")
    return DuckEngine(session, "codes", margins_of(rows), tuple(rows.n_values.tolist()), rows.weights is not None)


class TestDuck(EngineContract):
    @pytest.fixture(params=[duck_engine.PART_CELLS, 40], ids=["whole", "parts"])
    def engine_of(self, request, monkeypatch):
        monkeypatch.setattr(duck_engine, "PART_CELLS", request.param)
        return held
