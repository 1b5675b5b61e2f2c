"""The real tables: where they are, what their label is, and which rows a seed draws from them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analogical.columns.columns import dense_codes
from analogical.columns.encode import ColumnMeaning, EncodedTable, encode_table
from analogical.columns.rules import Rules
from analogical.io.files import open_file

__all__ = ["LEAKS", "MAX_ROWS", "SOURCES", "Source", "Split", "draw_split", "load_table", "missing_tables", "take_rows"]

MAX_ROWS = 5_000
"""Rows of a table that a seed draws at most, for training and test together."""


@dataclass(frozen=True)
class Source:
    """A file of the folder and what to know about it."""

    label: str | None
    """None for the last column."""
    header: bool = True
    ignore: tuple[str, ...] = ()


LEAKS = (
    "is_recid",
    "r_*",
    "violent_recid",
    "is_violent_recid",
    "vr_*",
    "in_custody",
    "out_custody",
    "start",
    "end",
    "event",
)
"""Columns of compas that were only known after the label: the new offence, custody after it, the survival table."""

SOURCES: dict[str, Source] = {
    "adult": Source(None, header=False),
    "anneal": Source("class"),
    "breast-cancer": Source("Class"),
    "car": Source("class"),
    "colic": Source("surgical_lesion"),
    "compas": Source("two_year_recid", ignore=LEAKS),
    "cylinder-bands": Source("band_type"),
    "dermatology": Source("class"),
    "flags": Source("religion"),
    "hepatitis": Source("Class"),
    "ionosphere": Source("class"),
    "lymph": Source("class"),
    "mushroom": Source("class"),
    "nursery": Source("class"),
    "postoperative": Source("decision"),
    "primary-tumor": Source("class"),
    "segment": Source("class"),
    "spambase": Source("class"),
    "spect-train": Source("OVERALL_DIAGNOSIS"),
    "tic-tac-toe": Source("Class"),
    "vehicle": Source("Class"),
    "vote": Source("Class"),
}
"""By name of the file without its ending."""


def missing_tables(folder: Path, names: Sequence[str]) -> list[str]:
    """Names of the tables whose file is not in the folder."""
    return [name for name in names if not (folder / f"{name}.csv").is_file()]


def load_table(name: str, folder: Path) -> EncodedTable:
    """A table as the library encodes it by default: missing cells a value, numbers in 5 bins, ids set aside."""
    source = SOURCES[name]
    frame = open_file(str(folder / f"{name}.csv"), header=source.header, lazy=False).frame
    label = source.label or frame.columns[-1]
    return encode_table(frame, label, Rules(ignore=list(source.ignore) or None))


@dataclass(frozen=True)
class Split:
    """Rows of a table for training and for testing."""

    train: EncodedTable
    """Every code occurs, as in any table that was encoded."""
    codes: NDArray[np.unsignedinteger]
    """All drawn rows."""
    labels: NDArray[np.unsignedinteger]
    is_test: NDArray[np.bool_]

    @property
    def digest(self) -> str:
        """Changes with any code, label or row of the split."""
        content = (np.ascontiguousarray(array).tobytes() for array in (self.codes, self.labels, self.is_test))
        return hashlib.blake2b(b"".join(content), digest_size=8).hexdigest()


def draw_split(table: EncodedTable, seed: int, max_rows: int = MAX_ROWS) -> Split:
    """A third of the rows of each class, as far as that goes, for testing; large tables are drawn from first."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(table.codes))[:max_rows]
    drawn = drawn[np.argsort(table.labels[drawn], kind="stable")]
    is_test = np.arange(len(drawn)) % 3 == rng.integers(3)
    return Split(take_rows(table, drawn[~is_test]), table.codes[drawn], table.labels[drawn], is_test)


def take_rows(table: EncodedTable, rows: NDArray[np.intp]) -> EncodedTable:
    """Some rows as a table of their own: codes and classes that do not occur in them are numbered away."""
    codes, known = dense_codes(table.codes[rows])
    labels, (classes,) = dense_codes(table.labels[rows, None])
    columns = tuple(
        _occurring(column, places, table.codes[rows, i])
        for i, (column, places) in enumerate(zip(table.columns, known, strict=True))
    )
    label = replace(table.label_meaning, values=[table.label_meaning.values[c] for c in classes])
    fine = {i: dense_codes(column[rows, None])[0][:, 0] for i, column in table.fine.items()}
    return replace(
        table, codes=codes, columns=columns, labels=labels[:, 0], label_meaning=label, origin=rows, fine=fine
    )


def _occurring(column: ColumnMeaning, places: Sequence[int], codes: NDArray[np.unsignedinteger]) -> ColumnMeaning:
    """What the codes stand for that occur; missing cells have the last code."""
    n_missing = int((codes == len(column.values) - 1).sum()) if column.n_missing else 0
    return replace(column, values=[column.values[place] for place in places], n_missing=n_missing)
