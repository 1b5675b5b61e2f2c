"""Built-in tables: small and public, generated from a rule or stored as counts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical.errors import InputError

__all__ = ["WEIGHTS", "BuiltInTable", "load_table", "table_names"]


Recipe = tuple[tuple[str, ...], str, Callable[[], Iterable[tuple[Any, ...]]]]
"""How a table is made: its columns (the label last), its source, and its rows with their counts."""
WEIGHTS = "count"
"""Name of the column of weights in a table's frame."""


@dataclass(frozen=True, eq=False)
class BuiltInTable:
    """A built-in table of counts.

    Ready for ``relevance(table.X, table.y, weights=table.weights)``, or as a dataframe for
    ``relevance(table.to_frame(), table.label, weights="count")``.

    Examples
    --------
    >>> from analogical import load_table
    >>> table = load_table("titanic")
    >>> table.feature_names, table.label, table.n_rows
    (('class', 'sex', 'age'), 'survived', 2201)
    """

    name: str
    X: NDArray[np.object_]
    y: NDArray[np.object_]
    weights: NDArray[np.int64]
    """Number of rows that each row represents."""
    feature_names: tuple[str, ...]
    label: str
    source: str

    def to_frame(self, backend: str = "pandas") -> Any:
        """The features, the label and the column ``count``, as a dataframe of that library.

        Examples
        --------
        >>> from analogical import load_table
        >>> load_table("titanic").to_frame("polars").columns
        ['class', 'sex', 'age', 'survived', 'count']
        """
        from analogical.columns.frames import build_frame

        return build_frame(self.columns(), backend)

    def columns(self) -> dict[str, list[Any]]:
        """The cells of the features, of the label and of the column ``count``.

        Examples
        --------
        >>> from analogical import load_table
        >>> load_table("berkeley").columns()["count"][:3]
        [512, 313, 89]
        """
        columns = {name: self.X[:, i].tolist() for i, name in enumerate(self.feature_names)}
        return {**columns, self.label: self.y.tolist(), WEIGHTS: self.weights.tolist()}

    @property
    def n_rows(self) -> int:
        """Number of rows: the total weight."""
        return int(self.weights.sum())


_MONKS_VALUES = {
    "head_shape": ("round", "square", "octagon"),
    "body_shape": ("round", "square", "octagon"),
    "is_smiling": ("yes", "no"),
    "holding": ("sword", "balloon", "flag"),
    "jacket_color": ("red", "yellow", "green", "blue"),
    "has_tie": ("yes", "no"),
}

_BERKELEY = {  # department: men admitted, men rejected, women admitted, women rejected
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}

_TITANIC = {  # class: male child, male adult, female child, female adult; (died, survived) each
    "1st": ((0, 5), (118, 57), (0, 1), (4, 140)),
    "2nd": ((0, 11), (154, 14), (0, 13), (13, 80)),
    "3rd": ((35, 13), (387, 75), (17, 14), (89, 76)),
    "crew": ((0, 0), (670, 192), (0, 0), (3, 20)),
}


def table_names() -> tuple[str, ...]:
    """Names of the built-in tables.

    Examples
    --------
    >>> from analogical import table_names
    >>> table_names()
    ('monks-1', 'monks-2', 'monks-3', 'berkeley', 'titanic', 'rents')
    """
    return tuple(_TABLES)


def load_table(name: str) -> BuiltInTable:
    """Load a built-in table.

    Parameters
    ----------
    name : str
        One of :func:`table_names`.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> berkeley = load_table("berkeley")
    >>> relevance(berkeley.to_frame(), "admitted", weights="count")
    2 of 2 features have a significant effect on 'admitted'.
    feature     points     95% CI          share of 'yes'    ARI  p adj.  status
    department      31   29 to 33  ██████  F -59           0.487   <.001  effect
    gender         6.3  0.9 to 11  █▎      mixed           0.377    .002  effect
    Given the deciding set: department and gender. It explains 17.0 % of the label.
    mixed: the direction depends on other features (gender).
    4,526 rows, 2 features.
    """
    if name not in _TABLES:
        raise InputError(f"There is no built-in table {name!r}; choose from {', '.join(_TABLES)}.")
    columns, source, rows = _TABLES[name]
    cells = np.array(list(rows()), dtype=object)
    return BuiltInTable(
        name=name,
        X=cells[:, :-2].copy(),
        y=cells[:, -2].copy(),
        weights=cells[:, -1].astype(np.int64),
        feature_names=columns[:-1],
        label=columns[-1],
        source=source,
    )


