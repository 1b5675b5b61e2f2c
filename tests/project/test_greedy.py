"""JMI and CMIM of the benchmarks against their definitions."""

import sys
from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest
from conftest import random_table

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from greedy import greedy_order


def tables():
    rng = np.random.default_rng(11)
    return [random_table(rng, n_rows=25, n_features=4, n_values=3) for _ in range(12)]


def naive_information(values, labels, given=None):
    """I(values; labels | given) by dictionaries: sum of p(v, l, g) log(p(v, l, g) p(g) / (p(v, g) p(l, g)))."""
    given = [0] * len(labels) if given is None else given
    rows = list(zip(values, labels, given, strict=True))
    cells, of_value, of_label, of_given = (
        Counter(part(row) for row in rows)
        for part in (lambda r: r, lambda r: (r[0], r[2]), lambda r: (r[1], r[2]), lambda r: r[2])
    )
    return sum(
        size / len(rows) * log(size * of_given[g] / (of_value[v, g] * of_label[c, g]))
        for (v, c, g), size in cells.items()
    )


def naive_order(codes, labels, criterion):
    """The features one after the other, by the textbook form of the criterion; the earlier column where equal."""
    columns, y, chosen = [column.tolist() for column in codes.T], labels.tolist(), []

    def value(f):
        if not chosen:
            return naive_information(columns[f], y)
        if criterion == "jmi":
            return sum(naive_information(list(zip(columns[f], columns[s], strict=True)), y) for s in chosen)
        return min(naive_information(columns[f], y, columns[s]) for s in chosen)

    while len(chosen) < len(columns):
        left = [f for f in range(len(columns)) if f not in chosen]
        best = max(value(f) for f in left)
        chosen.append(next(f for f in left if value(f) > best - 1e-9))
    return tuple(chosen)


GREEDY = ["jmi", "cmim"]


@pytest.mark.parametrize("criterion", GREEDY)
def test_greedy_order_is_the_textbook_s(criterion):
    wide = [random_table(np.random.default_rng(seed), n_rows=40, n_features=7, n_values=3) for seed in range(4)]
    rng = np.random.default_rng(3)
    many = rng.integers(0, 30, (80, 5)), rng.integers(0, 20, 80)
    for codes, labels in [*tables(), *wide, many]:
        expected = naive_order(codes, labels, criterion)
        for k in (1, 3, codes.shape[1], 9):
            assert greedy_order(codes, labels, k, criterion) == expected[:k]


def test_copy_comes_last_in_cmim_and_the_partner_of_an_interaction_first():
    rows = np.array([(a, a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 2)
    labels = rows[:, 0] ^ rows[:, 2]
    assert greedy_order(rows, labels, 4, "cmim") == (0, 2, 1, 3)
    assert greedy_order(rows, labels, 2, "jmi") == (0, 2)


@pytest.mark.parametrize("criterion", GREEDY)
def test_greedy_order_depends_on_neither_rows_nor_names(criterion):
    for seed, (codes, labels) in enumerate(tables()):
        rng = np.random.default_rng(seed)
        expected, shuffled = greedy_order(codes, labels, 4, criterion), rng.permutation(len(codes))
        assert greedy_order(codes[shuffled], labels[shuffled], 4, criterion) == expected
        renamed = np.column_stack([rng.permutation(50)[column] for column in codes.T])
        assert greedy_order(renamed, rng.permutation(9)[labels], 4, criterion) == expected
