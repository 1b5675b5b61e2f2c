"""Which features other features determine, how well that was tested, and which ones to keep.

A feature that others determine has no pairs: two rows that differ on it differ on them too. A feature
may also have no pairs because there are too few rows. The two are told apart by looking for one or two
features that determine it, and by asking whether the data could have shown otherwise: among rows with
equal determinants every row after the first is a test, and a dependency counts only if an unrelated
column with the same values would rarely have passed them all.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._counting import count_pairs
from analogical._encoding import encode_table
from analogical._presenting import counted, listed, wrapped
from analogical.errors import InputError

__all__ = ["Dependency", "Dropped", "Redundancies", "Resolution", "explain_silence", "redundancies", "resolve"]

Codes = NDArray[np.unsignedinteger[Any]]
Ints = NDArray[np.int64]

CHANCE = 0.05
"""A dependency counts if an unrelated column would pass its tests less often than this, over all candidates."""
N_WITNESSES = 2_000
"""Pairs of rows that a search for two determinants tries before it looks at all rows."""
N_HEAD = 1_000
"""Rows that a dependency is tried on before all of them."""


@dataclass(frozen=True)
class Dependency:
    """A feature that one or two other features determine in all rows."""

    feature: str
    determined_by: tuple[str, ...]
    support: int
    """Tests passed: rows whose determinants had been seen before, so that they could have broken it."""


@dataclass(frozen=True)
class Redundancies:
    """What the columns of a table say twice.

    Attributes
    ----------
    names : tuple of str
        All columns.
    n_rows : int
        Rows, counted with their weights.
    constants : tuple of str
        Columns with one value.
    renamings : tuple of tuples of str
        Groups of columns that carry the same information: equal up to the names of their values.
    dependencies : tuple of Dependency
        Columns that one or two others determine, without the renamings above; of a group of renamings only
        the first one is considered.
    """

    names: tuple[str, ...]
    n_rows: int
    constants: tuple[str, ...]
    renamings: tuple[tuple[str, ...], ...]
    dependencies: tuple[Dependency, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "names": list(self.names),
            "n_rows": self.n_rows,
            "constants": list(self.constants),
            "renamings": [list(group) for group in self.renamings],
            "dependencies": [{**asdict(d), "determined_by": list(d.determined_by)} for d in self.dependencies],
        }

    def __repr__(self) -> str:
        lines = [f"Redundancies among {counted(len(self.names), 'column')}, {counted(self.n_rows, 'row')}"]
        if self.constants:
            lines.append(f"constant: {', '.join(self.constants)}")
        lines += [f"same information: {' = '.join(group)}" for group in self.renamings]
        lines += [
            f"{' and '.join(d.determined_by)} {'determines' if len(d.determined_by) == 1 else 'determine'} {d.feature}"
            f" ({counted(d.support, 'test')})"
            for d in self.dependencies
        ]
        return "\n".join(wrapped(line) for line in lines) if len(lines) > 1 else f"{lines[0]}: none"


def redundancies(
    X: Any, *, weights: Any = None, max_determinants: int = 2, feature_names: Sequence[str] | None = None
) -> Redundancies:
    """Constant columns, columns that carry the same information, and columns that others determine.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        A categorical table, without the label.
    weights : array-like of whole numbers, or str, optional
        How many rows each row stands for, as in :func:`analogical.relevance`.
    max_determinants : {1, 2}
        Whether to look for columns determined by one other column, or also by two together.
    feature_names : sequence of str, optional
        Names for the columns, instead of the dataframe's or ``x0, x1, ...``.

    Returns
    -------
    Redundancies
        What was found, each dependency with its support.

    Notes
    -----
    A dependency that no row could have broken is no finding: a column of unique numbers "determines"
    everything. Every row whose determinants were seen in an earlier row is a test. A dependency is reported
    if an unrelated column with the same shares of values would pass all tests with a chance below 5 %, over
    all candidates for that column.

    One determinant costs a look at a few rows for each pair of columns, and at all rows for those
    that hold so far; two determinants cost a matrix product for each column.

    Examples
    --------
    >>> from analogical import redundancies
    >>> towns = [("Ulm", "DE", 1), ("Bonn", "DE", 2), ("Lyon", "FR", 2), ("Nice", "FR", 1)] * 5
    >>> rows = [(town, country, town.upper(), size, "EU") for town, country, size in towns]
    >>> redundancies(rows, feature_names=["town", "country", "TOWN", "size", "union"])
    Redundancies among 5 columns, 20 rows
    constant: union
    same information: town = TOWN
    town determines country (16 tests)
    town determines size (16 tests)
    country and size determine town (16 tests)
    """
    if max_determinants not in (1, 2):
        raise InputError(f"max_determinants must be 1 or 2, got {max_determinants!r}.")
    # A label is asked for only because encoding a table without one is refused.
    n_rows = len(X) if hasattr(X, "__len__") else 0
    if n_rows == 1:
        raise InputError("redundancies needs at least two rows to compare, got 1.")
    table = encode_table(X, np.arange(n_rows), weights=weights, feature_names=feature_names)
    names = table.names
    search = Search(table.codes, table.n_values, table.weights)
    groups = search.renamings(range(len(names)))
    reported = {i for group in groups for i in group[1:]} | set(np.flatnonzero(table.n_values == 1).tolist())
    columns = [i for i in range(len(names)) if i not in reported]
    found = list(search.single(columns, columns))
    if max_determinants == 2:
        known = {(d.determined, d.by[0]) for d in found}
        for target in columns:
            candidates = [i for i in columns if i != target and (target, i) not in known]
            found += search.double(target, candidates)
    return Redundancies(
        names=names,
        n_rows=search.n_rows,
        constants=tuple(names[i] for i in np.flatnonzero(table.n_values == 1)),
        renamings=tuple(tuple(names[i] for i in group) for group in groups),
        dependencies=tuple(
            Dependency(names[d.determined], tuple(names[i] for i in d.by), d.support)
            for d in sorted(found, key=lambda d: (len(d.by), d.determined, d.by))
        ),
    )


# ---------------------------------------------------------------- the search, on codes


@dataclass(frozen=True)
class Found:
    """A dependency between columns, by position."""

    determined: int
    by: tuple[int, ...]
    support: int


class Search:
    """Finds which columns determine which, with the tests that each dependency passed."""

    def __init__(self, codes: Codes, n_values: Ints, weights: Ints | None) -> None:
        self.codes = codes
        self.n_values = n_values
        self.weights = np.ones(len(codes), dtype=np.int64) if weights is None else weights
        self.n_rows = int(self.weights.sum())
        rng = np.random.default_rng(0)  # which rows are tried first; no result depends on it
        self.head = codes[rng.permutation(len(codes))[:N_HEAD]]
        self.rng = rng

    def renamings(self, columns: Iterable[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way, in the given order."""
        groups: dict[bytes, list[int]] = {}
        columns = [i for i in columns if self.n_values[i] > 1]
        for i in columns:
            groups.setdefault(_division(self.codes[:, i], int(self.n_values[i])).tobytes(), []).append(i)
        return [
            tuple(group)
            for group in groups.values()
            if len(group) > 1 and self._support(self._sizes((group[0],)), group[1], len(columns) - 1) is not None
        ]

    def single(self, targets: Iterable[int], candidates: Sequence[int]) -> Iterator[Found]:
        """Every candidate that determines a target alone, target by target."""
        for target in targets:
            for i in candidates:
                if i == target or self.n_values[i] < self.n_values[target]:
                    continue
                if self._holds((i,), target):
                    support = self._support(self._sizes((i,)), target, len(candidates) - 1)
                    if support is not None:
                        yield Found(target, (i,), support)

    def double(self, target: int, candidates: Sequence[int]) -> Iterator[Found]:
        """Every two candidates that determine a target together, where neither does alone."""
        n_pairs = len(candidates) * (len(candidates) - 1) // 2
        if n_pairs == 0:
            return
        alone = {i for i in candidates if self._holds((i,), target)}
        # Pairs of rows that differ on the target: two columns on which such rows agree do not determine it.
        rows, others = self._witnesses(target)
        agree = (self.codes[rows][:, candidates] == self.codes[others][:, candidates]).astype(np.float32)
        refuted = agree.T @ agree > 0
        for a, b in zip(*np.nonzero(np.triu(~refuted, 1)), strict=True):
            by = (candidates[a], candidates[b])
            if alone.isdisjoint(by) and self._holds(by, target):
                support = self._support(self._sizes(by), target, n_pairs)
                if support is not None:
                    yield Found(target, by, support)

    def _holds(self, by: tuple[int, ...], target: int) -> bool:
        """Whether rows that agree on ``by`` agree on the target."""
        return all(
            _determines(self._joint(codes, by), codes[:, target], self._n_joint(by))
            for codes in (self.head, self.codes)
        )

    def _n_joint(self, by: tuple[int, ...]) -> int:
        return math.prod(int(self.n_values[i]) for i in by)

    def _joint(self, codes: Codes, by: tuple[int, ...]) -> Ints:
        """The columns ``by`` as one column of codes."""
        joint = codes[:, by[0]].astype(np.int64)
        for i in by[1:]:
            joint = joint * int(self.n_values[i]) + codes[:, i]
        return joint

    def _sizes(self, by: tuple[int, ...]) -> Ints:
        """Rows in each group of rows that agree on ``by``."""
        _, ids = np.unique(self._joint(self.codes, by), return_inverse=True)
        return np.bincount(ids, weights=self.weights).astype(np.int64)

    def _support(self, sizes: Ints, target: int, n_candidates: int) -> int | None:
        """Tests that a dependency passed; None if an unrelated column may well have passed them too."""
        shares = np.bincount(self.codes[:, target], weights=self.weights) / self.n_rows
        size, times = np.unique(sizes, return_counts=True)
        # log of sum over values of share^size: the chance that all rows of a group have the same value
        largest = float(shares.max())
        luck = size * math.log(largest) + np.log(((shares / largest) ** size[:, None]).sum(axis=1))
        if float((times * luck).sum()) + math.log(max(n_candidates, 1)) > math.log(CHANCE):
            return None
        return self.n_rows - len(sizes)

    def _witnesses(self, target: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of rows that differ on the target: one with its commonest value, one without."""
        column = self.codes[:, target]
        common = column == np.bincount(column).argmax()
        return tuple(  # type: ignore[return-value]
            self.rng.choice(np.flatnonzero(side), size=N_WITNESSES) for side in (common, ~common)
        )


def _division(column: Codes, n_values: int) -> NDArray[np.int64]:
    """The column with its values numbered by first appearance: equal for columns equal up to renaming."""
    firsts = np.full(n_values, len(column), dtype=np.int64)
    np.minimum.at(firsts, column, np.arange(len(column)))
    return firsts[column]


def _determines(joint: Ints, column: Codes, n_joint: int) -> bool:
    """Whether rows with equal ``joint`` have equal ``column``."""
    if n_joint > max(4 * len(joint), 2**16):
        joint = np.unique(joint, return_inverse=True)[1]
        n_joint = len(joint)
    last = np.zeros(n_joint, dtype=column.dtype)
    last[joint] = column
    return bool((last[joint] == column).all())


# ---------------------------------------------------------------- what to keep


Reason = Literal["constant", "same information", "determined"]


@dataclass(frozen=True)
class Dropped:
    """A feature that was left out, why, and in favour of which ones."""

    feature: str
    reason: Reason
    in_favour_of: tuple[str, ...]
    support: int
    """Tests that the dependency passed; 0 for a constant."""

    def __str__(self) -> str:
        if self.reason == "constant":
            return f"{self.feature}: one value only"
        if self.reason == "same information":
            return f"{self.feature}: the same information as {self.in_favour_of[0]} ({counted(self.support, 'test')})"
        return f"{self.feature}: determined by {listed(self.in_favour_of)} ({counted(self.support, 'test')})"


@dataclass(frozen=True)
class Resolution:
    """Columns to keep, by position, and the ones left out."""

    kept: tuple[int, ...]
    dropped: tuple[tuple[int, Reason, tuple[int, ...], int], ...]

    def named(self, names: Sequence[str]) -> tuple[Dropped, ...]:
        """The columns left out, by name."""
        return tuple(
            Dropped(names[i], reason, tuple(names[j] for j in favoured), support)
            for i, reason, favoured, support in self.dropped
        )


def resolve(codes: Codes, labels: Codes, n_values: Ints, weights: Ints | None, priority: Sequence[int]) -> Resolution:
    """Leave out what others determine until every feature has pairs or nothing explains that it has none.

    ``priority`` lists all columns, the ones to keep first. Columns of equal information leave the first of
    them; a column that one other column determines goes in favour of that one, which says more; of columns
    that two others determine the last one goes, the pairs are counted again, and so on.
    """
    search = Search(codes, n_values, weights)
    rank = {i: r for r, i in enumerate(priority)}
    gone: list[tuple[int, Reason, tuple[int, ...], int]] = []
    kept = []
    for i in priority:
        if n_values[i] == 1:
            gone.append((i, "constant", (), 0))
        else:
            kept.append(i)
    while len(kept) > 1:
        counts = count_pairs(np.asfortranarray(codes[:, kept]), labels, n_values[kept], int(labels.max()) + 1, weights)
        silent = [i for i, pairs in zip(kept, counts.pairs.tolist(), strict=True) if pairs == 0]
        found = list(_explained(search, silent, kept, rank))
        if not found:
            break
        gone += found
        left = {i for i, *_ in found}
        kept = [i for i in kept if i not in left]
    favoured = {i: by for i, _, by, _ in gone}
    return Resolution(
        kept=tuple(sorted(kept)),
        dropped=tuple((i, why, _still_kept(by, favoured, rank), n) for i, why, by, n in sorted(gone)),
    )


def _explained(
    search: Search, silent: Sequence[int], kept: Sequence[int], rank: dict[int, int]
) -> Iterator[tuple[int, Reason, tuple[int, ...], int]]:
    """The next columns to leave out: renamings, else columns with one determinant, else one with two."""
    groups = search.renamings(silent)
    for group in groups:
        support = search.n_rows - int(search.n_values[group[0]])
        yield from ((i, "same information", group[:1], support) for i in group[1:])
    if groups:
        return
    first: dict[int, Found] = {}
    for found in search.single(silent, kept):
        first.setdefault(found.determined, found)
    yield from ((i, "determined", found.by, found.support) for i, found in first.items())
    if first:
        return
    for target in sorted(silent, key=lambda i: -rank[i]):
        for found in search.double(target, [i for i in kept if i != target]):
            yield target, "determined", found.by, found.support
            return


def _still_kept(by: tuple[int, ...], favoured: dict[int, tuple[int, ...]], rank: dict[int, int]) -> tuple[int, ...]:
    """The columns that were kept in the end, for those that were left out themselves later."""
    ends: set[int] = set()
    for i in by:
        ends.update(_still_kept(favoured[i], favoured, rank) if i in favoured else (i,))
    return tuple(sorted(ends, key=rank.__getitem__))


MAX_SEARCH = 1_000_000
"""Two determinants are looked for if silent features times features squared stay below this."""


def explain_silence(
    codes: Codes, n_values: Ints, weights: Ints | None, silent: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """For features without pairs: which one or two features determine them; none means too few rows."""
    if not silent:
        return {}
    search = Search(codes, n_values, weights)
    varying = np.flatnonzero(n_values > 1).tolist()
    by: dict[int, tuple[int, ...]] = {}
    for found in search.single(silent, varying):
        by.setdefault(found.determined, found.by)
    if len(silent) * len(varying) ** 2 <= MAX_SEARCH:
        for target in silent:
            if target not in by:
                first = next(search.double(target, [i for i in varying if i != target]), None)
                if first is not None:
                    by[target] = first.by
    return by
