"""Files read at once and in tiny pieces, eager and lazy: the same table, the same notes, or the same refusal."""

import re

import polars as pl
import pytest

from analogical import InputError
from analogical.io import files, text
from analogical.io.files import FileTable, Source, TextFormat


def outcome(read):
    """A frame and notes, or the sentence of a refusal."""
    try:
        frame, notes = read()
    except InputError as error:
        return str(error)
    return (frame.collect() if isinstance(frame, pl.LazyFrame) else frame), notes


def same(found, expected, content=b""):
    """The same frame and the same notes; only pieces that have spaces before quotes drop these unnoticed."""
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    notes = [
        {note for note in one[1] if note.kind != "spaces-stripped" or not re.search(rb'[ \t]"', content)}
        for one in (found, expected)
    ]
    assert notes[0] == notes[1]
    assert found[0].schema == expected[0].schema
    assert found[0].rows() == expected[0].rows()


def open_large(read):
    """What is read if every text is too large to be read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", 7)
        patch.setattr(text, "PIECE_BYTES", 20)
        return read()


def read_bytes(content, what="'t.csv'", given=None, **options):
    """The table in these bytes, in memory."""
    return text.read_text(Source("t.csv", what, content), given or TextFormat(), **options)


def parse_both_ways(content, what, given):
    """What is read from these bytes, after it was compared with the same in pieces, as a lazy frame."""
    expected = outcome(lambda: read_bytes(content, what, given))
    is_split_by_returns = b"\n" in content and b"\r" in content.replace(b"\r\n", b"")  # some readers end a row there
    if not is_split_by_returns:
        same(outcome(lambda: open_large(lambda: read_bytes(content, what, given, lazy=True))), expected, content)
    return given_or_raised(expected)


def read_both_ways(file, **options):
    """What open_file gives in memory, after it was compared with the lazy table."""
    if file == "-":
        return files.open_file(file, **options)
    expected = outcome(lambda: files.open_file(file, lazy=False, **options))
    same(outcome(lambda: files.open_file(file, lazy=True, **options)), expected)
    return FileTable(*given_or_raised(expected))


def given_or_raised(found):
    if isinstance(found, str):
        raise InputError(found)
    return found
