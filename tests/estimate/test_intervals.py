"""Intervals and noise floor, against loops that delete rows and numbers worked out by hand."""

import numpy as np
import pytest
from conftest import coded, random_table
from hypothesis import given
from hypothesis import strategies as st
from naive import naive_counts, naive_jackknife, naive_kish, naive_pair_variance, naive_share

from analogical.count.contexts import RowProfile
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import (
    corrected_variance,
    jackknife_variance,
    share_interval,
    share_variance,
    student_quantile,
    wilson,
)

NORMAL_95 = 1.959963984540054


def profile(*entries):
    """A profile from (pairs, changed, rows) of each kind of row."""
    return RowProfile(*np.array(entries, np.int64).T)


def lists(rows, labels):
    return [tuple(row) for row in np.asarray(rows).tolist()], np.asarray(labels).tolist()


def small_table(rng, **shape):
    rows, labels = random_table(rng, **{"n_features": 3, "n_values": 3, "n_rows": 14} | shape)
    rows[0, 0], rows[-1, 0] = 0, 1
    return rows, labels


def profiles_of(table):
    """Rows by their number of pairs, for every feature; None without pairs."""
    return [contexts.profile if len(contexts) else None for contexts in find_contexts(table)]


def intervals(rows, labels, weights=None, confidence=0.95):
    """Share of changed pairs, standard error and interval of every feature; None without pairs."""
    table = coded(np.asarray(rows), labels, weights)
    found = profiles_of(table)
    return [
        None
        if one is None
        else (
            one.n_changed / one.n_pairs,
            share_variance(one, table.n_rows) ** 0.5,
            *share_interval(one, table.n_rows, confidence),
        )
        for one in found
    ]


