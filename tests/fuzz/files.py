"""Files of every format that is read, whole and damaged, the same for the same seed.

Imports nothing from analogical.
"""

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from fuzz.tables import Rng, Table, contain, random_table

HUGE = 200_000
"""Characters of a cell that is longer than csv's own limit."""
SEPARATORS = [",", "\t", ";", "|"]


@dataclass(frozen=True)
class DamagedFile:
    """A file, and what was done to it."""

    name: str
    content: bytes
    story: tuple[str, ...]


def damaged_file(*seed: int) -> DamagedFile:
    """A file from a seed: a random table in some format, most often damaged in one to four ways."""
    rng = np.random.default_rng(seed)
    table = random_table(*seed, 1)
    kind = str(rng.choice(list(FORMATS)))
    story = [kind]
    inner, wrap = FORMATS[kind]
    content = inner(table, rng)
    n_mutations = int(rng.choice([0, 1, 1, 1, 2, 3, 4]))
    n_inside = int(rng.integers(n_mutations + 1)) if wrap is not None else 0
    is_text = kind in TEXTS
    content = _mutate(content, rng, n_inside, story, is_text=True)
    content = wrap(content) if wrap is not None else content
    content = _mutate(content, rng, n_mutations - n_inside, story, is_text=is_text)
    ending = str(rng.choice(ENDINGS)) if rng.random() < 0.1 else ENDING_OF[kind]
    return DamagedFile(f"table{ending}", content, tuple(story))


def _mutate(content: bytes, rng: Rng, times: int, story: list[str], *, is_text: bool) -> bytes:
    for _ in range(times):
        names = list(ANY) + (list(TEXT_ONLY) if is_text else [])
        name = str(rng.choice(names))
        story.append(name)
        content = {**ANY, **TEXT_ONLY}[name](content, rng)
    return content


# ---------------------------------------------------------------- formats


