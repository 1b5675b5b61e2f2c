"""Entropy of columns against its definition, on repeated rows."""

import math
from collections import Counter

import numpy as np
import pytest
from conftest import coded

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
