"""Rows of codes as a few whole numbers each: what Spark shuffles, hashes and compares.

Spark keeps every cell in eight bytes, so twenty one-byte codes would cost 160 bytes a row. Packed by bits they take one
or two words. The features of a block share words of their own: the words outside a block are then the key that brings
rows together. No word is ever missing, so no key holds a null.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Ints
from analogical.engines.cells import Encoder, encode_batch
from analogical.engines.relation import LABEL, WEIGHT

__all__ = ["LABEL", "WEIGHT", "Layout", "Word", "pack_batches"]

WORD_BITS = 63
"""Bits of a word: a whole number of 64 bits that is never negative."""


@dataclass(frozen=True)
class Word:
    """Some features in one whole number."""

    name: str
    block: int
    features: tuple[int, ...]
    shifts: tuple[int, ...]
    """At which bit the code of each feature begins."""


@dataclass(frozen=True)
class Layout:
    """Which bits of which word hold a feature, block by block."""

    n_values: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    """Every feature is in one block."""

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Bits of the codes of each feature; none for a constant one."""
        return tuple((n - 1).bit_length() for n in self.n_values)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words, block by block; every block has at least one."""
        found: list[Word] = []
        for block, features in enumerate(self.blocks):
            rest = list(features)
            while True:
                taken, shifts, used = [], [], 0
                while rest and used + self.bits[rest[0]] <= WORD_BITS:
                    shifts.append(used)
                    used += self.bits[rest[0]]
                    taken.append(rest.pop(0))
                found.append(Word(f"w{len(found)}", block, tuple(taken), tuple(shifts)))
                if not rest:
                    break
        return tuple(found)

    @property
    def names(self) -> list[str]:
        """Columns of the words."""
        return [word.name for word in self.words]

    def outside(self, block: int) -> list[str]:
        """Columns of the words outside a block: rows that agree on them may be pairs for the features of the block."""
        return [word.name for word in self.words if word.block != block]

    def pack(self, columns: Sequence[NDArray[Any]]) -> list[Ints]:
        """The words of columns of codes."""
        packed = []
        for word in self.words:
            cells = np.zeros(len(columns[0]), np.int64)
            for feature, shift in zip(word.features, word.shifts, strict=True):
                cells |= columns[feature].astype(np.int64) << shift
            packed.append(cells)
        return packed

    def unpack(self, cells: Sequence[NDArray[Any]]) -> Codes:
        """The rows of codes of words."""
        widest = np.min_scalar_type(max(self.n_values) - 1)
        codes = np.empty((len(cells[0]), len(self.n_values)), widest, order="F")
        for word, packed in zip(self.words, cells, strict=True):
            for feature, shift in zip(word.features, word.shifts, strict=True):
                codes[:, feature] = (packed >> shift) & ((1 << self.bits[feature]) - 1)
        return codes


def pack_batches(layout: Layout, encoders: Sequence[Encoder], label: Encoder, batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of words: the codes of the columns packed, and beside them those of the label."""
    import pyarrow as pa

    for batch in batches:
        *codes, labels = encode_batch(batch, [*encoders, label])
        cells = [pa.array(column) for column in (*layout.pack(codes), labels)]
        if WEIGHT in batch.schema.names:
            cells.append(batch.column(WEIGHT))
        names = [*layout.names, LABEL, WEIGHT][: len(cells)]
        yield pa.RecordBatch.from_arrays(cells, names=names)
