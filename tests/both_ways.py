"""Files read as a whole and held by DuckDB: the same table, the same notes, or the same refusal."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from analogical import InputError
from analogical.duck.relation import DuckRelation
from analogical.io import files
from analogical.io.formats import FileTable
from analogical.io.text import parse_text


def collected(relation):
    """A table that DuckDB holds as a dataframe."""
    cells = relation.relation.to_arrow_table()
    columns = cells.columns[: len(relation.columns)]  # the position of a row may be one more
    return pl.DataFrame(
        [pl.from_arrow(column).alias(name) for name, column in zip(relation.columns, columns, strict=True)]
    )


def outcome(read):
    """A frame and notes, or the sentence of a refusal."""
    try:
        frame, notes = read()
    except InputError as error:
        return str(error)
    notes = tuple(note for note in notes if note.kind != "held-by-duckdb")
    return (collected(frame) if isinstance(frame, DuckRelation) else frame), notes


def same(found, expected, content=b""):
    """The same frame and the same notes; memory may not know of spaces in a text that has some before quotes."""
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    notes = [
        {note for note in one[1] if note.kind != "spaces-stripped" or not re.search(rb'[ \t]"', content)}
        for one in (found, expected)
    ]
    assert notes[0] == notes[1]
    assert found[0].columns == expected[0].columns
    assert found[0].rows() == expected[0].rows()


def open_large(file, **options):
    """What open_file gives if every file is large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "MANY_BYTES", 0)
        patch.setattr(files, "MANY_CELLS", 0)
        return files.open_file(str(file), **options)


def parse_both_ways(content, what, given):
    """What parse_text gives, after it was compared with what DuckDB holds."""
    expected = outcome(lambda: parse_text(content, what, given))
    if not isinstance(expected, str):
        with TemporaryDirectory() as folder:
            path = Path(folder, "table.csv")
            path.write_bytes(content)
            same(outcome(lambda: open_large(path, **vars(given))), expected, content)
    return given_or_raised(expected)


def read_both_ways(file, **options):
    """What open_file gives in memory, after it was compared with what DuckDB holds."""
    if file == "-":
        return files.open_file(file, engine="memory", **options)
    expected = outcome(lambda: files.open_file(file, engine="memory", **options))
    same(outcome(lambda: open_large(file, **options)), expected)
    return FileTable(*given_or_raised(expected))


def given_or_raised(found):
    if isinstance(found, str):
        raise InputError(found)
    return found
