"""Tables of every library have the answers of memory, whether their rows come home or the library groups them."""

from dataclasses import fields
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from analogical import (
    InputError,
    Study,
    audit,
    evidence,
    interactions,
    outside,
    redundancies,
    relevance,
    select,
    transitions,
)
from analogical._results import same
from analogical.columns import labels
from analogical.explain import Explanation
from analogical.outside import encoding

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by Ibis

M = 3000
ENGINES = ("polars", "duckdb", "ibis", "pyspark")


@pytest.fixture(autouse=True)
def nothing_subtracted(monkeypatch):
    """Where a library groups the rows, nothing is subtracted within the bins of tied numbers, either."""
    monkeypatch.setattr(Explanation, "_is_tied", lambda *_: False)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (M, 5))
    label = ((rows[:, 0] == rows[:, 1]) | (rows[:, 2] == 2)) ^ (rng.random(M) < 0.1)
    return pl.DataFrame({f"f{i}": rows[:, i] for i in range(5)}).with_columns(
        word=pl.Series(rng.choice(["red", "Red", "it's", None], M).tolist()),
        many=pl.Series([f"word {k}" for k in rng.integers(0, 90, M)]),
        x=pl.Series(6 + 0.5 * rows[:, 3] + rng.normal(size=M)),
        gaps=pl.Series([None if k % 9 == 0 else float(k % 40) for k in range(M)]),
        rating=pl.Series([None if k % 11 == 0 else k % 4 - 1 for k in range(M)]),
        day=pl.Series([date(2020, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 900, M)]),
        seen=pl.Series([datetime(2020, 1, 1) + timedelta(hours=int(k)) for k in rng.integers(0, 400, M)]),
        flag=pl.Series(rng.random(M) < 0.4),
        unit=pl.Series(rng.integers(0, 300, M)),
        y=pl.Series(np.where(label, "yes", "no")),
    )


@pytest.fixture(scope="module")
def lazily(request, table, tmp_path_factory):
    """What makes a lazy frame of a library from some columns of the table."""
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    table.write_parquet(path)

    def make(engine):
        if engine == "polars":
            return pl.scan_parquet(path)
        if engine == "duckdb":
            duckdb = pytest.importorskip("duckdb")
            return duckdb.connect().read_parquet(str(path))
        if engine == "ibis":
            ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
            return ibis.duckdb.connect().read_parquet(path)
        return request.getfixturevalue("spark").read.parquet(path.as_uri())

    return make


@pytest.fixture(params=["home", "from a file", "grouped"])
def place(request, monkeypatch):
    """Where the rows are: collected, in a file that was written for them, or grouped by the library."""
    if request.param == "from a file":
        monkeypatch.setattr(encoding, "FEW_CELLS", 0)
    if request.param == "grouped":
        monkeypatch.setattr(outside, "BUDGET", 0)
    return request.param


