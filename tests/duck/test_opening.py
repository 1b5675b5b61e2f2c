"""Tables in DuckDB and files that it holds: the results of memory, and nothing is left behind."""

import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from both_ways import open_large

from analogical import InputError, Study, audit, evidence, interactions, redundancies, relevance, select
from analogical._types import same
from analogical.duck import codes, opening
from analogical.duck import engine as duck_engine
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.study import EngineStudy
from analogical.io.files import open_file

M = 3000


@pytest.fixture(params=["here", "in DuckDB"])
def place(request, monkeypatch):
    """Where the codes of the rows are held: tables of more cells than this stay in DuckDB."""
    if request.param == "in DuckDB":
        monkeypatch.setattr(opening, "HERE_CELLS", 0)
        monkeypatch.setattr(duck_engine, "PART_CELLS", 3 * M)
    return request.param


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (M, 5))
    label = ((rows[:, 0] == rows[:, 1]) | (rows[:, 2] == 2)) ^ (rng.random(M) < 0.1)
    return pl.DataFrame({f"f{i}": rows[:, i] for i in range(5)}).with_columns(
        word=pl.Series(rng.choice(["red", "Red", "it's", None], M).tolist()),
        many=pl.Series([f"word {k}" for k in rng.integers(0, 90, M)]),
        x=pl.Series(rng.normal(size=M)),
        gaps=pl.Series([None if k % 9 == 0 else float(k % 40) for k in range(M)]),
        rating=pl.Series([None if k % 11 == 0 else k % 4 - 1 for k in range(M)]),
        day=pl.Series([date(2020, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 900, M)]),
        flag=pl.Series(rng.random(M) < 0.4),
        unit=pl.Series(rng.integers(0, 300, M)),
        y=pl.Series(np.where(label, "yes", "no")),
    )


def differences(found, expected):
    """Fields that are not the same, up to the last digits."""

    def close(one, other):
        if isinstance(one, np.ndarray) and one.dtype.kind == "f":
            return np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
        return same(one, other)

    names = [field.name for field in fields(expected) if field.name != "settings"]
    return [name for name in names if not close(getattr(found, name), getattr(expected, name))]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": "unit"},
        {"weights": "unit", "ignore": ["x", "day"]},
        {"duplicates": "once", "features": ["f0", "f1", "f2", "word"]},
        {"missing": "drop", "given": ["f0", "flag"]},
        {"given": "all", "features": ["f0", "f1", "f2", "f3", "word"]},
    ],
    ids=str,
)
def test_relevance_is_that_of_memory(frame, options, place):
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    found, expected = relevance(relation, "y", **options), relevance(frame, "y", **options)
    assert differences(found, expected) == []
    assert found.settings.engine == "duckdb"


@pytest.mark.parametrize("most", [1000, 4])
def test_words_and_numbers_get_their_codes_in_every_way(frame, most, place, tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "MOST_TEXTS", most)
    monkeypatch.setattr(codes, "MOST_COMPARED", most)
    frame.write_parquet(tmp_path / "t.parquet")
    table = open_file(str(tmp_path / "t.parquet"), engine="duckdb").frame
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    expected = relevance(frame, "y")
    assert differences(relevance(table, "y"), expected) == []
    assert differences(relevance(relation, "y"), expected) == []


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow"])
def test_every_verb_takes_a_file_that_duckdb_holds(frame, kind, place, tmp_path):
    path = tmp_path / f"t.{kind}"
    {"parquet": frame.write_parquet, "csv": frame.write_csv, "arrow": frame.write_ipc}[kind](path)
    table = open_large(path).frame
    assert isinstance(table, DuckRelation)
    asked = ["f0", "f1", "f2", "word", "gaps", "day"]
    study, here = (Study(one, "y", features=asked) for one in (table, open_file(str(path), engine="memory").frame))
    assert isinstance(study, EngineStudy) == (place == "in DuckDB")
    assert differences(relevance(study), relevance(here)) == []
    assert select(study).features == select(here).features
    told = [evidence(one, "f0", limit=50).pairs for one in (study, here)]
    ours, theirs = (interactions(one).to_dict()["pairs"] for one in (study, here))
    assert redundancies(study).to_dict() == redundancies(here).to_dict()
    if place == "here":
        assert audit(study, "f0").to_dict()["differences"] == audit(here, "f0").to_dict()["differences"]
        assert audit(study, "f0").examples.pairs == audit(here, "f0").examples.pairs
        assert told[0] == told[1]
        assert ours == theirs
        return
    assert set(differences(audit(study, "f0"), audit(here, "f0"))) <= {"backend", "examples"}  # examples come by name
    assert told[0][0].rows == told[1][0].rows  # equal rows come as one
    numbers = ("effect", "p_value", "squares", "broken")
    for our, their in zip(ours, theirs, strict=True):
        assert (our["first"], our["second"]) == (their["first"], their["second"])
        for name in numbers:
            assert our[name] == (their[name] and pytest.approx(their[name], rel=1e-9))


