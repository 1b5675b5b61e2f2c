"""Redundant columns of a table: constants, renamings, columns that others determine, and near-copies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_whole
from analogical._results import Result, entry_at
from analogical._types import Note
from analogical.columns.rules import ColumnOptions
from analogical.search import COPY
from analogical.study import study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COPY", "Dependency", "NearCopy", "Redundancies", "redundancies"]


@dataclass(frozen=True)
class Dependency:
    """A feature that one or two other features determine in all rows.

    Examples
    --------
    >>> from analogical import redundancies
    >>> rows = [("Lyon", "FR"), ("Nice", "FR"), ("Turin", "IT")] * 10
    >>> redundancies(rows, feature_names=["town", "country"]).dependencies
    (Dependency(feature='country', determined_by=('town',), support=27),)
    """

    feature: str
    determined_by: tuple[str, ...]
    support: int
    """Tests passed: rows whose determinants occurred before, so that they could have contradicted it."""


@dataclass(frozen=True)
class NearCopy:
    """A feature that another one nearly determines.

    Examples
    --------
    >>> from analogical import redundancies
    >>> rows = [("Lyon", "FR"), ("Nice", "FR"), ("Turin", "IT"), ("Genoa", "IT")] * 25
    >>> near = redundancies([*rows, ("Nice", "IT")], feature_names=["town", "country"]).near_copies[0]
    >>> near.feature, near.of, round(near.left, 3)
    ('country', 'town', 0.061)
    """

    feature: str
    of: str
    left: float
    """Share of the feature's entropy that is left when the other one is known, numbers in their bins: 0 if the other
    one determines it, 1 if the two are unrelated."""


@dataclass(frozen=True, eq=False, repr=False)
class Redundancies(Result):
    """Redundant columns of a table.

    ``redundancies["town"]`` are the findings about one column, ``len(redundancies)`` the number of findings.

    The main fields:

    - ``constants``: columns with one value
    - ``renamings``: groups of columns that carry the same information
    - ``dependencies``: columns that one or two others determine
    - ``near_copies``: columns that another one nearly determines

    Examples
    --------
    >>> from analogical import redundancies
    >>> rows = [("Lyon", "FR", "+33"), ("Nice", "FR", "+33"), ("Turin", "IT", "+39")] * 10
    >>> result = redundancies(rows, feature_names=["town", "country", "prefix"])
    >>> result.renamings
    (('country', 'prefix'),)
    >>> result["country"]
    [{'feature': 'country', 'kind': 'determined', 'determined_by': ['town'], 'support': 27, 'left': 0.0}]
    """

    COLUMNS = ("feature", "kind", "determined_by", "support", "left")

    names: tuple[str, ...]
    """All columns."""
    n_rows: int
    """Rows, counted with their weights."""
    constants: tuple[str, ...]
    """Columns with one value."""
    renamings: tuple[tuple[str, ...], ...]
    """Groups of columns that carry the same information: equal up to the names of their values."""
    dependencies: tuple[Dependency, ...]
    """Columns that one or two others determine, of each group of renamings the first one only."""
    near_copies: tuple[NearCopy, ...] = ()
    """Columns whose entropy another column explains to at least three quarters, numbers in their bins; the closest
    first. Each column once, with the one that explains most of it; of two that are near-copies of each other, the
    second. Without the redundancies above."""
    searched_one: bool = True
    """Whether single columns were searched as determinants; very many columns are not."""
    searched_two: bool = True
    """Whether pairs of columns were."""
    searched_near: bool = True
    """Whether near-copies were searched."""
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.records())

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        entry_at(name, self.names, "column")
        return [record for record in self.records() if record["feature"] == name]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw every redundant column with the columns that determine it.

        A bar is the share of the rows that could have contradicted the finding and did not: orange for columns that
        carry the same information as another, blue for columns that others determine. For near-copies, light orange,
        it is the share of their entropy that another column explains. On the right are those columns.
        """
        from analogical.plot.figures import plot_redundancies

        return plot_redundancies(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per finding: the feature, the kind of redundancy, and the columns involved."""
        constants = [_record(name, "constant", (), 0) for name in self.constants]
        renamings = [
            _record(name, "same information", (group[0],), self.n_rows)
            for group in self.renamings
            for name in group[1:]
        ]
        determined = [_record(d.feature, "determined", d.determined_by, d.support) for d in self.dependencies]
        near = [_record(near.feature, "near-copy", (near.of,), 0, near.left) for near in self.near_copies]
        return [*constants, *renamings, *determined, *near]


def _record(feature: str, kind: str, by: tuple[str, ...], support: int, left: float = 0.0) -> dict[str, Any]:
    return {"feature": feature, "kind": kind, "determined_by": list(by), "support": support, "left": left}


def redundancies(X: Any, *, max_determinants: int = 2, **columns: Unpack[ColumnOptions]) -> Redundancies:
    """Constant columns, columns that carry the same information, columns that others determine, and near-copies.

    Parameters
    ----------
    X : dataframe, 2-d array, list of rows or Study
        A categorical table, without the label; or a :class:`analogical.Study`, whose features are used.
    max_determinants : {1, 2}
        Whether to search for columns determined by one other column, or also by two together.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups`` and those of the label, ``classes``,
        ``scale`` and ``ordered``.

    Returns
    -------
    Redundancies
        The findings, each dependency with its support.

    Notes
    -----
    A dependency that no row could have contradicted is not reported: a column of distinct numbers "determines"
    everything. Every row whose determinants occur in an earlier row is a test. A dependency is reported if an unrelated
    column with the same value shares would pass all tests with a probability below 5 %, over all candidates for that
    column. One determinant is searched among up to 30,000 columns, two among up to 464, fewer if they have very many
    values.

    A near-copy is a column of whose entropy at most a quarter is left when another column is known, such as the minutes
    of a call and its charge; less than a quarter where columns with many values would explain much by chance. Numbers
    are compared in their bins, where a quarter is left at a correlation of .995. :func:`analogical.relevance` treats a
    column as a copy if at most 8 % are left. Near-copies are searched among up to 707 columns with up to 1,000 values
    each and 16,000 in all; on large tables on a part of the rows, and what is left is counted on all.

    Examples
    --------
    >>> from analogical import redundancies
    >>> towns = [("Ulm", "DE", 1), ("Bonn", "DE", 2), ("Lyon", "FR", 2), ("Nice", "FR", 1)] * 5
    >>> rows = [(town, country, town.upper(), size, "EU") for town, country, size in towns]
    >>> redundancies(rows, feature_names=["town", "country", "TOWN", "size", "union"])
    5 of 5 columns are redundant.
    column   redundancy                      tests
    union    one value only
    TOWN     same information as town
    country  determined by town                 16
    size     determined by town                 16
    town     determined by country and size     16
    20 rows, 5 columns.
    """
    check_whole("max_determinants", max_determinants, low=1, high=2)
    without = ("groups", "classes", "scale", "ordered")
    study = study_of(redundancies, X, None, columns, without=without, needs_label=False)
    table, names, known = study.table, study.table.names, study.dependencies(max_determinants)
    return Redundancies(
        names=names,
        n_rows=study.n_rows,
        constants=tuple(names[i] for i in np.flatnonzero(table.n_values == 1)),
        renamings=tuple(tuple(names[i] for i in group) for group in known.renamings),
        dependencies=tuple(
            Dependency(names[d.column], tuple(names[i] for i in d.by), d.support) for d in known.determined
        ),
        near_copies=tuple(NearCopy(names[near.column], names[near.of], near.remaining) for near in known.near),
        searched_one=known.searched_one,
        searched_two=known.searched_two,
        searched_near=known.searched_near,
        notes=study.notes,
        backend=table.backend,
    )
