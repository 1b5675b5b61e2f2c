"""The word for a feature at every border between two words, and the order of features."""

import math

import numpy as np
import pytest

from analogical.estimate.status import decide_status, largest_negligible, order_features

LEVEL, NEGLIGIBLE = 0.05, 0.013


def word(*, is_constant=False, is_copy=False, p_adjusted=0.001, high=0.3):
    return decide_status(
        is_constant=is_constant, is_copy=is_copy, p_adjusted=p_adjusted, high=high, level=LEVEL, negligible=NEGLIGIBLE
    )


def test_an_effect_is_significant_up_to_the_level():
    assert word(p_adjusted=LEVEL) == "effect"
    assert word(p_adjusted=math.nextafter(LEVEL, 1)) == "unclear"
    assert word(p_adjusted=0.0) == "effect"
    assert word(p_adjusted=0.001, high=0.01) == "effect"


def test_a_feature_whose_interval_ends_low_has_none():
    assert word(p_adjusted=0.5, high=NEGLIGIBLE) == "none"
    assert word(p_adjusted=0.5, high=math.nextafter(NEGLIGIBLE, 1)) == "unclear"


def test_what_is_negligible_is_a_share_of_how_often_two_labels_differ():
    """Two classes of half the rows differ in half of all pairs: 14 points, whose square is .02; 5 % in 9.5 %."""
    assert largest_negligible(np.array([50, 50])) == pytest.approx(0.02)
    assert largest_negligible(np.array([19, 1])) == pytest.approx(0.04 * 0.095)
    assert largest_negligible(np.array([1, 1, 1, 1])) == pytest.approx(0.04 * 0.75)


def test_where_nothing_is_known_it_is_unclear():
    assert word(p_adjusted=math.nan, high=math.nan) == "unclear"
    assert word(p_adjusted=math.nan, high=0.3) == "unclear"


def test_constant_comes_before_copy_and_copy_before_every_number():
    assert word(is_constant=True) == "constant"
    assert word(is_constant=True, is_copy=True) == "constant"
    assert word(is_copy=True) == "same"
    assert word(is_copy=True, p_adjusted=0.5, high=0.01) == "same"
    assert word(is_constant=True, p_adjusted=math.nan, high=math.nan) == "constant"


def order(*features):
    """Positions of features that are given as word, effect and p-value."""
    words, effects, p_values = zip(*features, strict=True)
    return order_features(words, np.array(effects, float), np.array(p_values, float)).tolist()


def test_words_come_in_their_order_whatever_the_numbers():
    features = [
        ("constant", math.nan, math.nan),
        ("same", math.nan, math.nan),
        ("none", 0.9, 0.0001),
        ("unclear", 0.8, 0.0002),
        ("effect", 0.01, 0.04),
    ]
    assert order(*features) == [4, 3, 2, 1, 0]
    assert order(*features[::-1]) == [0, 1, 2, 3, 4]


def test_effects_are_ordered_by_size_then_by_p_value_then_by_column():
    assert order(("effect", 0.1, 0.001), ("effect", 0.3, 0.04), ("effect", 0.2, 0.01)) == [1, 2, 0]
    assert order(("effect", 0.2, 0.03), ("effect", 0.2, 0.01), ("effect", 0.2, 0.01)) == [1, 2, 0]


@pytest.mark.parametrize("status", ["unclear", "none"])
def test_other_features_are_ordered_by_p_value_then_by_size_then_by_column(status):
    assert order((status, 0.3, 0.4), (status, 0.1, 0.2), (status, 0.2, 0.3)) == [1, 2, 0]
    assert order((status, 0.1, 0.2), (status, 0.3, 0.2), (status, 0.3, 0.2)) == [1, 2, 0]


def test_unknown_numbers_come_last():
    assert order(("unclear", 0.1, math.nan), ("unclear", math.nan, 0.9), ("unclear", 0.2, 0.5)) == [2, 1, 0]
    assert order(("unclear", math.nan, 1.0), ("unclear", 0.0, math.nan)) == [1, 0]  # no p-value counts as 1
    assert order(("effect", math.nan, 0.001), ("effect", 0.0, 0.04)) == [1, 0]


def test_copies_and_constant_features_keep_their_column_order():
    nothing = math.nan, math.nan
    assert order(("constant", *nothing), ("same", *nothing), ("constant", *nothing), ("same", *nothing)) == [1, 3, 0, 2]


def test_no_features_have_no_order():
    assert order_features((), np.array([]), np.array([])).tolist() == []
