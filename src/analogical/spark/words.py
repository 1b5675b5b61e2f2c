"""Codes of a row packed into a few whole numbers, the words, which Spark shuffles, hashes and compares.

Spark keeps every cell in eight bytes, so twenty one-byte codes would need 160 bytes a row. Packed by bits they take one
or two words. The features of a block have words of their own, so that the words outside a block are the key by which
rows are brought together. Further bins and the unit, which only contexts need, have words after those. Words are never
null.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Ints
from analogical.engines.cells import Encoder, UnitEncoder, table_changed
from analogical.engines.relation import LABEL, WEIGHT

__all__ = ["LABEL", "WEIGHT", "Layout", "PackBatches", "Word"]

WORD_BITS = 63
"""Bits of a word, a signed number of 64 bits that is never negative."""


@dataclass(frozen=True)
class Word:
    """Some columns packed into one whole number."""

    name: str
    block: int
    """The block of its columns; the number of blocks for columns in none."""
    columns: tuple[int, ...]
    shifts: tuple[int, ...]
    """The first bit of each column."""


@dataclass(frozen=True)
class Layout:
    """The word and the bits of every column."""

    n_values: tuple[int, ...]
    """Number of codes of every column: the features, and those after them."""
    blocks: tuple[tuple[int, ...], ...]
    """Every feature is in one block."""

    @cached_property
    def n_features(self) -> int:
        """Number of features."""
        return sum(map(len, self.blocks))

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Bits of each column; 0 for a constant one."""
        return tuple((n - 1).bit_length() for n in self.n_values)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words, block by block; every block has at least one."""
        others = tuple(range(self.n_features, len(self.n_values)))
        words: list[Word] = []
        for block, columns in enumerate([*self.blocks, *([others] if others else [])]):
            rest = list(columns)
            while True:
                taken, shifts, used = [], [], 0
                while rest and used + self.bits[rest[0]] <= WORD_BITS:
                    shifts.append(used)
                    used += self.bits[rest[0]]
                    taken.append(rest.pop(0))
                words.append(Word(f"w{len(words)}", block, tuple(taken), tuple(shifts)))
                if not rest:
                    break
        return tuple(words)

    @property
    def names(self) -> list[str]:
        """Names of the words."""
        return [word.name for word in self.words]

    def outside(self, block: int) -> list[str]:
        """Names of the words of the other blocks: rows that agree on them may be pairs for the features of this one."""
        return [word.name for word in self.words if word.block < len(self.blocks) and word.block != block]

    def holding(self, columns: Collection[int]) -> list[str]:
        """Names of the words that hold some of these columns."""
        return [word.name for word in self.words if not set(columns).isdisjoint(word.columns)]

    def features_only(self) -> "Layout":
        """The layout without the columns after the features."""
        return Layout(self.n_values[: self.n_features], self.blocks)

    def pack(self, columns: Sequence[NDArray[Any]]) -> list[Ints]:
        """The words of columns of codes."""
        packed = []
        for word in self.words:
            cells = np.zeros(len(columns[0]), np.int64)
            for column, shift in zip(word.columns, word.shifts, strict=True):
                cells |= columns[column].astype(np.int64) << shift
            packed.append(cells)
        return packed

    def unpack(self, cells: Mapping[str, NDArray[Any]], columns: Sequence[int]) -> Codes:
        """The codes of some columns."""
        widest = np.min_scalar_type(max([self.n_values[column] for column in columns], default=1) - 1)
        codes = np.empty((len(next(iter(cells.values()), ())), len(columns)), widest, order="F")
        for place, column in enumerate(columns):
            codes[:, place] = self.codes(cells, column)
        return codes

    def codes(self, cells: Mapping[str, NDArray[Any]], column: int) -> Ints:
        """The codes of one column."""
        word, shift = self._where[column]
        found: Ints = (cells[word] >> shift) & ((1 << self.bits[column]) - 1)
        return found

    @cached_property
    def _where(self) -> dict[int, tuple[str, int]]:
        """The word and the first bit of each column."""
        return {
            column: (word.name, shift)
            for word in self.words
            for column, shift in zip(word.columns, word.shifts, strict=True)
        }


@dataclass(frozen=True)
class PackBatches:
    """Packs the cells of a table into words, on the executors."""

    layout: Layout
    encoders: tuple[Encoder, ...]
    """One for each column of the layout."""
    label: Encoder
    is_weighted: bool

    @property
    def names(self) -> list[str]:
        """Columns of the result."""
        return [*self.layout.names, LABEL, *([WEIGHT] if self.is_weighted else [])]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches of words, codes of the label and weights."""
        import pyarrow as pa

        for batch in batches:
            places = {
                key: encoder.places.place(batch.column(encoder.source)) for key, encoder in self._by_places.items()
            }
            cells = [pa.array(self._pack(word, places, batch)) for word in self.layout.words]
            cells.append(pa.array(self.label.encode(batch)))
            if self.is_weighted:
                cells.append(batch.column(WEIGHT))
            yield pa.RecordBatch.from_arrays(cells, names=self.names)

    @cached_property
    def _by_places(self) -> dict[int, Encoder]:
        """One encoder for each kind of places: a number and its bins share theirs."""
        return {id(encoder.places): encoder for encoder in self.encoders}

    @cached_property
    def _tables(self) -> dict[str, dict[int, Ints]]:
        """For each word, and each kind of places, the bits that a place sets; -1 where there is no code."""
        tables: dict[str, dict[int, Ints]] = {}
        for word in self.layout.words:
            own = tables[word.name] = {}
            for column, shift in zip(word.columns, word.shifts, strict=True):
                encoder = self.encoders[column]
                if not isinstance(encoder, UnitEncoder):
                    added = np.where(encoder.codes < 0, -1, encoder.codes << shift)
                    own[id(encoder.places)] = own.get(id(encoder.places), np.zeros(1, np.int64)) | added
        return tables

    def _pack(self, word: Word, places: Mapping[int, Ints], batch: Any) -> Ints:
        """One word of the rows of a batch."""
        cells = np.zeros(batch.num_rows, np.int64)
        for key, table in self._tables[word.name].items():
            cells |= table[places[key]]
        for column, shift in zip(word.columns, word.shifts, strict=True):
            encoder = self.encoders[column]
            if isinstance(encoder, UnitEncoder):
                cells |= encoder.codes_at(places[id(encoder.places)], batch) << shift
        if cells.min(initial=0) < 0:
            raise table_changed()
        return cells
