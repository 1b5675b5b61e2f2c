"""What counting returns: pairs of each feature, and its contexts: rows of each context by value and label.

Index, noise, intervals and tests of a feature depend on these counts alone. On large tables most contexts hold two or
three rows, and many contexts have the same counts. So equal contexts can be merged, with the number of times that they
occur, and what is computed from them costs little.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Codes, Ints, Positions
from analogical.count.groups import count_keys
from analogical.errors import InputError

MAX_TOTAL = 2**31
"""Most rows; with more, products of two sizes would not fit in int64."""
PACKED_BITS = 62
"""Contexts that fit in this many bits are compared as one number."""
FEW_CONTEXTS = 2**15
"""Up to this many contexts of a feature, or one per eight rows, equal contexts are not merged."""


@dataclass(frozen=True)
class PairCounts:
    """Exact counts of pairs of rows, each row counted with its weight."""

    pairs: Ints
    """Unordered pairs of rows that differ on this feature only, for each feature."""
    changed: Ints
    """How many of them have different labels."""
    n_rows: int
    n_distinct: int
    """Distinct feature rows, labels ignored."""
    n_identical: int
    """Pairs of rows that agree on every feature."""
    n_contradictions: int
    """How many of them have different labels."""


@dataclass(frozen=True)
class RowProfile:
    """Number of rows by their number of pairs: all that intervals need to know about a feature.

    ``rows[k]`` rows are in ``pairs[k]`` pairs each, ``changed[k]`` of which have different labels. Rows without pairs
    may be left out.
    """

    pairs: Ints
    changed: Ints
    rows: Ints

    @classmethod
    def of(cls, pairs: Ints, changed: Ints, rows: Ints) -> "RowProfile":
        """Merge equal entries, and drop entries without rows."""
        if not len(pairs):
            return cls(pairs, changed, rows)
        base = int(changed.max()) + 1
        keys = pairs * base + changed  # below 2**62: at most 2**31 of each
        known, totals = count_keys(keys, int(keys.max()) + 1, rows)
        return cls(known // base, known % base, totals)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int((self.pairs * self.rows).sum()) // 2

    @cached_property
    def n_changed(self) -> int:
        """Number of pairs whose labels differ."""
        return int((self.changed * self.rows).sum()) // 2

    @cached_property
    def n_effective(self) -> float:
        """Kish's effective number of pairs, 2 P^2 / sum of d^2 with d the pairs of each row.

        P if no row is in two pairs; small if one row is in most pairs.
        """
        squares = float((self.rows * self.pairs.astype(np.float64) ** 2).sum())
        return 2.0 * float(self.n_pairs) ** 2 / squares if squares else 0.0

    @property
    def n_paired_rows(self) -> int:
        """Number of rows with at least one pair."""
        return int(self.rows[self.pairs > 0].sum())


def pairs_within(sizes: Ints) -> int:
    """Number of pairs of rows within groups of these sizes; exact for at most 2**31 rows."""
    return int((sizes * (sizes - 1) // 2).sum())


def refuse_too_many_rows(total: float) -> None:
    """Refuse more rows than can have their pairs counted in int64."""
    if total > MAX_TOTAL:
        raise InputError(
            f"The table stands for {total:,.0f} rows; pairs are counted exactly in 64 bits up to {MAX_TOTAL:,} rows:"
            " divide the weights by a common factor, or count a sample of the rows."
        )


@dataclass(frozen=True)
class ContextParts:
    """The rows of contexts, divided into parts by value; ordered by context."""

    owner: Positions
    """Context of each part."""
    sizes: Ints
    """Rows of each part."""


@dataclass(frozen=True)
class Contexts:
    """The contexts of a feature that hold two values or more.

    A cell is the rows of a context with the same value and the same label. Cells are ordered by context, value and
    label.
    """

    starts: Positions
    """First cell of each context."""
    times: Ints
    """Number of contexts with these counts."""
    values: NDArray[np.uint32]
    """Value of each cell."""
    labels: NDArray[np.uint32]
    """Label of each cell."""
    sizes: Ints
    """Rows in each cell, in one context."""

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def owner(self) -> Positions:
        """Context of each cell."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.sizes)))

    @cached_property
    def n_rows(self) -> Ints:
        """Rows of each context."""
        return _sums(self.sizes, self.starts)

    @cached_property
    def value_starts(self) -> Positions:
        """First cell of each value of each context."""
        is_new = differs_from_last(self.values)
        is_new[self.starts] = True
        return np.flatnonzero(is_new)

    @cached_property
    def value_sizes(self) -> Ints:
        """For each cell, rows of its context with its value and any label."""
        return self.value_parts.sizes[self.value_of_cell]

    @cached_property
    def value_parts(self) -> "ContextParts":
        """The rows of each context divided by value."""
        return ContextParts(self.owner[self.value_starts], _sums(self.sizes, self.value_starts))

    @cached_property
    def label_sizes(self) -> Ints:
        """For each cell, rows of its context with its label and any value."""
        n_labels = int(self.labels.max(initial=0)) + 1
        keys = self.owner * n_labels + self.labels
        known, sizes = count_keys(keys, len(self) * n_labels, self.sizes)
        return sizes[np.searchsorted(known, keys)]

    @cached_property
    def pairs(self) -> Ints:
        """For each cell, the number of pairs of each of its rows."""
        return self.n_rows[self.owner] - self.value_sizes

    @cached_property
    def changed(self) -> Ints:
        """For each cell, the number of changed pairs of each of its rows."""
        return self.pairs - (self.label_sizes - self.sizes)

    @cached_property
    def value_of_cell(self) -> Positions:
        """For each cell, its position in ``value_parts``."""
        return np.repeat(np.arange(len(self.value_starts)), np.diff(self.value_starts, append=len(self.sizes)))

    def part(self, kept: Bools) -> "Contexts":
        """Some of the cells; contexts without any of them are dropped."""
        owner = self.owner[kept]
        is_new = differs_from_last(owner)
        return Contexts(
            starts=np.flatnonzero(is_new),
            times=self.times[owner[is_new]],
            values=self.values[kept],
            labels=self.labels[kept],
            sizes=self.sizes[kept],
        )

    @cached_property
    def profile(self) -> RowProfile:
        """Number of rows by their number of pairs."""
        return RowProfile.of(self.pairs, self.changed, self.sizes * self.times[self.owner])

    def compacted(self) -> "Contexts":
        """The same contexts with equal ones merged, in another order."""
        n_labels, n_sizes = int(self.labels.max(initial=0)) + 1, int(self.sizes.max(initial=0)) + 1
        n_bits = ((int(self.values.max(initial=0)) + 1) * n_labels * n_sizes - 1).bit_length()
        packed = (self.values.astype(np.int64) * n_labels + self.labels) * n_sizes + self.sizes  # n_bits each
        lengths = np.diff(self.starts, append=len(self.sizes))
        compacted = []
        for length in np.unique(lengths).tolist():
            chosen = np.flatnonzero(lengths == length)
            cells, times = self.starts[chosen][:, None] + np.arange(length), self.times[chosen]
            if length * n_bits <= PACKED_BITS:
                shifts = n_bits * np.arange(length)
                keys = (packed[cells] << shifts).sum(axis=1)
                held, times = count_keys(keys, 1 << length * n_bits, None if (times == 1).all() else times)
                above, sizes = np.divmod((held[:, None] >> shifts & (1 << n_bits) - 1).ravel(), n_sizes)
                values, labels = np.divmod(above, n_labels)
            else:
                whole = np.hstack([self.values[cells], self.labels[cells], self.sizes[cells]])
                whole, kind = np.unique(whole, axis=0, return_inverse=True)
                times = np.bincount(kind.ravel(), times).astype(np.int64)
                values, labels, sizes = (part.ravel() for part in np.hsplit(whole, 3))
            starts = np.arange(0, len(sizes), length)
            compacted.append(Contexts(starts, times, values.astype(np.uint32), labels.astype(np.uint32), sizes))
        return Contexts.joined(compacted)

    @classmethod
    def joined(cls, parts: "Sequence[Contexts]") -> "Contexts":
        """The contexts of several features, or of parts of a table that share no context (see ``PairCounts``)."""
        parts = parts or [cls.none()]
        first_cells = np.cumsum([0, *(len(part.sizes) for part in parts)])
        return cls(
            starts=np.concatenate([part.starts + first for part, first in zip(parts, first_cells, strict=False)]),
            times=np.concatenate([part.times for part in parts]),
            values=np.concatenate([part.values for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            sizes=np.concatenate([part.sizes for part in parts]),
        )

    @classmethod
    def none(cls) -> "Contexts":
        """No contexts."""
        empty = np.zeros(0, np.int64)
        codes = np.zeros(0, np.uint32)
        return cls(np.zeros(0, np.intp), empty, codes, codes, empty)


@dataclass(frozen=True)
class Stack:
    """The contexts of several features, one feature after the other, to compute on all of them at once."""

    contexts: Contexts
    feature: Positions
    """Feature of each context, from 0; sorted."""
    n_features: int
    given: NDArray[Any] | None = None
    """Code of each context on each given column, -1 where a feature has fewer given columns than others; None if codes
    are not known, because equal contexts are merged."""

    @classmethod
    def of(cls, parts: Sequence[Contexts]) -> "Stack":
        """Stack the contexts of each feature."""
        contexts = parts[0] if len(parts) == 1 else Contexts.joined(parts)
        return cls(contexts, np.repeat(np.arange(len(parts)), [len(part) for part in parts]), len(parts))

    @classmethod
    def joined(cls, parts: "Sequence[Stack]") -> "Stack":
        """The features of all parts, one part after the other; all parts know the codes of their contexts."""
        if len(parts) == 1:
            return parts[0]
        firsts = np.cumsum([0, *(part.n_features for part in parts)])
        feature = np.concatenate([part.feature + first for part, first in zip(parts, firsts, strict=False)])
        codes = [part.given for part in parts if part.given is not None]
        given = np.full((len(feature), max(some.shape[1] for some in codes)), -1, np.int64)
        start = 0
        for some in codes:
            given[start : start + len(some), : some.shape[1]] = some
            start += len(some)
        return cls(Contexts.joined([part.contexts for part in parts]), feature, int(firsts[-1]), given)

    @cached_property
    def merged(self) -> "Stack":
        """The same contexts without their codes, equal ones merged if a feature has many."""
        if self.given is None:
            return self
        few = np.maximum(FEW_CONTEXTS, self.sums(self.contexts.n_rows) // 8)
        is_many = (np.diff(self.bounds) > few).tolist()
        if not any(is_many):
            return replace(self, given=None)
        return Stack.of([part.compacted() if many else part for part, many in zip(self.split(), is_many, strict=True)])

    @cached_property
    def bounds(self) -> Positions:
        """First context of each feature, and the end of the last one."""
        return np.searchsorted(self.feature, np.arange(self.n_features + 1))

    @cached_property
    def cell_bounds(self) -> Positions:
        """First cell of each feature, and the end of the last one."""
        return np.append(self.contexts.starts, len(self.contexts.sizes))[self.bounds]

    def cells(self) -> list[slice]:
        """The cells of each feature."""
        return _slices(self.cell_bounds)

    @cached_property
    def feature_of_cell(self) -> Positions:
        """Feature of each cell."""
        return self.feature[self.contexts.owner]

    def split(self) -> list[Contexts]:
        """The contexts of each feature."""
        whole = self.contexts
        return [
            Contexts(
                starts=whole.starts[own] - cells.start,
                times=whole.times[own],
                values=whole.values[cells],
                labels=whole.labels[cells],
                sizes=whole.sizes[cells],
            )
            for own, cells in zip(_slices(self.bounds), self.cells(), strict=True)
        ]

    def one(self, feature: int) -> Contexts:
        """The contexts of one feature."""
        return self.part([feature]).contexts

    def part(self, features: Sequence[int]) -> "Stack":
        """The contexts of some features, which are sorted."""
        if len(features) == self.n_features:
            return self
        is_chosen = np.isin(np.arange(self.n_features), features)
        which = np.flatnonzero(is_chosen[self.feature])
        contexts = self.contexts.part(is_chosen[self.feature_of_cell])
        given = None if self.given is None else self.given[which]
        return Stack(contexts, np.searchsorted(features, self.feature[which]), len(features), given)

    def sums(self, of_context: NDArray[Any]) -> NDArray[Any]:
        """The sum over the contexts of each feature."""
        return _sums_between(of_context, self.bounds)

    def sums_of_cells(self, of_cell: NDArray[Any]) -> NDArray[Any]:
        """The sum over the cells of each feature."""
        return _sums_between(of_cell, self.cell_bounds)

    def with_repeats(self) -> "Stack":
        """The contexts without values of a single row; contexts that are left with one value are dropped."""
        contexts = self.contexts
        repeated = contexts.value_parts.sizes > 1
        n_left = np.bincount(contexts.value_parts.owner, weights=repeated, minlength=len(contexts))
        kept = repeated[contexts.value_of_cell] & (n_left[contexts.owner] > 1)
        if kept.all():
            return self
        return Stack(contexts.part(kept), self.feature[n_left > 1], self.n_features)


def contexts_of_cells(
    context: Positions, values: NDArray[Any], labels: NDArray[Any], sizes: Ints, times: Ints | None = None
) -> tuple[Contexts, Positions]:
    """The contexts with two values or more, and the number of each, from cells ordered by context, value and label.

    ``times`` is how often each context occurs, by its number.
    """
    is_new = differs_from_last(context)
    starts = np.flatnonzero(is_new)
    is_varied = _sums((is_new | differs_from_last(values)).astype(np.int64), starts) > 1
    n_cells = np.diff(starts, append=len(context))
    kept, numbers, n_cells = np.repeat(is_varied, n_cells), context[starts[is_varied]], n_cells[is_varied]
    contexts = Contexts(
        starts=np.cumsum(n_cells) - n_cells,
        times=np.ones(len(numbers), np.int64) if times is None else times[numbers],
        values=values[kept].astype(np.uint32),
        labels=labels[kept].astype(np.uint32),
        sizes=sizes[kept],
    )
    return contexts, numbers


def contexts_of_rows(new_context: Bools, values: Codes, labels: Codes, weights: Ints | None) -> Contexts:
    """Contexts of rows that are sorted by context, value and label."""
    cells = np.flatnonzero(new_context | differs_from_last(values) | differs_from_last(labels))
    sizes = np.diff(cells, append=len(values)) if weights is None else _sums(weights, cells)
    context = np.cumsum(new_context, dtype=np.intp)[cells]
    return contexts_of_cells(context, values[cells], labels[cells], sizes)[0]


def contexts_of_tables(cells: NDArray[Any]) -> Contexts:
    """Contexts from counts of shape (labels, outer, values, inner); each (outer, inner) is a context."""
    n_labels, _, n_values, n_inner = cells.shape
    n_bits = int(cells.max(initial=0)).bit_length()
    width = n_bits * n_labels * n_values
    if width > PACKED_BITS:
        tables, times = cells.transpose(1, 3, 2, 0), None
    else:
        packed = np.zeros((cells.shape[1], n_inner), np.min_scalar_type((1 << width) - 1))
        shift = packed.dtype.type(n_bits)
        for value in range(n_values):
            for label in range(n_labels):
                packed <<= shift
                packed |= cells[label, :, value, :].astype(packed.dtype, copy=False)
        held, times = count_keys(packed.ravel().astype(np.int64), 1 << width, None)
        places = n_bits * np.arange(n_values * n_labels - 1, -1, -1)
        tables = held[:, None] >> places & (1 << n_bits) - 1
    tables = tables.reshape(-1, n_values, n_labels)
    context, values, labels = np.nonzero(tables)
    sizes = tables[context, values, labels].astype(np.int64)
    return contexts_of_cells(context, values, labels, sizes, times)[0]


def differs_from_last(values: NDArray[Any]) -> Bools:
    """Whether each value differs from the one before it; True for the first."""
    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def _slices(bounds: Positions) -> list[slice]:
    """Slices from each bound to the next."""
    return [slice(start, stop) for start, stop in pairwise(bounds.tolist())]


def _sums_between(values: NDArray[Any], bounds: Positions) -> NDArray[Any]:
    """Sums of values from each bound to the next; 0 for an empty run."""
    sums = np.zeros((len(bounds) - 1, *values.shape[1:]), values.dtype)
    not_empty = np.flatnonzero(np.diff(bounds))
    if len(not_empty):
        sums[not_empty] = np.add.reduceat(values, bounds[not_empty])
    return sums


def _sums(values: Ints, starts: Positions) -> Ints:
    """Sums of values from each start to the next."""
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)
