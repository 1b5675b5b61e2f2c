"""The engine on DuckDB keeps the contract of all engines."""

from itertools import count

import pyarrow as pa
import pytest
from engine_contract import EngineContract, margins_of, pytest_generate_tests  # noqa: F401

from analogical.duck import engine as duck_engine
from analogical.duck.engine import DuckEngine
from analogical.duck.session import Session

SESSION = Session()
NAMES = count()


def held(rows, n_features=None, has_unit=False):
    """An engine that holds coded rows."""
    columns = {f"c{i}": rows.codes[:, i] for i in range(rows.n_features)} | {"label": rows.labels}
    if rows.weights is not None:
        columns["weight"] = rows.weights
    name = f"codes{next(NAMES)}"
    SESSION.connection.register("given", pa.table({name: pa.array(cells) for name, cells in columns.items()}))
    SESSION.run(f"CREATE TABLE {name}_rows AS SELECT * FROM given", "writing rows")  # noqa: S608
    shown = f"SELECT *, rowid AS place, rowid AS position FROM {name}_rows"  # noqa: S608
    SESSION.run(f"CREATE VIEW {name} AS {shown}", "writing rows")
    margins = margins_of(rows.select(range(rows.n_features if n_features is None else n_features)))
    unit = rows.n_features - 1 if has_unit else None
    return DuckEngine(SESSION, name, margins, tuple(rows.n_values.tolist()), rows.weights is not None, unit)


class TestDuck(EngineContract):
    @pytest.fixture(params=["whole", "parts"])
    def engine_of(self, request, monkeypatch):
        def in_parts(rows, *rest, **more):
            monkeypatch.setattr(duck_engine, "PART_CELLS", max(40, rows.codes.size // 8))
            return held(rows, *rest, **more)

        return held if request.param == "whole" else in_parts


def test_nothing_is_written_among_the_results():
    session, asked = Session(), "SELECT current_setting('enable_progress_bar')"
    assert session.one(asked, "looking at a setting") is False
    assert session.cursor().sql(asked).fetchall() == [(False,)]
