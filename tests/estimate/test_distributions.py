"""Exact laws of sums over contexts, against scipy and against all outcomes."""

import sys
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom, nchypergeom_fisher

from analogical.estimate.permutations import Distribution, distribution_of_contexts, hypergeometric


@st.composite
def margins(draw, largest=40):
    n = draw(st.integers(2, largest))
    return n, draw(st.integers(1, n - 1)), draw(st.integers(1, n - 1))


@given(margins(), st.floats(0.05, 20))
def test_a_context_has_fishers_noncentral_law(margin, odds):
    n, a, b = margin
    law = hypergeometric(n, a, b, odds)
    x = law.lowest + np.arange(len(law.chances))
    assert law.chances == pytest.approx(nchypergeom_fisher(n, a, b, odds).pmf(x), rel=1e-6)
    assert law.moments() == pytest.approx(nchypergeom_fisher(n, a, b, odds).stats("mv"), rel=1e-6, abs=1e-9)


@given(st.lists(st.tuples(margins(6), st.integers(1, 3)), min_size=1, max_size=3))
def test_sums_have_the_law_of_all_outcomes(contexts):
    law = distribution_of_contexts(*(np.array(x) for x in zip(*[(*m, times) for m, times in contexts], strict=True)))
    expected = {0: 1.0}
    for margin, times in contexts:
        for _ in range(times):
            expected = plus_one_context(expected, *margin)
    assert {law.lowest + i: c for i, c in enumerate(law.chances.tolist())} == pytest.approx(expected)


def plus_one_context(chances, n, a, b):
    """The chances of each sum after one more context, outcome by outcome."""
    found = {}
    for (total, chance), x in product(chances.items(), range(max(0, a + b - n), min(a, b) + 1)):
        found[total + x] = found.get(total + x, 0.0) + chance * comb(a, x) * comb(n - a, b - x) / comb(n, b)
    return found


@given(margins())
def test_two_sided_p_values_are_those_of_fishers_test(margin):
    n, a, b = margin
    law = hypergeometric(n, a, b)
    for x in range(max(0, a + b - n), min(a, b) + 1):
        found = law.p_value(x)
        assert found.p == pytest.approx(fisher_exact([[x, a - x], [b - x, n - a - b + x]]).pvalue, rel=1e-6)
        assert found.p >= found.smallest > 0


def test_contexts_of_one_value_or_label_are_sure():
    law = distribution_of_contexts(*(np.array(x) for x in ([4, 5, 3], [4, 2, 0], [1, 5, 2], [1, 2, 7])))
    assert (law.lowest, law.chances.tolist()) == (1 + 2 * 2, [1.0])


def test_outcomes_of_a_large_context_that_are_equally_likely_count_alike():
    """Half of the rows have the value: 10 more and 10 less are equally likely, also among 10^9 rows."""
    n = 10**9
    law = hypergeometric(n, n // 2, 1000)
    assert law.p_value(510).p == pytest.approx(law.p_value(490).p, rel=1e-12)
    assert law.p_value(510).p == pytest.approx(hypergeom(n, n // 2, 1000).cdf(490) * 2, rel=1e-3)


def test_far_tails_keep_their_digits_and_no_p_value_is_zero():
    law = hypergeometric(2000, 60, 60)
    assert law.p_value(60).p == pytest.approx(hypergeom(2000, 60, 60).pmf(60), rel=1e-6)
    assert law.p_value(60).p < 1e-100
    assert Distribution(0, np.array([1.0])).p_value(7).p == sys.float_info.min


def test_many_equal_contexts_are_added_by_squaring():
    one = hypergeometric(3, 1, 1)
    law = one.times(37)
    expected = np.ones(1)
    for _ in range(37):
        expected = np.convolve(expected, one.chances)
    assert law.chances == pytest.approx(expected)