@pytest.mark.parametrize("is_here", [True, False])
def test_rows_are_named_by_their_place_in_the_file_though_some_are_left_out(tmp_path, is_here, monkeypatch):
    monkeypatch.setattr(opening, "HERE_CELLS", 16 if is_here else 15)
    columns = {"a": [0, 0, 1, 1, 0, 1], "b": [0, 0, 0, 0, 1, 1], "y": [None, "n", "p", None, "n", "n"]}
    columns |= {"c": [k % 2 for k in range(6)], "d": [k % 3 for k in range(6)]}  # 4 rows with a label, 16 cells
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    table = open_file(str(tmp_path / "t.parquet"), engine="duckdb").frame
    found, expected = (evidence(one, "y", "a", given=["b"]) for one in (table, pl.DataFrame(columns)))
    assert [pair.rows for pair in found.pairs] == [pair.rows for pair in expected.pairs] == [(1, 2), (4, 5)]


def test_several_questions_can_be_asked_of_one_file(frame, place, tmp_path):
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    table = open_file(str(path), engine="duckdb").frame
    for features in (["f0", "f1", "many"], ["f1", "f2", "many"]):
        options = {"features": features}
        assert differences(relevance(table, "y", **options), relevance(frame, "y", **options)) == []
    gc.collect()
    held = table.session.one("SELECT count(*) FROM duckdb_tables()", "looking at tables")
    assert held == 0, "codes go with their study"
    study = Study(table, "y")
    assert table.session.one("SELECT count(*) FROM duckdb_tables()", "looking") == (place == "in DuckDB")
    del study


def test_a_folder_and_a_pattern_are_read_in_the_order_of_the_names(frame, tmp_path):
    for k in range(3):
        frame[k * 1000 : (k + 1) * 1000].write_parquet(tmp_path / f"part-{k}.parquet")
    for file in (tmp_path, tmp_path / "part-*.parquet"):
        opened = open_file(str(file))
        assert opened.notes[0].kind == "held-by-duckdb"
        assert differences(relevance(opened.frame, "y"), relevance(frame, "y")) == []


def test_what_duckdb_cannot_read_is_refused_by_name_if_it_was_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b,y\n1,\xe9,0\n2,x,1\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"cannot be read by DuckDB .*save it as UTF-8 text with one row per line"):
        open_file(str(path), engine="duckdb")
    assert open_large(path).frame["b"].to_list() == ["é", "x"]


