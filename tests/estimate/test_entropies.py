"""Entropy of columns against its definition, on repeated rows."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from conftest import coded

from analogical import redundancies, relevance
from analogical.estimate.dependencies import explained_by_chance, remaining_entropies


def entropy(sizes):
    return sum(-n / sum(sizes) * math.log(n / sum(sizes)) for n in sizes if n)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_entropy_that_remains_given_another_column(is_weighted):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, [3, 4, 2, 1], (90, 4))
    codes[:40, 2] = codes[:40, 0] % 2
    weights = rng.integers(0, 4, 90) if is_weighted else np.ones(90, int)
    found = remaining_entropies(
        coded(codes, np.zeros(90), weights if is_weighted else None), codes[:, 0].astype(np.uint8)
    )
    repeated = np.repeat(codes, weights, axis=0).tolist()
    known = entropy(list(Counter(row[0] for row in repeated).values()))
    for feature in (0, 1, 2):
        whole = entropy(list(Counter(row[feature] for row in repeated).values()))
        together = entropy(list(Counter((row[0], row[feature]) for row in repeated).values()))
        assert found[feature] == pytest.approx((together - known) / whole, abs=1e-12)
    assert found[3] == 1  # a constant column
    sizes = list(Counter(row[1] for row in repeated).values())
    by_chance = explained_by_chance(coded(codes, np.zeros(90), weights), 1, 3)
    assert by_chance == pytest.approx((4 - 1) * (3 - 1) / (2 * sum(sizes) * entropy(sizes)))


def test_columns_that_are_missing_together_leave_the_entropy_of_what_they_hold():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, [3, 3, 3], (500, 3))
    codes[:, 2] = codes[:, 0]
    codes[:450] = 3  # missing cells have the last code
    rows = coded(codes, np.zeros(500))
    shares = {}
    for has_missing in (None, np.ones(3, bool)):
        shares[has_missing is None] = remaining_entropies(replace(rows, has_missing=has_missing), rows.codes[:, 0])
    assert shares[True][1] < 0.25  # of all rows
    table = [Counter((a, b) for a, b, _ in codes[450:].tolist()), Counter(codes[450:, 0]), Counter(codes[450:, 1])]
    together, alone, whole = (entropy(list(sizes.values())) for sizes in table)
    assert shares[False][1] == pytest.approx((together - alone) / whole)
    assert shares[False][2] == pytest.approx(0, abs=1e-12)  # a copy


def test_a_column_that_tells_only_what_is_missing_leaves_what_it_left():
    gaps = np.repeat([0, 1], 30)
    rows = replace(coded(np.stack([gaps, gaps[::-1]]).T, np.zeros(60)), has_missing=np.array([True, True]))
    assert remaining_entropies(rows, rows.codes[:, 1]).tolist() == pytest.approx([0, 0], abs=1e-12)


def test_columns_that_are_missing_together_are_neither_near_copies_nor_the_same():
    rng = np.random.default_rng(0)
    known = rng.random(2_000) < 0.5
    words = np.where(rng.random((2_000, 2)) < 0.015, "high", "low")  # they vary little
    numbers = np.where(known & (rng.random(2_000) < 0.04), rng.normal(size=(2, 2_000)), np.nan)
    frame = pl.DataFrame({"a": words[:, 0], "b": words[:, 1], "known": known})
    frame = frame.select(pl.when("known").then(pl.col("a", "b")))
    label = rng.random(2_000) < np.where(known, 0.8, 0.2)
    assert relevance(frame, label).same_as == (None, None)
    assert {*relevance(frame.with_columns(b=pl.col("a") + "er"), label).same_as} == {"a", None}
    assert redundancies(frame).near_copies == ()
    assert redundancies(pl.DataFrame({"a": numbers[0], "b": numbers[1]}).fill_nan(None)).near_copies == ()
