"""Files of every kind, whole or damaged: a table with its notes, or one sentence; never a traceback."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import zipfile
from datetime import date, timedelta

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import zstandard
from both_ways import read_both_ways as read_file

from analogical import InputError, load_table, relevance
from analogical.io import files
from analogical.io.files import open_file
from analogical.show.notes import describe_notes

TEXT = "a,b,y\n1,x,0\n2,z,1\n"
ROWS = [(1, "x", 0), (2, "z", 1)]
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "y"], orient="row")


COMPRESSIONS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


def in_bytes(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


PARQUET = in_bytes(FRAME.write_parquet)
ARROW = in_bytes(FRAME.write_ipc)


@pytest.fixture
def write(tmp_path):
    """Writes a file and gives its name."""

    def to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return to


def refused(file, **options):
    """The sentence with which a file is refused."""
    with pytest.raises(InputError) as error:
        read_file(file, **options)
    message = str(error.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert not message.endswith("..")
    return message


# ---------------------------------------------------------------- compression


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("name", ["t.csv.{}", "t.csv", "t"])
def test_compressed_files_are_known_by_their_first_bytes(write, kind, name):
    assert read_file(write(name.format(kind), COMPRESSIONS[kind](TEXT.encode()))).frame.rows() == ROWS


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_parts_of_a_compressed_file_are_joined(write, kind):
    content = COMPRESSIONS[kind](TEXT.encode()) + COMPRESSIONS[kind](b"3,x,1\n")
    assert read_file(write("t.csv", content)).frame.rows() == [*ROWS, (3, "x", 1)]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_damaged_compressed_files_are_refused(write, kind):
    """A file that was cut off must not be read as a shorter table."""
    content = COMPRESSIONS[kind]("".join([TEXT, *(f"{k},x,{k % 2}\n" for k in range(5000))]).encode())
    for n in (len(content) // 2, len(content) - 3):
        assert "is a damaged " in refused(write(f"t.csv.{kind}", content[:n]))
    assert "is a damaged " in refused(write(f"t.csv.{kind}", content[:30] + b"?????" + content[35:]))
    assert "is empty inside its " in refused(write(f"t.csv.{kind}", COMPRESSIONS[kind](b"")))


def test_an_ending_without_compression_does_not_matter(write):
    assert read_file(write("t.csv.gz", TEXT)).frame.rows() == ROWS


def test_zstd_without_its_package_is_refused(write, monkeypatch):
    file = write("t.csv.zst", zstandard.compress(TEXT.encode()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert "needs the package zstandard: pip install zstandard" in _message(file)


def _message(file):
    with pytest.raises(InputError) as error:
        read_file(file)
    return str(error.value)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_text_that_unpacks_late_is_read_in_pieces(write, kind, monkeypatch):
    """The first 16 kB of a zstd file may unpack to nothing."""
    numbers = np.random.default_rng(0).random((5000, 2)).tolist()
    text = "a,b,y\n" + "".join(f"{a},{b},{k % 2}\n" for k, (a, b) in enumerate(numbers))
    monkeypatch.setattr("analogical.io.text.PIECE_BYTES", 50_000)
    frame = open_file(write(f"t.csv.{kind}", COMPRESSIONS[kind](text.encode())), lazy=True).frame
    assert isinstance(frame, pl.LazyFrame)
    assert frame.collect().select("a", "b").rows() == [tuple(row) for row in numbers]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_files_are_judged_by_their_cells(write, kind, monkeypatch):
    monkeypatch.setattr("analogical.io.text.MANY_CELLS", 600_000)
    monkeypatch.setattr(files, "MANY_CELLS", 600_000)
    packed = COMPRESSIONS[kind](TEXT.encode() + b"1,x,0\n" * 200_000)
    assert len(packed) < 10_000
    frame = open_file(write("t.csv", packed)).frame
    assert isinstance(frame, pl.LazyFrame)
    assert frame.select(pl.len()).collect().item() == 200_002
    assert isinstance(open_file(write("t.csv", TEXT)).frame, pl.DataFrame)
    many = pl.DataFrame({"a": np.arange(400_000), "y": 0})
    for name, content in {"t.parquet": in_bytes(many.write_parquet), "t.arrow": in_bytes(many.write_ipc)}.items():
        assert open_file(write(name, content)).frame.collect().equals(many)
        assert open_file(write(name, content), lazy=False).frame.equals(many)


def test_a_folder_and_a_pattern_are_one_table(tmp_path):
    for k, part in enumerate("ab"):
        FRAME.with_columns(pl.lit(part).alias("part")).write_parquet(tmp_path / f"{k}.parquet")
    for file in (tmp_path, tmp_path / "*.parquet"):
        frame = open_file(str(file)).frame
        assert isinstance(frame, pl.LazyFrame)
        assert frame.collect().rows() == [(*row, part) for part in "ab" for row in ROWS]
    assert open_file(str(tmp_path), lazy=False).frame["part"].to_list() == ["a", "a", "b", "b"]
    with pytest.raises(InputError, match="--separator is for text files"):
        open_file(str(tmp_path), separator=";")
    FRAME.write_parquet(tmp_path / "part=c.parquet")
    folder = tmp_path / "hive" / "part=c"
    folder.mkdir(parents=True)
    FRAME.write_parquet(folder / "0.parquet")
    assert open_file(str(tmp_path / "hive")).frame.collect().rows() == [(*row, "c") for row in ROWS]


def test_a_lazy_text_leaves_nothing_behind(write, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = (
        "from analogical.io.files import open_file\nfrom pathlib import Path\n"
        f"frame = open_file({write('t.csv', TEXT)!r}, lazy=True).frame\n"
        f"print(frame.collect().rows(), len(list(Path({str(folder)!r}).iterdir())))"
    )
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == f"{ROWS} 1\n"
    assert list(folder.iterdir()) == []


def test_what_must_be_read_as_a_whole_is_unpacked_so_far_only(write, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED", 1_000_000)
    packed = gzip.compress(TEXT.encode("utf-16") + b"1\0" * 1_000_000)
    with pytest.raises(InputError, match=r"unpacks to more than 1 MB that cannot be read in parts"):
        open_file(write("t.csv", packed))


# ---------------------------------------------------------------- pipes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize(
    "content", [TEXT.encode(), gzip.compress(TEXT.encode()), PARQUET, b""], ids=["text", "gz", "parquet", "empty"]
)
def test_a_pipe_is_read_once(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    if content:
        assert open_file(str(pipe)).frame.rows() == ROWS
    else:
        with pytest.raises(InputError, match="is empty"):
            open_file(str(pipe))
    writer.join()


# ---------------------------------------------------------------- Parquet, Arrow and workbooks


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", PARQUET),
        ("t.pq", PARQUET),
        ("t.csv", PARQUET),
        ("t.parquet.gz", gzip.compress(PARQUET)),
        ("t.arrow", ARROW),
        ("t.feather", ARROW),
        ("t.ipc", ARROW),
        ("t", ARROW),
    ],
)
def test_binary_tables_keep_their_types(write, name, content):
    table = read_file(write(name, content))
    assert (table.frame.rows(), table.frame.schema, table.notes) == (ROWS, FRAME.schema, ())


def beyond_the_end():
    """An Arrow file with a text that ends far beyond the end of its data."""
    offsets = pa.py_buffer(np.array([0, 2**30, 2, 3], np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abc")])
    table = pa.table({"a": texts, "y": [0, 1, 0]})
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", PARQUET[: len(PARQUET) // 2]),
        ("t.parquet", PARQUET[:60] + bytes(255 - byte for byte in PARQUET[60:-8]) + PARQUET[-8:]),
        ("t.parquet", b"PAR1"),
        ("t.parquet", TEXT.encode()),
        ("t.arrow", ARROW[: len(ARROW) // 2]),
        ("t.arrow", b"ARROW1\0\0"),
        ("t.feather", TEXT.encode()),
        ("t.arrow", ARROW[:40] + bytes(255 - byte for byte in ARROW[40:-12]) + ARROW[-12:]),
        ("t.arrow", beyond_the_end()),
    ],
)
def test_damaged_binary_tables_are_refused(write, capfd, name, content):
    with pytest.raises(InputError) as error:
        relevance(open_file(write(name, content)).frame, "y")
    message = str(error.value)
    assert "\n" not in message
    assert "cannot be read as " in message
    assert "write it again, or give it the right file extension" in message
    assert capfd.readouterr().err == ""


def test_columns_that_hold_several_values_or_none(write, run):
    nested = pl.DataFrame({"a": ["u", "v"] * 4, "l": [[1]] * 8, "n": [None] * 8, "y": [0, 0, 1, 1] * 2})
    file = write("t.parquet", in_bytes(nested.write_parquet))
    code, _, err = run("score", file)
    assert (code, err.count("\n") >= 1) == (2, True)
    assert "The feature 'l' has the type List(Int64)" in " ".join(err.split())
    code, out, _ = run("score", file, "--ignore", "l", "--json")
    assert code == 0
    assert [feature["n_missing"] for feature in json.loads(out)["features"]] == [0, 8]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_binary_file_without_columns_or_rows(write, run, name):
    kind = "write_parquet" if "parquet" in name else "write_ipc"
    assert "has no columns; give a table" in refused(write(name, in_bytes(getattr(pl.DataFrame(), kind))))
    no_rows = pl.DataFrame({"a": [], "y": []}, schema={"a": pl.Int64, "y": pl.Int64})
    code, _, err = run("score", write(name, in_bytes(getattr(no_rows, kind))))
    assert code == 2
    assert "empty (0 rows)" in err


def test_dictionaries_of_parquet_are_categories(write):
    frame = FRAME.cast({"b": pl.Categorical})
    assert read_file(write("t.parquet", in_bytes(frame.write_parquet))).frame["b"].to_list() == ["x", "z"]


SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def cell_in_xml(cell):
    return f"<c><v>{cell}</v></c>" if isinstance(cell, int) else f'<c t="inlineStr"><is><t>{cell}</t></is></c>'


@pytest.fixture
def workbook():
    return workbook_of([["a", "b", "y"], *ROWS])


def workbook_of(table):
    """The least that is a workbook of one sheet."""
    rows = "".join(f"<row>{''.join(map(cell_in_xml, row))}</row>" for row in table)
    link = f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r" Type="{OFFICE}/%s" Target="%s"/>'
    link += "</Relationships>"
    kinds = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'spreadsheetml.{kind}+xml"/>'
        for name, kind in (("workbook", "sheet.main"), ("sheet", "worksheet"))
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}'
        "</Types>",
        "_rels/.rels": link % ("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": link % ("worksheet", "sheet.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{OFFICE}">'
        '<sheets><sheet name="one" sheetId="1" r:id="r"/></sheets></workbook>',
        "xl/sheet.xml": f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData></worksheet>',
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as book:
        for name, text in files.items():
            book.writestr(name, text)
    return content.getvalue()


def test_workbooks(write, workbook):
    for name in ("t.xlsx", "t.csv"):
        table = read_file(write(name, workbook))
        assert table.frame.rows() == ROWS
        assert describe_notes(table.notes) == ("read the first sheet of the workbook",)
    for content in (workbook[:200], TEXT.encode()):
        assert "cannot be read as workbook" in refused(write("t.xlsx", content))


def test_text_in_workbooks_is_read_as_in_text_files(write):
    table = read_file(
        write("t.xlsx", workbook_of([["a", "b", "y"], ["$1,200", "31.12.2024", "x"], ["?", "1.1.2024", "z"]]))
    )
    assert table.frame.rows() == [(1200.0, date(2024, 12, 31), "x"), (None, date(2024, 1, 1), "z")]
    assert [note.kind for note in table.notes] == ["first-sheet", "read-as-missing", "read-as-numbers", "read-as-dates"]


def test_workbooks_without_a_reader_are_refused_with_advice(write, workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    assert "is a workbook; save the sheet as CSV, or install a reader" in _message(write("t.xlsx", workbook))


# ---------------------------------------------------------------- what is no file


def test_what_cannot_be_opened(tmp_path, write):
    how = "give one file, or a folder of Parquet files."
    assert refused(str(tmp_path)) == f"{str(tmp_path)!r} is a directory without Parquet files; {how}"
    assert "There is no file" in refused(str(tmp_path / "none.csv"))
    assert "File name too long" in refused("x" * 300)
    assert len(refused("x" * 5000)) < 200
    assert "cannot be read: embedded null" in refused("a\0b.csv")
    assert "Not a directory" in refused(write("t.csv", TEXT) + "/x")
    assert "is empty; give a file with a header and rows" in refused(write("empty.csv", b""))
    assert "is empty" in refused(os.devnull)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write):
    file = write("t.csv", TEXT)
    os.chmod(file, 0)  # noqa: PTH101
    assert "Permission denied" in refused(file)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read_file("-").frame.rows() == ROWS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "Standard input is empty" in refused("-")
    closed = io.TextIOWrapper(io.BytesIO(b""))
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert "Standard input cannot be read" in refused("-")
    monkeypatch.setattr(sys, "stdin", None)
    assert "Standard input is empty" in refused("-")


# ---------------------------------------------------------------- the command line

WIDE = 'p,"a, b",2,two words,y\n' + "".join(f"{k % 2},{k // 2 % 2},{k // 4 % 2},{k // 8},{k % 2}\n" for k in range(16))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--ignore", "2"], {"p", "a, b", "two words"}),
        (["--ignore", "two words"], {"p", "a, b", "2"}),
        (["--ignore", "a, b"], {"p", "2", "two words"}),
        (["--ignore", '"a, b",2'], {"p", "two words"}),
        (["--ignore", "*w*"], {"p", "a, b", "2"}),
        (["--features", "p, 2"], {"p", "2"}),
        (["--features", "p*"], {"p"}),
    ],
)
def test_names_with_commas_spaces_and_digits(write, run, options, names):
    code, out, _ = run("score", write("t.csv", WIDE), *options, "--json")
    assert code == 0
    assert {feature["name"] for feature in json.loads(out)["features"]} == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ignore", "3"], "has no column '3' to take as ignore; it has 'p', 'a, b', '2'"),
        (["--ignore", "z*"], "ignore has 'z*', which no column matches"),
        (["--ignore", "y"], "ignore names 'y', which is the label; leave it out of ignore"),
        (["--label", "x"], "has no column 'x' to take as label"),
        (["--features", "p", "--ignore", "2"], "features and ignore cannot be used together"),
        (["--separator", ""], "--separator must be one ASCII character"),
        (["--names", "p,q"], "--names has 2 names"),
        (["--bins", "1"], "bins must be a whole number from 2"),
        (["--bins", "p=a,b"], "edges of the feature 'p' must have the type of its values"),
        (["--bins", "z=3"], "no column 'z' to take as bins"),
        (["--classes", "1"], "classes must be a whole number from 2"),
        (["--max-values", "0"], "max_values must be a whole number from 1"),
    ],
)
def test_bad_options_are_one_sentence_and_code_2(write, run, options, message):
    code, out, err = run("score", write("t.csv", WIDE), *options)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_every_guess_is_said_on_stderr_and_in_json(write, run):
    lines = [f" {k};;u{k % 3};{'?' if k == 7 else k / 4};{'no' if k % 5 else 'yes'}" for k in range(60)]
    file = write("t.csv", "\n".join(["id;;b;f;y", "", *lines]).encode("utf-16"))
    code, out, err = run("score", file, "--json")
    assert code == 0
    shown = " ".join(err.split())
    for words in ("UTF-16", "1 blank line", "separator: semicolon", "without a name: x1", "read as missing: '?' (1)"):
        assert words in json.dumps(json.loads(out)["source"])
        assert words in shown
    kinds = {note["kind"] for note in json.loads(out)["notes"]}
    assert {"set-aside", "missing-value", "binned"} <= kinds


def test_bins_of_the_command_line(write, run):
    text = "f,g,d,y\n" + "".join(f"{k / 4},{k / 8},2020-01-{k % 28 + 1:02},{k % 3 % 2}\n" for k in range(60))
    options = ["--bins", "3", "--bins", "f=2,5.5", "--bins", "d=2020-01-10,2020-01-20"]
    code, out, _ = run("score", write("t.csv", text), *options, "--json")
    assert code == 0
    edges = {feature["name"]: feature["edges"] for feature in json.loads(out)["features"]}
    assert edges == {"f": [2.0, 5.5], "g": [2.5, 5.0], "d": ["2020-01-10", "2020-01-20"], "d.weekday": []}
    code, out, _ = run("score", write("t.csv", text), "--bins", "none", "--json")
    assert [feature["n_values"] for feature in json.loads(out)["features"]] == [60, 60, 28]


def test_parts_of_dates_on_the_command_line(write, run):
    days = [date(2020, 1, 1) + timedelta(days=k) for k in range(100)]
    text = "sold,x,y\n" + "".join(f"{day:%d/%m/%Y},{k % 3},{day.weekday() > 4}\n" for k, day in enumerate(days * 4))
    names = {
        (): ["sold", "x", "sold.weekday"],
        ("--no-date-parts",): ["sold", "x"],
        ("--features", "sold.weekday,x"): ["x", "sold.weekday"],
        ("--ignore", "sold"): ["x"],
        ("--ignore", "sold.weekday,x"): ["sold"],
        ("--given", "sold.weekday"): ["sold", "x", "sold.weekday"],
    }
    for options, expected in names.items():
        code, out, _ = run("score", write("t.csv", text), *options, "--json")
        assert code == 0
        assert sorted(feature["name"] for feature in json.loads(out)["features"]) == sorted(expected)
    code, out, _ = run("score", write("t.csv", text), "--explain")
    assert "sold.weekday" in out.splitlines()[3]
    assert "arts of dates as features: sold.weekday" in " ".join(out.split())


def test_files_without_a_header_on_the_command_line(write, run):
    text = WIDE.split("\n", 1)[1]
    for options, names in (
        (["--no-header"], ["x0", "x1", "x2", "x3"]),
        (["--names", 'p,"q, r",s,t,label'], ["p", "q, r", "s", "t"]),
    ):
        code, out, _ = run("score", write("t.csv", text), *options, "--json")
        assert code == 0
        assert [feature["name"] for feature in json.loads(out)["features"]] == names


# ---------------------------------------------------------------- the tables of the paper and of others

COUNTS = {
    "breast-cancer": ([8, 28, 5, 127, 7, 2, 27, 25, 46], [0, 0, 0, 0, 0, 2, 0, 0, 0]),
    "hiv": ([118, 156, 185, 146, 140, 131, 64, 33], [0, 0, 31, 21, 19, 24, 6, 0]),
    "primary-tumor": (
        [22, 9, 2, 0, 12, 1, 0, 1, 6, 2, 4, 0, 4, 1, 2, 0, 1],
        [4, 1, 2, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
    ),
}
"""Pairs and changed pairs, as counted before numbers, missing cells and ids were looked at."""
BUILT_IN = {
    "monks-1": [432, 432, 216, 432, 648, 216],
    "berkeley": [4192032, 654456],
    "titanic": [944789, 138516, 31367],
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_papers_tables_have_the_counts_that_they_had(data_folder, name):
    frame = read_file(str(data_folder / f"{name}.csv"), header=False).frame
    result = relevance(frame, frame.columns[-1], given="all")
    assert (result.pairs.tolist(), result.changed.tolist()) == COUNTS[name]
    assert not any(tuple(c.edges for c in result.feature_columns))


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_tables_have_the_counts_that_they_had(name):
    table = load_table(name)
    result = relevance(table.to_frame("polars"), table.label, weights="count", given="all")
    assert result.pairs.tolist() == BUILT_IN[name]


REAL = {
    "adult": {"missing-value": {"x1", "x6", "x13"}, "binned": {"x0", "x2", "x10", "x11", "x12"}},
    "anneal": {"missing-value": {"family"}, "binned": {"thick", "width", "len"}},
    "breast-cancer": {"missing-value": {"node-caps", "breast-quad"}},
    "car": {},
    "colic": {"missing-value": {"surgery"}, "binned": {"pulse"}},
    "compas": {"set-aside": {"id"}, "leak": {"is_recid"}, "binned": {"age"}, "binned-time": {"compas_screening_date"}},
    "cylinder-bands": {"missing-value": {"grain_screened"}, "binned-time": {"timestamp"}},
    "dermatology": {"missing-value": {"Age"}, "binned": {"Age"}},
    "flags": {"set-aside": {"name"}, "binned": {"area"}},
    "hepatitis": {"missing-value": {"STEROID"}, "binned": {"AGE"}},
    "ionosphere": {"binned": {"a03"}},
    "lymph": {},
    "mushroom": {"missing-value": {"stalk-root"}, "leak": {"odor"}},
    "nursery": {},
    "postoperative": {"missing-value": {"COMFORT"}},
    "primary-tumor": {"missing-value": {"sex"}},
    "segment": {"binned": {"hue-mean"}},
    "spambase": {"binned": {"word_freq_make"}},
    "spect-train": {},
    "tic-tac-toe": {},
    "vehicle": {"binned": {"COMPACTNESS"}},
    "vote": {"missing-value": {"handicapped-infants"}},
}
"""What must be said of each table; nothing else than these kinds of notes may be said of tables of categories."""
LABELS = {"compas": "two_year_recid", "flags": "religion", "spect-train": "OVERALL_DIAGNOSIS"}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_read_at_the_first_command(data_folder, name):
    file = data_folder / "real" / f"{name}.csv"
    if not file.exists():
        pytest.skip("the folder with the paper's data has no folder of real tables")
    table = read_file(str(file), header=name != "adult")
    label = LABELS.get(name, table.frame.columns[-1])
    result = relevance(table.frame, label, given="all")
    said = {note.kind: set(note.columns) for note in result.notes}
    assert {kind: columns <= said.get(kind, set()) for kind, columns in REAL[name].items()} == dict.fromkeys(
        REAL[name], True
    )
    if not REAL[name]:
        assert said == {}
    assert result.n_rows == len(table.frame)
    if "leak" in said:
        assert result.ranking()[0] not in said["leak"]
    if name == "compas":
        assert any(note.kind == "numbered-names" for note in table.notes)
    if "missing-value" in REAL[name]:
        assert any(note.kind == "read-as-missing" and note.words[0] == "?" for note in table.notes)


def test_options_of_text_files_are_refused_for_other_files(run, tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [0, 0, 1, 1], "y": [0, 1, 1, 0]}).write_parquet(path)
    for words, option in (
        (["--na", "x"], "--na"),
        (["--separator", ";"], "--separator"),
        (["--no-header"], "--no-header"),
    ):
        for source in (path, "titanic"):
            code, out, err = run("score", source, *words)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert f"{option} is for text files" in err


def test_a_missing_last_cell_of_a_tab_file_is_missing_and_an_extra_one_is_refused(run):
    rows = b"a\tb\ty\n1\t2\t0\n1\t3\t1\n2\t2\t1\n2\t3\t"
    code, _, err = run("score", "-", "--csv", stdin=rows + b"\n")
    assert (code, "without a label" in err) == (0, True)
    code, _, err = run("score", "-", stdin=rows + b"0\t\n")
    assert (code, "ragged rows: line 5 has 4 cells" in err) == (2, True)


def test_names_say_that_the_first_line_is_data(run):
    code, _, err = run("score", "-", "--names", "p,q,r", "--csv", stdin=b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    assert (code, "the first line is data, because --names was given" in err) == (0, True)
