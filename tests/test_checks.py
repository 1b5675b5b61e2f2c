"""Arguments: what is accepted, and one sentence for what is not."""

import numpy as np
import pytest

from analogical import InputError, relevance
from analogical._checks import (
    check_choice,
    check_confidence,
    check_limit,
    check_number,
    check_whole,
    is_whole,
    seed_from,
)


def wide_table():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (80, 12))
    return rows, rows[:, 0] ^ rows[:, 1]


def test_a_numpy_random_state_is_a_seed():
    one, other = (seed_from(np.random.RandomState(0)) for _ in range(2))
    assert one == other
    assert 0 <= one < 2**32


def test_a_random_state_moves_on_and_no_seed_draws_anew():
    state = np.random.RandomState(0)
    assert seed_from(state) != seed_from(state)
    assert seed_from(None) is None
    assert (seed_from(0), seed_from(np.int64(7)), seed_from(2**32 - 1)) == (0, 7, 2**32 - 1)


@pytest.mark.parametrize("seed", ["x", -1, 1.5, True, 2**32, np.random.default_rng(0)])
def test_other_seeds_are_refused(seed):
    message = (
        r"random_state must be a whole number from 0 to 4294967295, a numpy RandomState or None"
        r" \(a new seed each time\), got "
    )
    with pytest.raises(InputError, match=message):
        seed_from(seed)


def test_auto_is_what_is_given_by_default():
    rows, labels = wide_table()
    assert relevance(rows, labels) == relevance(rows, labels, given="auto")


def test_the_level_of_intervals_is_between_0_and_1():
    assert check_confidence(0.9) == 0.9
    for level in (None, 0, 1, 95, True, "high"):
        with pytest.raises(InputError, match=r"confidence must be a number between 0 and 1, such as 0\.95, got"):
            check_confidence(level)


def test_whole_numbers_are_not_true_or_false():
    assert is_whole(3)
    assert is_whole(np.uint8(3))
    assert not any(map(is_whole, (True, 3.0, "3", None)))
    assert check_whole("n", np.int64(5), low=0) == 5
    assert check_limit(None) is None
    assert check_limit(0) == 0
    with pytest.raises(InputError, match="limit must be a whole number from 0, or None for all pairs, got -1"):
        check_limit(-1)


def test_shares_lie_between_0_and_1_and_on_them_only_on_request():
    assert check_number("x", 0.5, expected="a share") == 0.5
    assert check_number("x", 1, expected="a share", ends=True) == 1.0
    for value in (0, 1, True, "a", float("nan")):
        with pytest.raises(InputError, match="x must be a share, got"):
            check_number("x", value, expected="a share")


def test_choices_are_named():
    check_choice("x", "b", ("a", "b", "c"))
    for value in ("d", 1, ["a"]):
        with pytest.raises(InputError, match='x must be "a", "b" or "c", got'):
            check_choice("x", value, ("a", "b", "c"))
