"""Files read as a whole and as a lazy frame: the same table, the same notes, or the same refusal."""

import polars as pl

from analogical import InputError
from analogical.io import files
from analogical.io.formats import FileTable
from analogical.io.text import parse_text


def collected(frame):
    """A lazy frame as a dataframe."""
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame


def outcome(read):
    """A frame and notes, or the sentence of a refusal."""
    try:
        frame, notes = read()
    except InputError as error:
        return str(error)
    return collected(frame), notes


def parse_both_ways(content, what, given):
    """What parse_text gives."""
    return parse_text(content, what, given)


def read_both_ways(file, **options):
    """What open_file gives in memory, after it was compared with the lazy frame."""
    if file == "-":
        return files.open_file(file, lazy=False, **options)
    expected = outcome(lambda: files.open_file(file, lazy=False, **options))
    found = outcome(lambda: files.open_file(file, lazy=True, **options))
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        raise InputError(expected)
    assert found[1] == expected[1]
    assert found[0].columns == expected[0].columns
    assert found[0].rows() == expected[0].rows()
    return FileTable(*expected)
