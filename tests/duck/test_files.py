"""Large text in DuckDB: every line is a row, or the text is not read there."""

import pytest

from analogical import InputError
from analogical.duck import files
from analogical.io.files import open_file


def test_a_line_that_duckdb_would_skip_is_not_lost(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + "1,0\n2,1\n" * 2_000_000 + f"{'x' * 3_000_000},1\n" + "1,1\n" * 10)
    with pytest.raises(InputError, match=r"cannot be read by DuckDB \(not every line was read as a row\)"):
        open_file(str(path), engine="duckdb")


@pytest.mark.parametrize(("ends", "block"), [("\n", 2**24), ("\n", 7), ("\n", 1), ("\r\n", 2**24)])
@pytest.mark.parametrize(
    ("text", "n_all", "n_empty"),
    [
        ("a,b\n1,2\n", 2, 0),
        ("a,b\n1,2", 2, 0),
        ("a,b\n\n1,2\n\n\n3,4\n", 6, 3),
        ("a,b\n1,2\n\n\n  \n\n", 2, 0),
        ("a,b\n\n1,2\n\n \n", 3, 1),
        ("a,b\n,\n\n,\n\n", 4, 1),
    ],
)
def test_lines_are_counted_up_to_the_last_cell(monkeypatch, tmp_path, text, n_all, n_empty, ends, block):
    path = tmp_path / "t.csv"
    path.write_bytes(text.replace("\n", ends).encode())
    monkeypatch.setattr(files, "BLOCK_BYTES", block)
    assert files._count_lines(str(path), ",") == (n_all, n_empty)