def _cells(table: Table, rng: Rng) -> list[list[str]]:
    gap = str(rng.choice(["", "?", "NA", " ", "nan"]))
    columns = [*(column.cells for column in table.columns), table.labels]
    rows = [[gap if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return [[*table.names, "label"], *rows]


def _as_text(separator: str | None = None) -> Callable[[Table, Rng], bytes]:
    def make(table: Table, rng: Rng) -> bytes:
        stream = io.StringIO(newline="")
        ends = str(rng.choice(["\n", "\r\n", "\r"], p=[0.7, 0.2, 0.1]))
        quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL][int(rng.random() < 0.2)]
        between = separator or str(rng.choice(SEPARATORS))
        csv.writer(stream, delimiter=between, lineterminator=ends, quoting=quoting).writerows(_cells(table, rng))
        return stream.getvalue().encode("utf-8", "replace")

    return make


def _frame(table: Table) -> Any:
    """A polars frame with the label last, without the columns that only Python can hold."""
    import polars as pl

    places = [p for p, column in enumerate(table.columns) if column.family != "mixed"]
    frame = contain(table.select(places), "polars") if places else pl.DataFrame({"f": [0] * table.n_rows})
    label = pl.Series([None if label is None else str(label) for label in table.labels], dtype=pl.String)
    return frame.with_columns(label.alias("label"))


def _as_parquet(table: Table, rng: Rng) -> bytes:
    stream = io.BytesIO()
    if rng.random() < 0.5:
        import pyarrow.parquet as pq

        arrow = contain(table.select([p for p, c in enumerate(table.columns) if c.family != "mixed"]), "pyarrow")
        try:
            pq.write_table(arrow, stream, compression=str(rng.choice(["none", "snappy", "zstd"])))
            return stream.getvalue()
        except Exception:  # not every Arrow type can be written
            stream = io.BytesIO()
    _frame(table).write_parquet(stream, compression=str(rng.choice(["uncompressed", "snappy", "zstd", "lz4"])))
    return stream.getvalue()


def _as_arrow(table: Table, rng: Rng) -> bytes:
    stream = io.BytesIO()
    _frame(table).write_ipc(stream, compression=str(rng.choice(["uncompressed", "lz4", "zstd"])))
    return stream.getvalue()


def _as_sheet_xml(table: Table, rng: Rng) -> bytes:
    """The cells of a workbook's only sheet."""
    rows = []
    for row in _cells(table, rng):
        cells = "".join(f'<c t="inlineStr"><is><t>{escape(_printable(cell))}</t></is></c>' for cell in row)
        rows.append(f"<row>{cells}</row>")
    sheet = f'<worksheet xmlns="{_SHEETS}"><sheetData>{"".join(rows)}</sheetData></worksheet>'
    return sheet.encode("utf-8", "replace")


def _printable(text: str) -> str:
    return "".join(c for c in text if c.isprintable())


_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _zip_workbook(sheet: bytes) -> bytes:
    """The smallest workbook that holds a sheet."""
    book = (
        f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
    )
    relation = (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}/{{}}" Target="{{}}"/></Relationships>'
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relation.format("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relation.format("worksheet", "worksheets/sheet1.xml"))
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return stream.getvalue()


def _zstd(content: bytes) -> bytes:
    import zstandard

    return zstandard.compress(content)


FORMATS: dict[str, tuple[Callable[[Table, Rng], bytes], Callable[[bytes], bytes] | None]] = {
    "csv": (_as_text(","), None),
    "text": (_as_text(), None),
    "tsv": (_as_text("\t"), None),
    "gzip": (_as_text(), gzip.compress),
    "bzip2": (_as_text(), bz2.compress),
    "xz": (_as_text(), lzma.compress),
    "zstd": (_as_text(), _zstd),
    "parquet": (_as_parquet, None),
    "arrow": (_as_arrow, None),
    "workbook": (_as_sheet_xml, _zip_workbook),
}
"""How a table is written, and what the text is then packed in."""
TEXTS = ("csv", "text", "tsv")
ENDING_OF = {
    "csv": ".csv",
    "text": ".txt",
    "tsv": ".tsv",
    "gzip": ".csv.gz",
    "bzip2": ".csv.bz2",
    "xz": ".csv.xz",
    "zstd": ".csv.zst",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "workbook": ".xlsx",
}
ENDINGS = sorted({*ENDING_OF.values(), ".ods", ".xls", ".feather", ".data", "", ".parquet.gz"})


# ---------------------------------------------------------------- damage


def _place(content: bytes, rng: Rng) -> int:
    return int(rng.integers(len(content) + 1))


def _span(content: bytes, rng: Rng) -> tuple[int, int]:
    start = _place(content, rng)
    return start, min(len(content), start + int(rng.integers(1, 40)))


def _insert(content: bytes, rng: Rng, what: bytes) -> bytes:
    place = _place(content, rng)
    return content[:place] + what + content[place:]


def _flip_bit(content: bytes, rng: Rng) -> bytes:
    if not content:
        return content
    damaged = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _cut_out(content: bytes, rng: Rng) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _repeat(content: bytes, rng: Rng) -> bytes:
    start, stop = _span(content, rng)
    return content[:stop] + content[start:stop] * int(rng.integers(1, 50)) + content[stop:]


def _swap(content: bytes, rng: Rng) -> bytes:
    first, middle, last = sorted(_place(content, rng) for _ in range(3))
    return content[:first] + content[middle:last] + content[first:middle] + content[last:]


def _overwrite(filler: bytes) -> Callable[[bytes, Rng], bytes]:
    def overwrite(content: bytes, rng: Rng) -> bytes:
        place = _place(content, rng)
        return content[:place] + filler + content[place + len(filler) :]

    return overwrite


def _swap_separators(content: bytes, rng: Rng) -> bytes:
    one, other = rng.permutation([s.encode() for s in SEPARATORS])[:2]
    if rng.random() < 0.5:
        return content.replace(bytes(one), bytes(other))
    place = _place(content, rng)
    return content[:place] + content[place:].replace(bytes(one), bytes(other), 1)


def _inserting(*texts: bytes) -> Callable[[bytes, Rng], bytes]:
    return lambda content, rng: _insert(content, rng, texts[rng.integers(len(texts))])


def _encoded(content: bytes, rng: Rng) -> bytes:
    return content.decode("utf-8", "replace").encode(
        str(rng.choice(["utf-16", "utf-16-le", "latin-1", "utf-32"])), "replace"
    )


def _drop_line(content: bytes, rng: Rng) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(line for k, line in enumerate(lines) if k != int(rng.integers(len(lines) or 1)))


ANY: dict[str, Callable[[bytes, Rng], bytes]] = {
    "bits flipped": _flip_bit,
    "truncated": lambda content, rng: content[: _place(content, rng)],
    "cut out": _cut_out,
    "bytes inserted": lambda content, rng: _insert(content, rng, rng.bytes(int(rng.integers(1, 20)))),
    "chunk repeated": _repeat,
    "chunks swapped": _swap,
    "zeros": _overwrite(bytes(8)),
    "largest numbers": _overwrite(b"\xff\xff\xff\x7f"),
    "all ones": _overwrite(b"\xff" * 4),
    "appended": lambda content, rng: content + rng.bytes(int(rng.integers(1, 100))),
}
TEXT_ONLY: dict[str, Callable[[bytes, Rng], bytes]] = {
    "separators swapped": _swap_separators,
    "stray quote": _inserting(b'"', b"'", b'"x', b'""'),
    "stray NUL": _inserting(b"\0"),
    "stray CR": _inserting(b"\r", b"\r\r\n"),
    "blank lines": _inserting(b"\n\n", b"\n  \n", b"\r\n\r\n"),
    "control characters": _inserting(b"\x1b[31m", b"\x1a", b"\xc2\x9b", b"\xe2\x80\xae"),
    "not UTF-8": _inserting(b"\xff", b"\xc3", b"\xed\xa0\x80"),
    "huge cell": _inserting(b"x" * HUGE),
    "huge number": _inserting(b"9" * 400, b"1e999", b"-0.0"),
    "byte order mark": lambda content, rng: [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"][rng.integers(3)] + content,
    "another encoding": _encoded,
    "line dropped": _drop_line,
    "more separators": _inserting(b",,,,", b"\t\t", b";"),
}