@pytest.mark.parametrize("seed", range(25))
def test_jackknife_equals_deleting_one_row_at_a_time(seed):
    rows, labels = small_table(np.random.default_rng(seed))
    plain = lists(rows, labels)
    expected = naive_counts(*plain)
    found = profiles_of(coded(rows, labels))
    for i, rows_of in enumerate(found):
        assert (rows_of is None) == (expected["pairs"][i] == 0)
        if rows_of is not None:
            n_pairs, n_changed = rows_of.n_pairs, rows_of.n_changed
            assert (n_pairs, n_changed) == (expected["pairs"][i], expected["changed"][i])
            got = jackknife_variance(n_pairs, n_changed, rows_of.pairs, rows_of.changed, rows_of.rows, len(rows))
            assert got == pytest.approx(naive_jackknife(*plain, i), abs=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_standard_error_takes_out_what_pairs_count_twice(seed):
    rows, labels = small_table(np.random.default_rng(seed))
    for i, found in enumerate(intervals(rows, labels)):
        if found is not None:
            share, std_error, low, high = found
            jackknife = naive_jackknife(*lists(rows, labels), i)
            variance = jackknife - naive_pair_variance(*lists(rows, labels), i)
            assert std_error == pytest.approx(max(variance, jackknife / 2) ** 0.5, abs=1e-9)
            assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_is_so_many_independent_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = small_table(rng)
    weights = rng.integers(0, 4, size=len(rows))
    weights[[0, -1]] = 1, 2
    weighted = intervals(rows, labels, weights)
    expanded = intervals(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    for one, other in zip(weighted, expanded, strict=True):
        assert (one is None) == (other is None)
        assert one is None or one == pytest.approx(other, rel=1e-9, abs=1e-12)


def test_one_changed_pair_says_little():
    one, other = intervals([(0, 0), (1, 0), (1, 1)], [0, 1, 1])
    assert (one[0], one[2], one[3]) == (1.0, pytest.approx(0.2065, abs=1e-4), 1.0)
    assert (other[0], other[2], other[3]) == (0.0, 0.0, pytest.approx(0.7935, abs=1e-4))


def test_pairs_without_rows_in_common_are_independent():
    """One pair per context: the interval is Wilson's on the pairs themselves."""
    n = 40
    rows = [(value, context) for context in range(n) for value in (0, 1)]
    labels = [int(value and context < 10) for context in range(n) for value in (0, 1)]
    assert intervals(rows, labels)[0][2:] == pytest.approx(wilson(0.25, 40, NORMAL_95), abs=0.01)


def test_rows_not_pairs_are_counted():
    """100 rows make 2,500 pairs; the interval must not shrink as if these were independent."""
    share, _, low, high = intervals([(r % 2,) for r in range(100)], [int(r < 5) for r in range(100)])[0]
    as_if_low, as_if_high = wilson(share, 2500, NORMAL_95)
    assert high - low > 3 * (as_if_high - as_if_low)


def test_higher_confidence_gives_wider_intervals():
    rows, labels = small_table(np.random.default_rng(1))
    for narrow, wide in zip(*(intervals(rows, labels, confidence=level) for level in (0.5, 0.99)), strict=True):
        assert narrow[3] - narrow[2] < wide[3] - wide[2]


tables = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


@given(tables, st.permutations(range(3)), st.permutations(range(3)))
def test_renaming_values_and_labels_changes_nothing(table, values, classes):
    rows, labels = table
    rows, labels = [*rows, (0, 0), (1, 0)], [*labels, 0, 1]
    plain = intervals(rows, labels)
    renamed = intervals([(values[a], 1 - b) for a, b in rows], [classes[label] for label in labels])
    for one, other in zip(plain, renamed, strict=True):
        assert one is None or one == pytest.approx(other, rel=1e-7, abs=1e-9)


# ---------------------------------------------------------------- numbers worked out by hand


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [
        # z^2 = 3.841459: (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
        (0.0, 10, 0.0, 3.8414588 / 13.8414588),
        (1.0, 10, 10 / 13.8414588, 1.0),
        (0.3, 10, 0.1077913, 0.6032219),
        (0.5, 4, 0.1500390, 0.8499610),
        (0.0, 2.5, 0.0, 3.8414588 / 6.3414588),
    ],
)
def test_wilson_in_numbers(share, n, low, high):
    assert wilson(share, n, NORMAL_95) == pytest.approx((low, high), abs=1e-6)


def test_wilson_ends_at_0_and_1_without_rounding():
    for n in (0.37, 1, 2.5, 7, 10, 123.4, 10**6):
        for quantile in (0.5, 1.0, NORMAL_95, 3.3):
            assert wilson(0.0, n, quantile)[0] == 0
            assert wilson(1.0, n, quantile)[1] == 1
            for share in (1e-12, 0.3, 1 - 1e-12):
                low, high = wilson(share, n, quantile)
                assert 0 <= low <= high <= 1


def test_wilson_is_scipys():
    from scipy.stats import binomtest, norm

    for changed, n in ((0, 5), (3, 7), (20, 30), (9, 9)):
        for level in (0.5, 0.95, 0.999):
            expected = binomtest(changed, n).proportion_ci(level, method="wilson")
            assert wilson(changed / n, n, norm.ppf((1 + level) / 2)) == pytest.approx((expected.low, expected.high))


def test_corrected_variance_stays_between_half_and_all():
    assert corrected_variance(4.0, 1.0) == 3.0
    assert corrected_variance(4.0, 2.0) == 2.0
    assert corrected_variance(4.0, 3.0) == 2.0
    assert corrected_variance(4.0, 0.0) == 4.0
    assert corrected_variance(4.0, -1.0) == 4.0
    assert corrected_variance(0.0, 0.0) == 0.0


def test_jackknife_in_numbers():
    """Two pairs apart, one of them changed, and a row that sits in no pair.

    Without a row of the changed pair the index is 0, without one of the other 1, without the fifth row 1/2:
    4/5 of the sum of four squares of 1/2.
    """
    kinds = profile((1, 1, 2), (1, 0, 2))
    assert jackknife_variance(2, 1, kinds.pairs, kinds.changed, kinds.rows, 5) == pytest.approx(4 / 5 * 1.0)
    # less the variance of single pairs, 1/4 over 2
    assert share_variance(kinds, 5) == pytest.approx(0.8 - 0.125)
    # 1/4 over 0.675 pairs in effect; four rows with equal pulls: t with four degrees of freedom
    assert share_interval(kinds, 5, 0.95) == pytest.approx(wilson(0.5, 0.25 / 0.675, 2.7764451))


@pytest.mark.parametrize(("changed", "low", "high"), [(0, 0.0, 3.8414588 / 5.4414588), (1, 1.6 / 5.4414588, 1.0)])
def test_kishs_number_stands_for_pairs_where_all_pairs_agree(changed, low, high):
    """A star of one row and four others: 2 * 4^2 / (4^2 + 4) = 1.6 pairs."""
    star = profile((4, 4 * changed, 1), (1, changed, 4))
    assert share_interval(star, 100, 0.95) == pytest.approx((low, high), abs=1e-6)


def test_no_more_pairs_stand_in_the_interval_than_there_are():
    one_pair = profile((1, 0, 2))
    assert share_interval(one_pair, 2, 0.95) == pytest.approx((0.0, 3.8414588 / 4.8414588), abs=1e-6)
    even = profile((10, 5, 98), (10, 4, 1), (10, 6, 1))  # rows so alike that the jackknife claims 60,000 pairs
    # two rows carry the variance: Student's t with three degrees of freedom, the fewest
    assert share_interval(even, 100, 0.95) == pytest.approx(wilson(0.5, 500, 3.1824463))


def test_row_in_every_pair_changes_nothing():
    """A star: one row of a against four of b. Without the one there is no pair left."""
    rows, labels = [(0,), (1,), (1,), (1,), (1,)], [0, 0, 0, 1, 1]
    assert naive_share(rows[1:], labels[1:], 0) is None
    jackknife = naive_jackknife(rows, labels, 0)
    # without a row of b the index moves by 1/6: 4/5 of four times its square
    assert jackknife == pytest.approx(4 / 5 * 4 / 36)
    expected = max(jackknife - 0.25 / 4, jackknife / 2)
    assert intervals(rows, labels)[0][1] == pytest.approx(expected**0.5)


@pytest.mark.parametrize("n_rows", [4, 48, 50, 100, 202, 230])
def test_rows_that_are_all_alike_have_no_variance_whatever_the_rounding(n_rows):
    """Every row has its own value and half of them each label, so all sit in as many changed pairs."""
    share, std_error, low, high = intervals([(r,) for r in range(n_rows)], [r % 2 for r in range(n_rows)])[0]
    assert std_error == pytest.approx(0, abs=1e-9)
    assert (low, high) == pytest.approx(wilson(share, n_rows / 2, NORMAL_95))


def test_student_quantile_is_scipys_below_30_degrees_of_freedom_and_normal_beyond():
    from scipy.stats import norm, t

    equal = np.ones(1)
    for n, freedom in ((1, 3), (2, 3), (3, 3), (4, 4), (12, 12), (29, 29)):
        for level in (0.5, 0.95, 0.999):
            assert student_quantile(equal, np.array([n]), level) == pytest.approx(t.ppf((1 + level) / 2, freedom))
    for n in (30, 31, 1000):
        assert student_quantile(equal, np.array([n]), 0.95) == pytest.approx(norm.ppf(0.975))
    assert student_quantile(np.zeros(3), np.ones(3, np.int64), 0.95) == pytest.approx(norm.ppf(0.975))


def test_freedom_counts_rows_by_the_squares_of_their_pulls():
    from scipy.stats import t

    pulls, rows = np.array([2.0, -1.0, 0.0]), np.array([3, 10, 500])
    freedom = (3 * 4 + 10) ** 2 / (3 * 16 + 10)
    assert student_quantile(pulls, rows, 0.9) == pytest.approx(t.ppf(0.95, freedom))
    assert student_quantile(-7 * pulls, rows, 0.9) == pytest.approx(t.ppf(0.95, freedom))


@pytest.mark.parametrize("seed", range(8))
def test_effective_rows_are_kishs_number_of_the_loops(seed):
    rows, labels = small_table(np.random.default_rng(seed))
    found = profiles_of(coded(rows, labels))
    for i, one in enumerate(found):
        n_effective = 0.0 if one is None else one.n_effective
        assert n_effective == pytest.approx(naive_kish(*lists(rows, labels), i))


def test_few_effective_pairs_cap_what_the_variance_claims():
    """Two hubs in 20 pairs each: the pairs of one differ a little, and Kish's number is below 30."""
    hubs = profile((20, 10, 2), (1, 1, 20), (1, 0, 20))
    assert hubs.n_effective == pytest.approx(2 * 40**2 / (2 * 400 + 40))
    low, high = share_interval(hubs, 1000, 0.95)
    pulls, rows = np.array([0.0, -0.5, 0.5]), hubs.rows
    assert 0.25 / share_variance(hubs, 1000) > hubs.n_effective
    assert (low, high) == pytest.approx(wilson(0.5, hubs.n_effective, student_quantile(pulls, rows, 0.95)))


# ---------------------------------------------------------------- ends


def test_a_share_that_is_rounded_to_one_has_an_interval():
    almost_all = profile((2**30, 2**30, 2**30), (2**30, 2**30 - 1, 2))
    assert almost_all.n_changed / almost_all.n_pairs == 1.0
    low, high = share_interval(almost_all, 2**30 + 2, 0.95)
    assert 0 <= low < high == 1.0
