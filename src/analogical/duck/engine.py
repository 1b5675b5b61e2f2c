"""A table of codes in DuckDB, grouped and counted there."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, EngineName, Ints, Margins, code_type
from analogical.count.counts import refuse_too_many_rows
from analogical.count.groups import evenly
from analogical.count.pairs import ContextSums, join_blocks, sum_contexts
from analogical.duck.session import Session
from analogical.engines.blocks import deal_features, entropy

__all__ = ["DuckEngine"]

PART_CELLS = 200_000_000
"""Cells of a part of the table that is counted in this process, at about 4 bytes each; a third of it for tables with
more than 800 MB of codes, so that 20,000,000 rows with 30 features stay below 2 GB."""
EVEN_BITS = 5
"""Entropy of the dividing columns beyond that of the parts, in bits, so that parts are about equally large."""
MERGED = 0.5
"""Identical rows are merged first if that leaves at most about this share of the rows."""
SQL_TYPES = {"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}
KEY_BITS = 63
"""Bits of a number that packs several codes."""


@dataclass(frozen=True)
class DuckEngine:
    """A labelled table of codes in DuckDB (see ``count.engine.Engine``): ``c0``, ``c1``, ..., ``label``, ``weight``.

    Rows are in the order of the user's table, so that evenly spaced rows are the same as in memory: ``place`` is the
    position of a row in this table, ``position`` that in the user's table.
    """

    name: ClassVar[EngineName] = "duckdb"
    session: Session
    table: str
    margins: Margins
    n_values: tuple[int, ...]
    """Number of codes of all columns: the features, their bins, and the unit."""
    is_weighted: bool = False
    unit: int | None = None

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Blocks of features; each is counted on rows divided by the values of the others."""
        return deal_features(self.margins, min(1 if self.n_parts == 1 else 2, self.margins.n_features))

    @cached_property
    def n_stored(self) -> int:
        """Rows of the table, without weights."""
        return int(self.session.one(f"SELECT count(*) FROM {self.table}", "counting the rows"))  # noqa: S608 (names of our own, here and below)

    @property
    def n_parts(self) -> int:
        """Parts of the table that are counted one after the other."""
        is_large = self.n_stored * len(self.n_values) > 4 * PART_CELLS
        return max(1, -(-self.n_stored * self.margins.n_features // (PART_CELLS // (3 if is_large else 1))))

    def n_values_of(self, column: int) -> int:
        """Number of codes of a column."""
        return self.n_values[column]

    def group(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of columns the rows by their values and label, with their number; None beyond the limit."""
        groups, left = [], limit
        for columns in sets:
            keys = self._keys(columns)
            words = keys.words(columns)
            names = ", ".join(f"k{k}" for k in range(len(words)))
            listed = ", ".join(f"{word} AS k{k}" for k, word in enumerate(words))
            query = f"SELECT {listed}, {self._n} AS n FROM {self.table} GROUP BY {names} HAVING n > 0 LIMIT {left + 1}"  # noqa: S608
            table = self.session.arrow(query, "grouping the rows")
            left -= table.num_rows
            if left < 0:
                return None
            groups.append(keys.read(table))
        return groups

    def sum_contexts(self, most_cells: int) -> ContextSums:
        """The paper's counts, and the contexts of every feature given all others, up to so many cells of each.

        For each block of features the table is divided by columns outside of it, and counted part by part.
        """
        refuse_too_many_rows(self.margins.n_rows)
        with self._merged() as engine:
            sums = []
            for block in self.blocks:
                parts = [sum_contexts(rows, most_cells, features=block, n_jobs=-1) for rows in engine._divided(block)]
                whole = parts[0]
                for part in parts[1:]:
                    whole += part
                sums.append(whole)
        return join_blocks(sums, self.blocks)

    def sample(self, n_rows: int) -> CodedRows:
        """``n_rows`` rows with all columns, evenly spaced as in memory; all rows if there are no more."""
        if self.n_stored <= n_rows:
            return self._read(range(len(self.n_values)), "ORDER BY place")
        import pyarrow as pa

        places = pa.table({"place": evenly(self.n_stored, n_rows)})
        which = "WHERE place IN (SELECT place FROM places) ORDER BY place"
        return self._read(range(len(self.n_values)), which, places=places)

    def first_rows(self, columns: Sequence[int], rows: CodedRows) -> Ints:
        """For each combination of values of these columns and label the position of its first row."""
        import pyarrow as pa

        keys = self._keys(columns)
        wanted = {f"k{k}": word for k, word in enumerate(keys.pack(rows))}
        table = pa.table(
            {name: pa.array(word) for name, word in wanted.items()} | {"place": np.arange(len(rows.codes))}
        )
        words = ", ".join(f"{word} AS k{k}" for k, word in enumerate(keys.words(columns)))
        found = self.session.arrow(
            f"SELECT min(position) AS first FROM (SELECT {words}, position FROM {self.table})"  # noqa: S608
            f" JOIN wanted USING ({', '.join(wanted)}) GROUP BY place ORDER BY place",
            "looking for rows",
            wanted=table,
        )
        return np.asarray(found.column("first").to_numpy())

    def distinct(self) -> "DuckEngine":
        """Each (row, label) once, in the order in which they come first; features only."""
        names = ", ".join([*(f"c{c}" for c in range(self.margins.n_features)), "label"])
        self.session.run(
            f"CREATE TABLE {self.table}_distinct AS SELECT {names}, min(position) AS position FROM {self.table}"  # noqa: S608
            f" GROUP BY {names} ORDER BY position;"
            f"CREATE VIEW {self.table}_once AS SELECT *, rowid AS place FROM {self.table}_distinct",
            "looking for identical rows",
        )
        n_values = self.n_values[: self.margins.n_features]
        once = DuckEngine(self.session, f"{self.table}_once", self.margins, n_values)
        by_feature = once.group([[i] for i in range(self.margins.n_features)], once.n_stored * len(n_values)) or []
        margins = Margins(by_feature[0].label_sizes(), tuple(rows.value_sizes(0) for rows in by_feature))
        return replace(once, margins=margins)

    def _keys(self, columns: Sequence[int]) -> "_Keys":
        """Codes of some columns and the label as whole numbers."""
        return _Keys.of([*(self.n_values[c] for c in columns), self.margins.n_labels])

    @property
    def _n(self) -> str:
        """The weight of a group, in SQL."""
        return "sum(weight)::BIGINT" if self.is_weighted else "count(*)"

    @contextmanager
    def _merged(self) -> Iterator["DuckEngine"]:
        """The table with identical rows merged, if that leaves few of them; otherwise the table itself."""
        names = ", ".join([*(f"c{c}" for c in range(self.margins.n_features)), "label"])
        about = self.session.one(
            f"SELECT approx_count_distinct(hash({names})) FROM {self.table}",  # noqa: S608
            "looking at the rows",
        )
        if about > MERGED * self.n_stored:
            yield self
            return
        query = f"CREATE TABLE {self.table}_merged AS SELECT {names}, {self._n} AS weight FROM {self.table} GROUP BY {names}"  # noqa: S608, E501
        self.session.run(query, "merging identical rows")
        try:
            yield replace(self, table=f"{self.table}_merged", is_weighted=True)
        finally:
            self.session.run(f"DROP TABLE {self.table}_merged", "merging identical rows")

    def _divided(self, block: Sequence[int]) -> Iterator[CodedRows]:
        """The features of all rows, in parts: rows that agree on all columns outside the block are in the same part."""
        features, n_parts = range(self.margins.n_features), self.n_parts
        keys = self._dividing([i for i in features if i not in block], n_parts)
        for part in range(n_parts if keys else 1):
            where = f"WHERE hash({keys}) % {n_parts} = {part}" if keys and n_parts > 1 else ""
            yield self._read(features, where)

    def _dividing(self, outside: Sequence[int], n_parts: int) -> str:
        """As few of these columns as divide the table about evenly, by decreasing entropy."""
        bits = {i: entropy(self.margins.value_sizes(i)) for i in outside}
        chosen: list[int] = []
        for i in sorted(outside, key=lambda i: (-bits[i], i)):
            if sum(bits[c] for c in chosen) > np.log2(n_parts) + EVEN_BITS:
                break
            chosen.append(i)
        return ", ".join(f"c{c}" for c in chosen)

    def _read(self, columns: Sequence[int], which: str = "", **tables: Any) -> CodedRows:
        """Some rows, in this process."""
        names = [*(f"c{c}" for c in columns), "label", *(["weight"] if self.is_weighted else [])]
        query = f"SELECT {', '.join(names)} FROM {self.table} {which}"  # noqa: S608
        table = self.session.arrow(query, "reading the rows", **tables)
        n_values = [self.n_values[c] for c in columns]
        codes = np.empty((table.num_rows, len(columns)), code_type(max(n_values, default=1)), order="F")
        for k in range(len(columns)):
            codes[:, k] = table.column(0).to_numpy()
            table = table.remove_column(0)  # frees the memory of the column
        labels = table.column("label").to_numpy()
        weights = table.column("weight").to_numpy() if self.is_weighted else None
        return CodedRows(codes, labels, np.array(n_values, np.int64), self.margins.n_labels, weights)


@dataclass(frozen=True)
class _Keys:
    """Several codes packed into one number, or into a few if they do not fit; the last code is the label."""

    n_values: tuple[int, ...]
    runs: tuple[tuple[int, ...], ...]
    """The codes that each number packs, by place."""

    @classmethod
    def of(cls, n_values: Sequence[int]) -> "_Keys":
        runs: list[list[int]] = [[]]
        n_keys = 1
        for place, n in enumerate(n_values):
            if n_keys * n >= 2**KEY_BITS:
                runs.append([])
                n_keys = 1
            runs[-1].append(place)
            n_keys *= n
        return cls(tuple(n_values), tuple(map(tuple, runs)))

    def kind(self, run: Sequence[int]) -> np.dtype[Any]:
        """The smallest type of a number: small ones are grouped faster."""
        return code_type(math.prod(self.n_values[place] for place in run))

    def words(self, columns: Sequence[int]) -> list[str]:
        """The numbers in SQL."""
        names, written = [*(f"c{c}" for c in columns), "label"], []
        for run in self.runs:
            kind, terms, times = SQL_TYPES[self.kind(run).name], [], 1
            for place in run:
                terms.append(f"{names[place]}::{kind} * {times}::{kind}")
                times *= self.n_values[place]
            written.append(" + ".join(terms))
        return written

    def pack(self, rows: CodedRows) -> list[NDArray[Any]]:
        """The numbers of rows in this process."""
        codes, words = [*rows.codes.T, rows.labels], []
        for run in self.runs:
            kind, times = self.kind(run), 1
            word = np.zeros(len(rows.codes), kind)
            for place in run:
                word += codes[place].astype(kind) * kind.type(times)
                times *= self.n_values[place]
            words.append(word)
        return words

    def read(self, table: Any) -> CodedRows:
        """The rows of a table with these numbers and their weights, sorted by the numbers."""
        words = [table.column(f"k{k}").to_numpy() for k in range(len(self.runs))]
        order = np.lexsort(words)
        kind = code_type(max(self.n_values))
        codes = np.empty((len(order), len(self.n_values)), kind, order="F")
        for word, run in zip(words, self.runs, strict=True):
            rest = word[order]
            for place in run:
                n = np.uint64(self.n_values[place])  # may exceed the type of the number by one
                rest, codes[:, place] = np.divmod(rest.astype(np.uint64), n)
        labels = codes[:, -1].astype(code_type(self.n_values[-1]))
        n_values = np.array(self.n_values[:-1], dtype=np.int64)
        return CodedRows(codes[:, :-1], labels, n_values, self.n_values[-1], table.column("n").to_numpy()[order])
