"""The functions of the paper, and samples of their universes."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from analogical import InputError, relevance
from analogical.paper import FUNCTIONS, sample, sample_rows, universe
from analogical.paper.functions import is_prime


@pytest.mark.parametrize(
    ("name", "ari"),
    [
        ("g1", ["3/4", "1/4", "1/4", *["0"] * 7]),
        ("g2", ["1", "1", *["0"] * 8]),
        ("g3", ["1", "1", "1", *["0"] * 7]),
        ("g4", ["15/64"] * 10),
        ("g5", ["7/32"] * 6 + ["0"] * 4),
        ("g6", ["3/4", "1/4", "1/4", *["0"] * 7]),
        ("g7", ["3/4"] * 3 + ["0"] * 7),
        ("g8", [f"{n}/512" for n in (136, 132, 132, 146, 134, 132, 130, 130, 134, 170)]),
    ],
)
def test_binary_universe_of_ten_features(name, ari):
    X, y = sample(name, n_features=10)
    result = relevance(X, y)
    found = [Fraction(int(c), int(p)) for c, p in zip(result.changed, result.pairs, strict=True)]
    assert found == [Fraction(value) for value in ari]


def by_hand(name, x):
    """The functions once more, one row at a time, from the paper's formulas."""
    zero = [v == 0 for v in x]
    match name:
        case "g1":
            return not zero[0] and (not zero[1] or not zero[2])
        case "g2":
            return zero[0] != zero[1]
        case "g3":
            return (zero[0] != zero[1]) != (not zero[2])
        case "g4":
            return sum(x) == 3
        case "g5":
            return not all(zero[:3]) and (not zero[3] or zero[4] or not zero[5])
        case "g6":
            return not zero[0] and (not zero[1] or zero[2])
        case "g7":
            return sum(x[:3]) == 2
        case "g8":
            number = sum(2 ** (len(x) - 1 - i) * v for i, v in enumerate(x))
            return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("n_features", "n_values"), [(6, 2), (6, 3), (7, 2)])
def test_functions_equal_their_formula(name, n_features, n_values):
    rows = list(product(range(n_values), repeat=n_features))
    X, y = sample(name, n_features, n_values)
    assert [tuple(row) for row in X.tolist()] == rows
    assert y.tolist() == [int(by_hand(name, row)) for row in rows]


def test_primes_are_those_of_trial_division():
    numbers = np.arange(3_000)
    by_division = [n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in numbers.tolist()]
    assert is_prime(numbers).tolist() == by_division
    assert is_prime(np.array([0])).tolist() == [False]


@pytest.mark.parametrize(
    ("n_features", "n_values", "n_rows"), [(3, 2, 8), (3, 2, 1), (10, 3, 200), (60, 3, 500), (15, 3, 400)]
)
def test_samples_are_distinct_rows_of_the_universe(n_features, n_values, n_rows):
    rows = sample_rows(n_features, n_values, n_rows, np.random.default_rng(0))
    assert rows.shape == (n_rows, n_features)
    assert len({tuple(row) for row in rows.tolist()}) == n_rows
    assert rows.max() < n_values


@pytest.mark.parametrize(("n_features", "n_rows"), [(4, 3), (6, 3)])  # by positions, and by drawing again
def test_samples_are_uniform(n_features, n_rows):
    rng = np.random.default_rng(1)
    n_draws, size = 4_000, 2**n_features
    seen = np.zeros(size)
    for _ in range(n_draws):
        seen[sample_rows(n_features, 2, n_rows, rng) @ (1 << np.arange(n_features))] += 1
    share = n_rows / size
    z = (seen - n_draws * share) / np.sqrt(n_draws * share * (1 - share))
    assert np.abs(z).max() < 4.5


def test_the_same_seed_draws_the_same_rows():
    assert (sample("g1", 20, 3, 50, seed=7)[0] == sample("g1", 20, 3, 50, seed=7)[0]).all()
    assert (sample("g1", 20, 3, 50, seed=7)[0] != sample("g1", 20, 3, 50, seed=8)[0]).any()


def test_relevant_features_of_the_functions():
    assert FUNCTIONS["g5"].relevant(10) == (0, 1, 2, 3, 4, 5)
    assert FUNCTIONS["g8"].relevant(10) == tuple(range(10))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample("g9", 5), "no function 'g9'; choose from g1, g2"),
        (
            lambda: sample("g8", 30, 2, 5, seed=0),
            "g8 tests numbers up to 67,108,864, and rows of 30 features reach 1,073,741,823; use fewer features",
        ),
        (lambda: sample("g5", 5), "g5 needs at least 6 features, got 5"),
        (lambda: universe(40, 3), "has 12,157,665,459,056,928,801 rows; only up to 67,108,864 are enumerated"),
        (lambda: universe(0, 2), "features must be a whole number from 1, got 0"),
        (lambda: universe(2, 1), "values must be a whole number from 2 to 256, got 1"),
        (lambda: sample("g1", 3, 2, 9), "rows must be a whole number from 1 to 8 .* got 9"),
        (lambda: sample("g1", 3, 2, 0), "from 1 to 8"),
    ],
)
def test_impossible_samples_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
