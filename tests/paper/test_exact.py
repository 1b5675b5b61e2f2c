"""Exact values of whole universes, and what uniform samples of them must show."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from naive import naive_ari

from analogical import InputError
from analogical.paper import FUNCTIONS, expectation, no_pair_probability, sample_rows, universe, universe_index
from analogical.rivals import paper_index

BINARY = {
    "g1": ["3/4", "1/4", "1/4"],
    "g2": ["1", "1"],
    "g3": ["1", "1", "1"],
    "g4": ["15/64"] * 10,
    "g5": ["7/32"] * 6,
    "g6": ["3/4", "1/4", "1/4"],
    "g7": ["3/4"] * 3,
    "g8": [f"{k}/512" for k in (136, 132, 132, 146, 134, 132, 130, 130, 134, 170)],
}
TERNARY = {
    "g1": [0.592593, 0.148148, 0.148148],
    "g2": [2 / 3] * 2,
    "g3": [2 / 3] * 3,
    "g5": [0.068587] * 3 + [0.142661, 0.071331, 0.142661],
    "g6": [0.518519, 0.296296, 0.148148],
    "g7": [4 / 9] * 3,
}
SMALL = [
    ("g1", 3, 2, 3),
    ("g1", 4, 2, 5),
    ("g7", 3, 2, 5),
    ("g8", 3, 2, 2),
    ("g4", 2, 3, 4),
    ("g8", 2, 3, 5),
    ("g2", 2, 3, 7),
]


@pytest.mark.parametrize("function", BINARY)
def test_binary_universe_has_the_exact_index(function):
    known = [Fraction(text) for text in BINARY[function]]
    assert list(universe_index(function, 10, 2)) == known + [Fraction(0)] * (10 - len(known))


@pytest.mark.parametrize("function", TERNARY)
def test_ternary_universe_has_the_exact_index(function):
    known = TERNARY[function] + [0] * (15 - len(TERNARY[function]))
    assert [float(p) for p in universe_index(function, 15, 3)] == pytest.approx(known, abs=5e-7)


def test_ternary_sum_is_three_follows_from_counting_contexts():
    # The label changes with a value v of a feature exactly if the 14 others add up to 3 - v for some v in 0, 1, 2.
    ways = [0, 0, 0, 0]  # of the 14 other features to add up to 0..3
    for twos in range(2):
        for ones in range(4 - 2 * twos):
            ways[ones + 2 * twos] += comb(14, twos) * comb(14 - twos, ones)
    changed = 2 * sum(ways[s] for s in (1, 2, 3))
    assert set(universe_index("g4", 15, 3)) == {Fraction(changed, 3 * 3**14)}


def test_ternary_primes_have_the_exact_index():
    index = [float(p) for p in universe_index("g8", 15, 3)]
    assert index[-1] == pytest.approx(0.129394, abs=5e-7)
    assert all(0.1123 < p < 0.1134 for p in index[:-1])


@pytest.mark.parametrize(("function", "n_features", "n_values"), [("g1", 4, 3), ("g8", 5, 2), ("g7", 3, 4)])
def test_universe_index_is_the_index_of_all_rows(function, n_features, n_values):
    rows = universe(n_features, n_values)
    labels = FUNCTIONS[function](rows)
    expected = [naive_ari(rows.tolist(), labels.tolist(), i) for i in range(n_features)]
    assert [float(p) for p in universe_index(function, n_features, n_values)] == pytest.approx(expected)


@pytest.mark.parametrize(("function", "n_features", "n_values", "n_rows"), SMALL)
def test_mean_and_spread_are_exact_over_all_samples(function, n_features, n_values, n_rows):
    rows = universe(n_features, n_values)
    labels = FUNCTIONS[function](rows)
    samples = [list(chosen) for chosen in combinations(range(len(rows)), n_rows)]
    ari = np.array([paper_index(rows[chosen], labels[chosen]) for chosen in samples])
    is_constant = np.array([np.ptp(rows[chosen], axis=0) == 0 for chosen in samples])
    score = np.where(is_constant | (ari == 2), np.nan, ari)  # no pair
    known = expectation(function, n_features, n_values, n_rows)
    np.testing.assert_allclose(ari.mean(axis=0), known.mean)
    np.testing.assert_allclose(ari.std(axis=0), known.sd, atol=1e-9)
    # E[ARI | a pair exists] is the index on the universe.
    np.testing.assert_allclose(np.nanmean(score, axis=0), known.index)
    np.testing.assert_allclose(np.isnan(score).mean(axis=0), known.no_pair)


@pytest.mark.parametrize(
    ("n_rows", "probability"),
    [(400, 0.98894), (500, 0.98276), (1000, 0.93274), (2000, 0.75678), (5000, 0.17504), (10_000, 0.000935)],
)
def test_chance_of_no_pair_in_the_large_universe(n_rows, probability):
    assert no_pair_probability(15, 3, n_rows) == pytest.approx(probability, abs=6e-6)


def test_more_rows_than_contexts_always_have_a_pair():
    assert no_pair_probability(3, 2, 5) == 0
    assert expectation("g1", 3, 2, 8).sd.max() == pytest.approx(0)


def test_averages_of_samples_lie_within_three_standard_errors():
    rng = np.random.default_rng(5)
    known = expectation("g8", 10, 2, 60)
    runs = []
    for _ in range(400):
        rows = sample_rows(10, 2, 60, rng)
        runs.append(paper_index(rows, FUNCTIONS["g8"](rows)))
    z = (np.mean(runs, axis=0) - known.mean) / (known.sd / np.sqrt(len(runs)))
    assert np.abs(z).max() < 3.5


def test_what_cannot_be_known_exactly_is_refused():
    with pytest.raises(InputError, match=r"known for 2 or 3 values per feature, got 4\."):
        expectation("g1", 5, 4, 10)
    with pytest.raises(InputError, match=r"There is no function 'g9'; choose from g1, g2"):
        universe_index("g9", 5, 2)
    with pytest.raises(InputError, match=r"g5 needs at least 6 features, got 4\."):
        universe_index("g5", 4, 2)
    with pytest.raises(
        InputError, match=r"needs 847,288,609,443 rows; only up to 67,108,864 are enumerated\. Estimate"
    ):
        universe_index("g8", 25, 3)


def test_irrelevant_features_cost_nothing():
    assert universe_index("g2", 300, 3)[:3] == (Fraction(2, 3), Fraction(2, 3), Fraction(0))