def _monks(rule: Callable[[tuple[int, ...]], bool]) -> Iterator[tuple[Any, ...]]:
    """The universe of 432 robots, labelled by a rule on values numbered from 1, as in the report on the problems."""
    for row in product(*(enumerate(values, start=1) for values in _MONKS_VALUES.values())):
        codes, values = zip(*row, strict=True)
        yield (*values, int(rule(codes)), 1)


def _berkeley() -> Iterator[tuple[Any, ...]]:
    for department, counts in _BERKELEY.items():
        for (gender, admitted), count in zip(product(("male", "female"), ("yes", "no")), counts, strict=True):
            yield department, gender, admitted, count


def _titanic() -> Iterator[tuple[Any, ...]]:
    for cabin, groups in _TITANIC.items():
        for (sex, age), counts in zip(product(("male", "female"), ("child", "adult")), groups, strict=True):
            for survived, count in zip(("no", "yes"), counts, strict=True):
                yield cabin, sex, age, survived, count


def _rents() -> Iterator[tuple[Any, ...]]:
    """1,500 flats; :data:`_TABLES` has the rule. Rooms follow from the area, and the lift from the year of building."""
    districts = {"north": 0, "east": 40, "south": 110, "centre": 190}
    rng = Random(7)  # noqa: S311 - the same table everywhere
    for _ in range(1_500):
        district = rng.choices(tuple(districts), (3, 3, 2, 2))[0]
        area = 10 * min(max(round(rng.gauss(6.5, 2)), 3), 11)
        rooms = min(max(round(area / 25 + rng.gauss(0, 0.6)), 1), 5)
        built = rng.choice(("before 1950", "1950-1989", "since 1990"))
        has_lift = rng.random() < {"before 1950": 0.2, "1950-1989": 0.5, "since 1990": 0.8}[built]
        floor, has_balcony = rng.randrange(5), rng.random() < 0.4
        rent = 150 + 8 * area + districts[district] + 45 * has_balcony + (30 if has_lift else -30) * floor
        lift, balcony = ("yes" if has_it else "no" for has_it in (has_lift, has_balcony))
        yield district, area, rooms, floor, lift, balcony, built, round(rent + rng.gauss(0, 60)), 1


def _monks_table(rule: Callable[[tuple[int, ...]], bool], text: str) -> Recipe:
    source = f"Thrun et al. 1991, The MONK's Problems; all 432 robots, from the rule: {text}"
    return (*_MONKS_VALUES, "class"), source, partial(_monks, rule)


_TABLES: dict[str, Recipe] = {
    "monks-1": _monks_table(lambda a: a[0] == a[1] or a[4] == 1, "head_shape = body_shape, or jacket_color = red"),
    "monks-2": _monks_table(lambda a: sum(code == 1 for code in a) == 2, "exactly two features have their first value"),
    "monks-3": _monks_table(
        lambda a: (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3),
        "jacket_color = green and holding = sword, or jacket_color not blue and body_shape not octagon",
    ),
    "berkeley": (
        ("department", "gender", "admitted"),
        "Bickel, Hammel, O'Connell 1975, Science 187; six largest departments, fall 1973",
        _berkeley,
    ),
    "titanic": (
        ("class", "sex", "age", "survived"),
        "Dawson 1995, J. of Statistics Education 3(3), after the British Board of Trade 1912",
        _titanic,
    ),
    "rents": (
        ("district", "area", "rooms", "floor", "lift", "balcony", "built", "rent"),
        "Simulated: 150 + 8 a square metre + the district (0 to 190) + 45 for a balcony + 30 a floor with a lift, less"
        " 30 a floor without one, with a normal error of 60; rooms and the year of building do not count",
        _rents,
    ),
}