CHANGES = {
    "other values": lambda frame: frame.with_columns(f0=1 - pl.col("f0") % 2),
    "new values": lambda frame: frame.with_columns(
        many=pl.when(pl.col("many") == "word 3").then(pl.lit("new")).otherwise("many")
    ),
    "new numbers": lambda frame: frame.with_columns(f0=pl.col("f0") + 2),
    "other bins": lambda frame: frame.with_columns(x=pl.col("x") + 1),
    "other bins of contexts": lambda frame: frame.with_columns(
        x=pl.when(pl.col("x") > pl.col("x").quantile(0.9)).then(pl.col("x").max()).otherwise("x")
    ),
    "fewer rows": lambda frame: frame[:-1],
    "more rows": lambda frame: pl.concat([frame, frame[:1]]),
    "another label": lambda frame: frame.with_columns(y=pl.lit("yes")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_changes_between_two_reads_is_refused(frame, change, place, tmp_path):
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    relation = open_file(str(path), engine="duckdb").frame

    class Changing(DuckRelation):
        __module__ = DuckRelation.__module__  # by which the engine of a table is found

        def aggregate(self, numbers, doing):
            ends = super().aggregate(numbers, doing)
            if doing == "counting the rows" and "last" in numbers:
                CHANGES[change](frame).write_parquet(path)
            return ends

    changing = Changing(**{f.name: getattr(relation, f.name) for f in fields(relation)})
    with pytest.raises(InputError, match=r"The table changed while it was read"):
        relevance(changing, "y")


def test_the_folder_of_a_session_goes_with_it():
    session = Session()
    folder = Path(session.folder)
    session.run("CREATE TABLE t AS SELECT range FROM range(10)", "writing")
    assert folder.is_dir()
    del session
    gc.collect()
    assert not folder.exists()


def test_a_file_that_is_refused_leaves_no_session(tmp_path, monkeypatch):
    """Without the garbage collector: an error must not refer to itself."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "ragged.csv"
    file.write_text("a,b,y\n1,2,3\n1,2\n3,4,5\n")
    gc.disable()
    try:
        with pytest.raises(InputError, match="cannot be read by DuckDB"):
            open_file(str(file), engine="duckdb")
        assert [path.name for path in tmp_path.iterdir()] == ["ragged.csv"]
    finally:
        gc.enable()


def test_an_error_of_duckdb_is_one_sentence():
    session = Session(memory=2**24)
    with pytest.raises(InputError, match=r"^DuckDB could not finish sorting \(Out of Memory.*TMPDIR"):
        session.run("CREATE TABLE t AS SELECT list(range) FROM range(50_000_000)", "sorting")


SLOW = "SELECT count(*) FROM range(1000000000) a, range(1000) b WHERE hash(a.range) % 7 = 1"
STATEMENTS = {
    "a statement": f"s.run('CREATE TABLE t AS {SLOW}', 'x')",
    "a relation in a file": f"DuckRelation(s.connection.sql('{SLOW}'), s).aggregate({{'n': 'count(*)'}}, 'x')",
    "a relation of the user": f"DuckRelation(duckdb.sql('{SLOW}')).aggregate({{'n': 'count(*)'}}, 'x')",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_ctrl_c_ends_a_statement_at_once_and_removes_the_folder(tmp_path, statement):
    code = (
        "import duckdb\n"
        "from analogical.duck.session import Session\nfrom analogical.duck.relation import DuckRelation\n"
        f"s = Session()\nprint('begun', flush=True)\n{STATEMENTS[statement]}"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout.readline() == b"begun\n"
    time.sleep(0.3)
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert time.perf_counter() - began < 2
    assert b"KeyboardInterrupt" in errors
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_is_told_to_end_removes_the_folder(tmp_path):
    path, folder = tmp_path / "t.csv", tmp_path / "temporary"
    folder.mkdir()
    rng = np.random.default_rng(0)
    pl.DataFrame({f"f{i}": rng.integers(0, 3, 100_000) for i in range(20)}).write_csv(path)
    process = subprocess.Popen(
        [sys.executable, "-c", "from analogical.cli import main; main()", "score", str(path), "--engine", "duckdb"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    while not list(folder.glob("*/*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors) == (128 + signal.SIGTERM, b"", b"")
    assert list(folder.iterdir()) == []
