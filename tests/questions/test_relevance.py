"""What `relevance` makes of tests and sizes: when a size is sure, and in which direction a feature acts."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from analogical import Study, ari_score, relevance


def two_features(n=200):
    """The label depends on the first feature and not on the second."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (n, 2))
    return rows, (rng.random(n) < 0.3 + 0.4 * rows[:, 0]).astype(int)


class Sized(Study):
    """A study whose sizes have some numbers that the test sets."""

    numbers = {}  # noqa: RUF012

    def sizes(self, items, confidence):
        for item, size in super().sizes(items, confidence):
            yield item, replace(size, **self.numbers)


def sized(**numbers):
    study = Sized(*two_features())
    study.numbers = numbers
    return relevance(study, given=[])


def test_the_interval_of_an_effect_begins_above_zero_only_if_it_is_significant():
    found = sized(effect=0.02, low=0.01, high=0.03)
    assert found.p_value[0] <= 0.05 < found.p_value[1]
    assert found.effect.tolist() == [0.02, 0.02]
    assert found.effect_low.tolist() == [0.01, 0.0]
    assert found.effect_high.tolist() == [0.03, 0.03]


def test_a_significant_effect_without_a_sure_size_has_that_of_the_common_difference():
    rows, y = two_features()
    common = (y[rows[:, 0] == 1].mean() - y[rows[:, 0] == 0].mean()) ** 2
    found = sized(effect=-0.001, low=0.0, high=1.0)
    assert found.effect.tolist() == [pytest.approx(common), 0.0]
    assert sized(effect=-0.001, low=0.0, high=0.001).effect.tolist() == [0.001, 0.0]
    assert sized(effect=0.4, low=0.0, high=0.001).effect_high.tolist() == [0.4, 0.4]


def test_a_number_is_compared_from_its_lowest_to_its_highest_bin_without_missing_cells():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = (rng.random(600) < 1 / (1 + np.exp(-2 * x))).astype(int)
    x[:60], y[:60] = np.nan, 1
    found = relevance(pd.DataFrame({"x": x}), y, given=[], bins=4)
    edges = np.quantile(x[60:], [0.25, 0.75])
    shares = y[60:][x[60:] <= edges[0]].mean(), y[60:][x[60:] > edges[1]].mean()
    assert found.direction[0].difference == pytest.approx(100 * (shares[1] - shares[0]), abs=1e-6)
    assert "missing" not in str(found.direction[0].value)


def test_a_category_is_compared_with_the_commonest_one_by_the_surest_difference():
    value = np.repeat(["common", "other", "rare"], [300, 200, 20])
    y = np.r_[np.arange(300) % 10 < 3, np.arange(200) % 10 < 7, np.arange(20) % 10 < 8].astype(int)
    found = relevance(pd.DataFrame({"v": value}), y, given=[]).direction[0]
    assert (found.value, found.against, found.label) == ("other", "common", 1)
    assert found.difference == pytest.approx(40)


def test_the_interval_of_a_difference_is_as_wide_as_the_level_asks():
    ends = {}
    for confidence in (0.8, 0.95):
        (found,) = (relevance(*two_features(), given=[], confidence=confidence).direction[0],)
        ends[confidence] = found.high - found.difference, found.difference - found.low
    for upper, lower in ends.values():
        assert upper == pytest.approx(lower, abs=1e-6)
    ratio = NormalDist().inv_cdf(0.975) / NormalDist().inv_cdf(0.9)
    assert ends[0.95][0] / ends[0.8][0] == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_no_difference_is_larger_than_100_points(sign):
    value = np.repeat(["common", "other"], [12, 8])
    labels = np.r_[np.arange(12) < 1, np.arange(8) < 7].astype(int)
    found = relevance(pd.DataFrame({"v": value}), labels if sign == 1 else 1 - labels, given=[]).direction[0]
    ends = (found.low, found.high) if sign == 1 else (-found.high, -found.low)
    assert found.difference == pytest.approx(sign * 100 * (7 / 8 - 1 / 12))
    assert 0 < ends[0] < ends[1] == 100


def test_ari_score_has_one_score_per_column_and_none_for_an_identifier():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 200))
    table = pd.DataFrame({"id": [f"c{k}" for k in range(200)], "a": a, "b": b})
    np.testing.assert_array_equal(ari_score(table, a ^ b), [np.nan, 1, 1])
    np.testing.assert_array_equal(ari_score(table, a), [np.nan, 1, 0])
