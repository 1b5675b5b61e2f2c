"""Rows of codes as a few whole numbers each: what Spark shuffles, hashes and compares.

Spark keeps every cell in eight bytes, so twenty one-byte codes would cost 160 bytes a row. Packed by bits they take one
or two words. The features of a block share words of their own: the words outside a block are then the key that brings
rows together. Columns that only contexts need, numbers in other bins and the unit, have words that no block counts. No
word is ever missing, so no key holds a null.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Ints
from analogical.engines.cells import UNSEEN, Encoder, UnitEncoder
from analogical.engines.relation import LABEL, WEIGHT

__all__ = ["LABEL", "WEIGHT", "Layout", "PackBatches", "Word"]

WORD_BITS = 63
"""Bits of a word: a whole number of 64 bits that is never negative."""


@dataclass(frozen=True)
class Word:
    """Some columns in one whole number."""

    name: str
    block: int
    """The block that its columns belong to; the number of blocks for columns of none."""
    columns: tuple[int, ...]
    shifts: tuple[int, ...]
    """At which bit the code of each column begins."""


@dataclass(frozen=True)
class Layout:
    """Which bits of which word hold a column, block by block."""

    n_values: tuple[int, ...]
    """Of every column: the features, and those after them."""
    blocks: tuple[tuple[int, ...], ...]
    """Every feature is in one block."""

    @cached_property
    def n_features(self) -> int:
        """Columns that blocks hold."""
        return sum(map(len, self.blocks))

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Bits of the codes of each column; none for a constant one."""
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
        """Columns of the words."""
        return [word.name for word in self.words]

    def outside(self, block: int) -> list[str]:
        """Columns of the words outside a block: rows that agree on them may be pairs for the features of the block."""
        return [word.name for word in self.words if word.block < len(self.blocks) and word.block != block]

    def holding(self, columns: Collection[int]) -> list[str]:
        """Columns of the words that hold some columns."""
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
        """The codes of some columns, from the words that hold them."""
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
        """For each column its word, and the bit at which it begins."""
        return {
            column: (word.name, shift)
            for word in self.words
            for column, shift in zip(word.columns, word.shifts, strict=True)
        }


@dataclass(frozen=True)
class PackBatches:
    """Makes words of the cells of a table, on the executors."""

    layout: Layout
    encoders: tuple[Encoder, ...]
    """One for each column of the layout."""
    label: Encoder
    is_weighted: bool

    @property
    def names(self) -> list[str]:
        """Columns of what it makes."""
        return [*self.layout.names, LABEL, *([WEIGHT] if self.is_weighted else [])]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches of words: the codes of the columns packed, and beside them those of the label, and the weights."""
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
        """One encoder for each way to find places: a number and its bins share theirs."""
        return {id(encoder.places): encoder for encoder in self.encoders}

    @cached_property
    def _tables(self) -> dict[str, dict[int, Ints]]:
        """For each word, and each way to find places, what a place adds to the word; -1 where there is no code."""
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
            raise ValueError(UNSEEN)
        return cells
