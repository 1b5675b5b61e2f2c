"""Files that Spark reads give what the same files give on one machine."""

import json

import polars as pl
import pytest
from analogical.io.formats import TextFormat
from spark_sessions import all_need_spark

from analogical import InputError
from analogical._types import Note
from analogical.io.files import open_file
from analogical.spark.files import read_spark_file

pytestmark = all_need_spark()

KINDS = {"bigint": pl.Int64, "double": pl.Float64, "string": pl.String, "date": pl.Date, "timestamp_ntz": pl.Datetime}

COLUMNS = {
    "whole": ("1", "2", "-3"),
    "number": ("1.5", "2e3", ".5"),
    "word": ("a", "b", " a "),
    "gap": ("?", "NA", "7"),
    "code": ("007", "008", "9"),
    "long": ("12345678901234567890", "12345678901234567891", "1"),
    "day": ("2020-01-01", "2020-02-28", "2020-02-29"),
    "no day": ("2020-01-01", "2020-02-30", "2020-01-03"),
    "time": ("2020-01-01 10:00", "2020-01-02T11:00", "2020-01-03 12:00"),
    "day or word": ("2020-01-01", "x", "2020-01-02"),
    "infinite": ("inf", "1", "2"),
    "suffix": ("1d", "2", "3"),
    "nothing": ("?", "", "NA"),
    "y": ("p", "q", "p"),
}
TEXTS = {
    "commas": "\n".join(map(",".join, [COLUMNS, *zip(*COLUMNS.values(), strict=True)])) + "\n",
    "decimal commas": "a;b;y\n1,5;1;p\n2,25;2;q\n3;3;q\n",
    "tabs and quotes": 'a\tb\ty\n"x ""q"""\t1\tp\nz\t2\tq\n',
    "numbers as people write them": 'a,b,c,y\n"$1,234.50",12 %,(5),p\n-$7,7.5%,6,q\n"\u20ac1,000,000",\u22121 %,.5,q\n',
    "thousands": "a;b;y\n1.234,5;1 000 \u20ac;p\n2;7;q\n",
    "dates as people write them": "a,b,c,d,e,f,y\n"
    "31/12/2024,12/31/2024 1:05 PM,1-Dec-2024,2024-05-01T13:00:00.5Z,20240501,1.2.2024,p\n"
    "1/2/2024,1/2/2024 12:07 AM,31-jan-1999,2024-05-02 9:00,20230101,30.2.2024,q\n",
    "words": "a,b,y\n" + "".join(f"{k},{k % 3},p\n" for k in range(40)) + "unknown,unknown,q\nNone,1,q\n",
    "many words": "a,b,y\n" + "".join(f"{k},{k % 3},p\n" for k in range(40)) + "none,it's,q\n" * 20,
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_has_the_same_columns_types_and_cells(session, tmp_path, case):
    file = tmp_path / "t.csv"
    file.write_text(TEXTS[case])
    found = read_spark_file(session, str(file), TextFormat())
    expected = open_file(str(file), engine="memory")
    assert found.frame.columns == expected.frame.columns
    kinds = [KINDS[kind] for _, kind in found.frame.dtypes]
    assert kinds == [dtype.base_type() for dtype in expected.frame.dtypes]
    cells = pl.DataFrame(found.frame.toArrow().to_pylist(), schema=expected.frame.schema)
    assert cells.rows() == expected.frame.rows()
    assert set(found.notes) == set(expected.notes)


def test_a_folder_of_texts_and_one_of_parquet(session, tmp_path):
    texts, tables = tmp_path / "texts", tmp_path / "tables"
    texts.mkdir(), tables.mkdir()
    for k in range(3):
        frame = pl.DataFrame({"a": [k, 1], "y": ["p", "q"]})
        frame.write_csv(texts / f"{k}.csv")
        frame.write_parquet(tables / f"{k}.parquet")
    for folder in (texts, tables):
        found = read_spark_file(session, str(folder), TextFormat()).frame
        assert sorted(found.toArrow().column("a").to_pylist()) == [0, 1, 1, 1, 1, 2]


def test_options_for_text(session, tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("1 none p\n2 3 q\n")
    given = TextFormat(separator=" ", names=("a", "b", "y"), na=("none",))
    found = read_spark_file(session, str(file), given)
    assert found.frame.dtypes == [("a", "bigint"), ("b", "bigint"), ("y", "string")]
    assert found.notes == (Note("read-as-missing", counts=(1,), words=("none",)),)
    without = read_spark_file(session, str(file), TextFormat(separator=" ", header=False))
    assert without.frame.columns == ["x0", "x1", "x2"]
    with pytest.raises(InputError, match=r"--names has 2 names and .* has 3 columns"):
        read_spark_file(session, str(file), TextFormat(separator=" ", names=("a", "b")))


def test_what_cannot_be_read(session, tmp_path):
    with pytest.raises(InputError, match="Spark finds nothing at"):
        read_spark_file(session, str(tmp_path / "no.parquet"), TextFormat())
    with pytest.raises(InputError, match="Spark finds nothing at"):
        read_spark_file(session, str(tmp_path / "no.csv"), TextFormat())
    file = tmp_path / "t.parquet"
    file.write_text("a,y\n1,2\n")
    with pytest.raises(InputError, match="Spark cannot read"):
        read_spark_file(session, str(file), TextFormat())
    file = tmp_path / "one.csv"
    file.write_text("a\n1\n")
    with pytest.raises(InputError, match="has one column only, 'a'"):
        read_spark_file(session, str(file), TextFormat())


def test_rows_of_another_length_line_breaks_and_other_headers_get_a_sentence(session, tmp_path):
    file = tmp_path / "t.csv"
    for text in ("a,b,y\n1,2,p\n1,q\n", 'a,b,y\n1,"2\n3",p\n1,2,q\n'):
        file.write_text(text)
        with pytest.raises(
            InputError, match=r"t\.csv' has rows with a different number of cells .* or cells with line breaks"
        ):
            read_spark_file(session, str(file), TextFormat())
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "1.csv").write_text("a,b,y\n1,2,p\n")
    (folder / "2.csv").write_text("b,a,y\n1,2,p\n")
    with pytest.raises(InputError, match="have different headers"):
        read_spark_file(session, str(folder), TextFormat())


def test_the_command_line_scores_what_spark_reads(run, session, tmp_path):
    frame = pl.DataFrame({"id": range(40), "a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "c": [0, 1, 1, 0] * 10})
    frame.write_parquet(tmp_path / "t.parquet")
    arguments = ("score", str(tmp_path / "t.parquet"), "--label", "c", "--ignore", "id", "--json")
    code, on_spark, errors = run(*arguments, "--engine", "spark", "--master", "local[2]")
    assert code == 0, errors
    code, in_memory, _ = run(*arguments)
    found, expected = json.loads(on_spark), json.loads(in_memory)
    for one, other in zip(found["features"], expected["features"], strict=True):
        assert all(one[name] == other[name] for name in ("name", "status", "given", "pairs", "changed", "compared"))
        assert one["effect"] == pytest.approx(other["effect"])
    assert found["settings"]["engine"] == "spark"
    assert found["settings"]["plan"]["kind"] == "grouped"
