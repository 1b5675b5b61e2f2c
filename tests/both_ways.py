"""Files read as a whole and in batches: the same table, the same notes, or the same refusal."""

from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from analogical import InputError
from analogical.io import batches, files, text_batches
from analogical.io.batches import BatchTable
from analogical.io.text import find_shape, parse_text
from analogical.io.text_batches import WholeInstead, open_text

CUTS = [
    {"BLOCK": 7},
    {"BLOCK": 64, "BEGINNING": 1, "RECORDS": 2, "FEW": 1},
    {"BLOCK": 20, "BEGINNING": 30, "LONGEST": 50, "FEW": 3},
]
"""Sizes of blocks, and how many different cells are few: small, so that small files are cut often."""


@contextmanager
def cut(BLOCK, BEGINNING=2**18, RECORDS=2**17, LONGEST=2**26, FEW=2**16):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK", BLOCK)
        patch.setattr(text_batches, "BEGINNING", BEGINNING)
        patch.setattr(text_batches, "RECORDS", RECORDS)
        patch.setattr(text_batches, "LONGEST", LONGEST)
        patch.setattr(batches, "FEW", FEW)
        patch.setattr(batches, "PART", 50)
        yield


def outcome(read):
    """A frame and notes, or the sentence of a refusal."""
    try:
        frame, notes = read()
    except InputError as error:
        return str(error)
    return (frame.collect() if isinstance(frame, BatchTable) else frame), notes


def same(found, expected):
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    assert found[1] == expected[1]
    assert found[0].schema == expected[0].schema
    assert found[0].equals(expected[0])


def parse_both_ways(content, what, given):
    """What parse_text gives, after it was compared with reading in batches of several sizes."""
    expected = outcome(lambda: parse_text(content, what, given))
    for sizes in CUTS:
        asked, compared = given, expected
        if "BEGINNING" in sizes and given.separator is None and not isinstance(expected, str):
            # a short beginning may not tell the separator
            text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").lstrip("\n\r ") + "\n"
            asked = replace(given, separator=find_shape(text, what, given, []).separator)
            compared = expected[0], tuple(note for note in expected[1] if note.kind != "separator")
        with cut(**sizes), suppress(WholeInstead):
            blocks = partial(in_blocks, content, sizes["BLOCK"])
            same(outcome(partial(open_text, blocks, what, asked, len(content))), compared)
    return given_or_raised(expected)


def in_blocks(content, size):
    return (content[start : start + size] for start in range(0, len(content), size))


def read_both_ways(file, **options):
    """What read_file gives, after it was compared with opening the file to be read in batches."""
    if file == "-":
        return files.read_file(file, **options)
    expected = outcome(lambda: vars(files.read_file(file, **options)).values())
    size = Path(file).stat().st_size if not isinstance(expected, str) else 0
    with pytest.MonkeyPatch.context() as patch, cut(BLOCK=max(20, size // 5), FEW=1_000):
        patch.setattr(files, "MANY_BYTES", 0)
        patch.setattr(files, "MANY_CELLS", 0)
        patch.setattr(files, "BATCH", max(1, size // 1_000))
        same(outcome(lambda: vars(files.open_file(file, **options)).values()), expected)
    return files.FileTable(*given_or_raised(expected))


def given_or_raised(found):
    if isinstance(found, str):
        raise InputError(found)
    return found