def close(found, expected):
    """Whether plain data is the same, numbers with a fraction up to the last digits."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    return found == expected


def differences(found, expected):
    """Fields that are not the same, up to the last digits."""

    def is_same(one, other):
        if isinstance(one, np.ndarray) and one.dtype.kind == "f":
            return np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
        return same(one, other)

    names = [field.name for field in fields(expected) if field.name != "settings"]
    return [name for name in names if not is_same(getattr(found, name), getattr(expected, name))]


OPTIONS = [
    {},
    {"groups": "unit"},
    {"weights": "unit", "ignore": ["x", "day"]},
    {"duplicates": "once", "features": ["f0", "f1", "f2", "word"]},
    {"missing": "drop", "given": ["f0", "flag"]},
    {"given": "all", "features": ["f0", "f1", "f2", "f3", "word"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_relevance_is_that_of_memory(table, lazily, engine, place, options):
    found, expected = relevance(lazily(engine), "y", **options), relevance(table, "y", **options)
    # values of text have no order where rows have none, so that other two of them may be compared
    assert set(differences(found, expected)) <= ({"direction"} if place == "grouped" else set())
    assert found.settings.engine == engine
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)


OF_NUMBERS = [
    {"y": "x"},
    {"y": "x", "groups": "unit"},
    {"y": "x", "weights": "unit", "ignore": ["many", "day"]},
    {"y": "x", "scale": "log", "missing": "drop", "given": ["f0", "flag"]},
    {"y": "x", "scale": "ranks", "duplicates": "once", "features": ["f0", "f1", "f3", "word"]},
    {"y": "x", "classes": 3, "features": ["f0", "f1", "f3", "word"]},
    {"y": "gaps", "features": ["f0", "f3"]},
    {"y": "day", "features": ["f0", "f3"]},
    {"y": "rating", "scale": "number", "features": ["f0", "f3", "word"]},
    {"y": "rating", "ordered": [2, -1, 0, 1], "features": ["f0", "f1", "f3", "word"]},
]


CASES = [
    *(("polars", options, is_binned) for options in OF_NUMBERS for is_binned in (False, True)),
    *(("duckdb", options, True) for options in OF_NUMBERS),
    *(("pyspark", {**options, "features": ["f0", "f3", "word"]}, True) for options in OF_NUMBERS[:2]),
]


@pytest.mark.parametrize(("engine", "options", "is_binned"), CASES, ids=str)
def test_labels_that_are_numbers_have_the_answers_of_memory(
    table, lazily, place, engine, options, is_binned, monkeypatch
):
    if is_binned and "missing" not in options:  # memory makes bins of a label before rows are left out
        monkeypatch.setattr(labels, "FEW_ROWS", 0)
    found, expected = relevance(lazily(engine), **options), relevance(table, **options)
    assert set(differences(found, expected)) <= ({"direction"} if place == "grouped" else set())
    for one, other in ((found.settings.scale, expected.settings.scale), (found.settings.unit, expected.settings.unit)):
        assert one == other
    for counts in ("pairs", "changed", "compared"):
        assert np.array_equal(getattr(found, counts), getattr(expected, counts))


def test_numbers_with_very_many_values_have_the_codes_of_a_sample(table, lazily, monkeypatch):
    monkeypatch.setattr(outside, "BUDGET", 0)
    monkeypatch.setattr(encoding, "MOST_GROUPS", 1000)
    options = {"features": ["f0", "f3", "word"], "scale": "number"}
    found, expected = relevance(lazily("polars"), "x", **options), relevance(table, "x", **options)
    assert set(differences(found, expected)) <= {"direction", "notes"}  # so few rows are all in the sample
    assert [note.columns for note in found.notes if note.kind == "edges-of-sample"] == [("x",)]
    monkeypatch.setattr(encoding, "MOST_GROUPS", 50)
    with pytest.raises(InputError, match="The column 'many' has more than 50 distinct values; bin or merge them"):
        relevance(lazily("polars"), "many", features=["f0"])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_pandas_has_the_counts_of_polars(table, options):
    found, expected = relevance(table.to_pandas(), "y", **options), relevance(table, "y", **options)
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)
    assert found.p_value == pytest.approx(expected.p_value, nan_ok=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_question_has_the_answer_of_memory(table, lazily, engine, place):
    asked = ["f0", "f1", "f2", "word", "gaps", "day"]
    there, here = (Study(one, "y", features=asked) for one in (lazily(engine), table))
    assert select(there).features == select(here).features
    assert redundancies(there).to_dict() == redundancies(here).to_dict()
    assert close(interactions(there).to_dict()["pairs"], interactions(here).to_dict()["pairs"])
    assert close(audit(there, "f0").to_dict()["differences"], audit(here, "f0").to_dict()["differences"])
    assert transitions(there, "word").to_dict() == transitions(here, "word").to_dict()
    found, expected = (evidence(one, "f0", limit=50) for one in (there, here))
    assert found.n_pairs == expected.n_pairs
    if place != "grouped" and engine in ("polars", "duckdb"):
        assert found.pairs == expected.pairs
