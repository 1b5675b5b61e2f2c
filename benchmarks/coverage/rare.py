"""P-values of features that do nothing where values or classes are rare, in one context, in ten and in 200.

The test is that of a feature given others: the contexts of the first column, as the library counts them. One table
of ten is also tested as its distinct rows with weights, and the run stops if that gives another p-value.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from analogical.count.given import RowContexts, count_given
from analogical.count.groups import CodedRows, merge_rows
from analogical.estimate.tests import Scores, test_stack

__all__ = ["rare"]

Draw = Callable[[Any], tuple[Any, Any]]
"""Generator of random numbers to rows and labels."""


def _first(sizes: list[int], n: int) -> Any:
    """A column in which nearly all rows have one value, and others have the given sizes."""
    return np.repeat(np.arange(len(sizes) + 1), [n - sum(sizes), *sizes])[:, None]


def _shares(n: int, share: float) -> Any:
    """One frequent kind and others of this share."""
    return np.array([1 - (n - 1) * share] + [share] * (n - 1))


def _of_sizes(sizes: list[int], n: int, chance: float) -> Draw:
    return lambda rng: (_first(sizes, n), rng.random(n) < chance)


def _grid(n_contexts: int, values: tuple[int, float], classes: tuple[int, float]) -> Draw:
    """1,000 rows; which class is frequent goes from context to context."""

    def draw(rng: Any) -> tuple[Any, Any]:
        context = rng.integers(0, n_contexts, 1000)
        value = rng.choice(values[0], size=1000, p=_shares(*values))
        label = rng.choice(classes[0], size=1000, p=_shares(*classes))
        return np.column_stack([value, context]), (label + context * (n_contexts > 1)) % classes[0]

    return draw


NAMED: dict[str, Draw] = {
    "1 single row of 2,000, 50 classes": lambda rng: (_first([1], 2000), rng.integers(0, 50, 2000)),
    "7 values of .3 %, 7 classes of 1 %": _grid(1, (8, 0.003), (8, 0.01)),
    "5 values of two rows, class of 3 %": _of_sizes([2] * 5, 2000, 0.03),
    "20 single rows, class of 10 %": _of_sizes([1] * 20, 2000, 0.1),
    "20 single rows, class of 3 %": _of_sizes([1] * 20, 2000, 0.03),
    "1 single row, class of 16 %": _of_sizes([1], 2000, 0.16),
    "1 single row, class of 10 %": _of_sizes([1], 2000, 0.1),
    "1 single row, classes of 997 and 1,003": lambda rng: (
        _first([1], 2000),
        rng.permutation(np.repeat([0, 1], [1003, 997])),
    ),
}
VALUES = {"2 values, one of .3 %": (2, 0.003), "4 values, three of 1 %": (4, 0.01), "8 values, seven of 2 %": (8, 0.02)}
CLASSES = {"2 classes, one of 3 %": (2, 0.03), "2 classes": (2, 0.5), "6 classes, five of 2 %": (6, 0.02)}


def _settings() -> dict[str, tuple[int, Draw]]:
    """Contexts and the draw of every setting."""
    found = {name: (1, draw) for name, draw in NAMED.items()}
    for n_contexts, (values, of_values), (classes, of_classes) in product(
        (1, 10, 200), VALUES.items(), CLASSES.items()
    ):
        name = f"{values}; {classes}; {n_contexts} {'context' if n_contexts == 1 else 'contexts'}"
        found[name] = n_contexts, _grid(n_contexts, of_values, of_classes)
    return found


def p_value_given_all(rows: CodedRows) -> float:
    """P-value of the feature in column 0, all others given."""
    ((_, stack),) = count_given(rows, RowContexts.by(rows, range(1, rows.n_features)), [0], 1)
    (tested,) = test_stack(stack.merged, Scores.of_classes(rows.label_sizes()), [None])
    return tested.p_value if tested else math.nan


def rare(quick: bool) -> Iterator[dict[str, Any]]:
    """How often a feature that does nothing has p <= .05 where values or classes are rare."""
    n_tables = 20 if quick else 1000
    for at, (name, (n_contexts, draw)) in enumerate(_settings().items()):
        rng = np.random.default_rng([26, at])
        p = np.full(n_tables, np.nan)
        for t in range(n_tables):
            X, y = draw(rng)
            codes = np.asfortranarray(X.astype(np.uint32))
            rows = CodedRows(codes, y.astype(np.uint32), X.max(axis=0).astype(np.int64) + 1, int(y.max()) + 1)
            p[t] = p_value_given_all(rows)
            if t < n_tables / 10 and not np.isclose(
                p[t], p_value_given_all(merge_rows(rows)), rtol=1e-6, equal_nan=True
            ):
                raise SystemExit(f"another p-value with weights: {name}, table {t}")
        known = p[~np.isnan(p)]
        shares = {f"p_below_{percent}_percent": float((known <= percent / 100).mean()) for percent in (5, 1)}
        yield {
            "setting": name,
            "contexts": n_contexts,
            "tables": n_tables,
            "p_known": len(known) / n_tables,
            **shares,
            "smallest_p": float(known.min()),
            "missed": [key for key, limit in zip(shares, (0.06, 0.015), strict=True) if shares[key] > limit],
        }
