"""The all-else-equal audit, against loops over pairs, rows and deals of labels."""

import json
import math
import re
import tracemalloc
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import coded
from context_tables import tables_of
from hypothesis import given as drawn_from
from hypothesis import strategies as st
from naive import naive_deals, naive_direction
from saying import all_said
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, fisher_exact, hypergeom, norm, pearson3, ttest_ind, ttest_rel
from scipy.stats import t as student

import analogical
from analogical import InputError, audit
from analogical.count.pairs import find_contexts
from analogical.estimate import differences
from analogical.estimate.groups import group_p_value
from analogical.show.views import view_of

audit_all = partial(audit, given="all")


def random_rows(seed, n=9, n_values=2, n_labels=2):
    rng = np.random.default_rng(seed)
    rows = [(int(a), int(b)) for a, b in rng.integers(0, [n_values, 2], size=(n, 2))]
    labels = rng.integers(0, n_labels, size=n).tolist()
    return [(0, 0), (1, 0), *rows], [0, 1, *labels]


def conclusion(result):
    """The sentence about the direction."""
    return view_of(result).headline


def contexts_of(rows, labels, a, b, label):
    """For each context with both values: rows of a, rows of b, and how many of each have the label."""
    found = []
    for context in {row[1:] for row in rows}:
        of_a, of_b = (
            [y == label for row, y in zip(rows, labels, strict=True) if row[1:] == context and row[0] == value]
            for value in (a, b)
        )
        if of_a and of_b:
            found.append((len(of_a), len(of_b), sum(of_a), sum(of_b)))
    return found


def mantel_haenszel(contexts):
    """The difference in shares, b less a, in the textbook's form."""
    above = sum((b_with / b - a_with / a) * a * b / (a + b) for a, b, a_with, b_with in contexts)
    return above / sum(a * b / (a + b) for a, b, _, _ in contexts)


def as_arrays(contexts):
    return [*np.array(contexts).T, np.ones(len(contexts), np.int64)]


@pytest.mark.parametrize("seed", range(25))
def test_direction_and_test_equal_loops_over_pairs_and_deals(seed):
    rows, labels = random_rows(seed, n=5)
    (found,) = audit_all(rows, labels, 0).differences
    a, b = found.values
    gained, lost = naive_direction(rows, labels, 0, a, b, found.label)
    assert (found.gained, found.lost) == (gained, lost)
    assert found.pair_difference == (gained - lost) / found.pairs
    assert found.difference == pytest.approx(mantel_haenszel(contexts_of(rows, labels, a, b, found.label)))
    dealt = [contexts_of(rows, deal, a, b, found.label) for deal in naive_deals(rows, labels, 0)]
    sizes = [abs(mantel_haenszel(contexts)) for contexts in dealt]
    assert found.p_value == pytest.approx(sum(s >= abs(found.difference) - 1e-9 for s in sizes) / len(sizes))
    assert found.smallest_p == pytest.approx(
        sum(s >= max(sizes) - 1e-9 for s in sizes) / len(sizes) if max(sizes) > 1e-9 else 1
    )
    assert found.difference_low <= found.difference <= found.difference_high
    assert found.pair_low <= found.pair_high


@pytest.mark.parametrize("seed", range(15))
def test_variance_of_the_pair_mean_equals_deleting_one_row_at_a_time(seed, monkeypatch):
    rows, labels = random_rows(seed, n=12)
    seen = []
    original = differences.difference_interval
    monkeypatch.setattr(differences, "difference_interval", lambda *given: seen.append(given[3]) or original(*given))
    (found,) = audit_all(rows, labels, 0).differences
    without = []
    for r in range(len(rows)):
        left, kept = rows[:r] + rows[r + 1 :], labels[:r] + labels[r + 1 :]
        gained, lost = naive_direction(left, kept, 0, *found.values, found.label)
        n = sum(x[1] == y[1] and x[0] != y[0] for i, x in enumerate(left) for y in left[:i])
        without.append((gained - lost) / n if n else found.pair_difference)
    in_pairs = [r for r, row in enumerate(rows) if any(o[1] == row[1] and o[0] != row[0] for o in rows)]
    moved = np.array(without)[in_pairs]  # rows without pairs move nothing
    n = len(moved)
    assert seen[0] == pytest.approx((n - 1) / n * ((moved - moved.mean()) ** 2).sum(), abs=1e-12)


ONE_SIGMA = 0.6826894921370859
"""Level at which the normal quantile is 1."""


@pytest.mark.parametrize("seed", range(4))
def test_contexts_without_one_of_two_values_are_not_compared(seed):
    rng = np.random.default_rng(seed)
    table = coded(np.column_stack([rng.integers(0, 4, 40), rng.integers(0, 8, 40)]), rng.integers(0, 3, 40))
    contexts = find_contexts(table)[0]
    of_two = differences.contexts_of_two(contexts, (3, 1))
    wanted = find_contexts(table.take(np.isin(table.codes[:, 0], [1, 3])))[0]
    assert tables_of(of_two) == tables_of(wanted)
    assert 0 < len(of_two) < len(contexts)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        # As many independent pairs as pairs: (8 + .5) / 20 and (2 + .5) / 20; sqrt((.55 - .3**2) / 20) = .151658.
        ((18, 8, 2, 1e-9, 36, ONE_SIGMA), (0.3 - 0.151658, 0.3 + 0.151658)),
        # The same at 95 %: .151658 times 1.959964.
        ((18, 8, 2, 1e-9, 36, 0.95), (0.3 - 0.297243, 0.3 + 0.297243)),
        # Pairs of variance .5 - .3**2 = .41; .0451 - .41 / 100 = .041, so 10 independent pairs: 4.5 / 12 and 1.5 / 12.
        ((100, 40, 10, 0.0451, 50, ONE_SIGMA), (0.25 - 0.190941, 0.25 + 0.190941)),
        # The other direction mirrors it.
        ((100, 10, 40, 0.0451, 50, ONE_SIGMA), (-0.25 - 0.190941, -0.25 + 0.190941)),
        # Nothing changed: half of the 28 rows are 14 pairs; .5 / 16 twice; sqrt(.0625 / 16) = .0625.
        ((100, 0, 0, 0.0, 28, ONE_SIGMA), (-0.0625, 0.0625)),
        # Everything changed, 2 pairs: 2.5 / 4 and .5 / 4; .5 - 1.959964 * sqrt(.5 / 4); not above 1.
        ((2, 2, 0, 0.0, 4, 0.95), (0.5 - 0.692952, 1.0)),
        ((2, 0, 2, 0.0, 4, 0.95), (-1.0, 0.692952 - 0.5)),
    ],
)
def test_interval_of_the_pair_mean_worked_out_by_hand(numbers, expected):
    assert differences.difference_interval(*numbers) == pytest.approx(expected, abs=2e-6)


def test_audit_reports_that_interval_and_satos():
    """Eighteen contexts with a row of each value: 8 gain the label, 2 lose it, 8 keep it."""
    rows = [(value, context) for context in range(18) for value in "ab"]
    labels = [label for two in [(0, 1)] * 8 + [(1, 0)] * 2 + [(1, 1)] * 8 for label in two]
    (found,) = audit_all(rows, labels, 0, confidence=ONE_SIGMA).differences
    # Without a row its pair is gone: both rows of a pair move the difference 1/3 by (1/3 - part) / 17. The parts have
    # the variance 10/18 - 1/9 = 4/9, so the jackknife is 35/36 * 36 * 4/9 / 17**2 = .053825, less 4/9 / 18 = .029134,
    # which is worth 15.2552 pairs: (6.78009 + .5) / 17.2552 = .421907 and (1.69502 + .5) / 17.2552 = .127209.
    half = np.sqrt((0.421907 + 0.127209 - 0.294698**2) / 17.2552)
    assert (found.gained, found.lost, found.pairs) == (8, 2, 18)
    assert found.pair_difference == found.difference == pytest.approx(1 / 3)
    assert found.pair_low == pytest.approx(0.294698 - half, abs=1e-5)
    assert found.pair_high == pytest.approx(0.294698 + half, abs=1e-5)
    # Sato: each context has the weight 1/2. P is (a_with - b_with) / 4, in sum -6/4, and Q is (gained or lost) / 4, in
    # sum 10/4; (-6/4 / 3 + 10/4) / 9**2 = 2 / 81.
    assert found.difference_high - found.difference == pytest.approx(np.sqrt(2) / 9)
    assert found.difference - found.difference_low == pytest.approx(np.sqrt(2) / 9)


@drawn_from(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_one_row_of_each_value_per_context_is_mcnemars_exact_test(gained, lost, same):
    outcomes = [(0, 1)] * gained + [(1, 0)] * lost + [(1, 1)] * same + [(0, 0)]
    a, b = np.array(outcomes).T
    ones = np.ones(len(outcomes), dtype=np.int64)
    p, smallest = differences.exact_cmh(ones, ones, a, b, ones)
    n = gained + lost
    assert p == pytest.approx(binomtest(gained, n).pvalue if n else 1.0)
    assert smallest == pytest.approx(min(2 * 0.5**n, 1.0) if n else 1.0)


def test_equal_contexts_may_be_given_once_with_how_often_they_occur():
    apart = as_arrays([(3, 2, 1, 2)] * 3 + [(4, 4, 3, 1)])
    together = [*np.array([(3, 2, 1, 2), (4, 4, 3, 1)]).T, np.array([3, 1])]
    assert differences.exact_cmh(*together) == pytest.approx(differences.exact_cmh(*apart))
    assert differences.mean_difference(*together) == pytest.approx(differences.mean_difference(*apart))
    assert differences.odds_ratio(*together) == pytest.approx(differences.odds_ratio(*apart))
    assert differences.homogeneity(*together, 1.3) == pytest.approx(differences.homogeneity(*apart, 1.3))


def test_one_context_is_fishers_exact_test():
    """With groups of equal size, where "as far from the mean" and "as unlikely" are the same."""
    table = as_arrays([(10, 10, 3, 8)])
    assert differences.exact_cmh(*table)[0] == pytest.approx(fisher_exact([[3, 7], [8, 2]]).pvalue)


@pytest.mark.parametrize("seed", range(10))
def test_the_exact_test_adds_up_hypergeometric_outcomes(seed):
    """Three contexts, all outcomes enumerated."""
    rng = np.random.default_rng(seed)
    contexts = [
        (a, b, rng.integers(0, a + 1), rng.integers(0, b + 1)) for a, b in rng.integers(1, 7, size=(3, 2)).tolist()
    ]
    laws = [hypergeom(a + b, a_with + b_with, b) for a, b, a_with, b_with in contexts]
    mean = sum((a_with + b_with) * b / (a + b) for a, b, a_with, b_with in contexts)
    observed = abs(sum(context[3] for context in contexts) - mean)
    p = sum(
        np.prod([law.pmf(k) for law, k in zip(laws, outcome, strict=True)])
        for outcome in product(*(range(b + 1) for _, b, _, _ in contexts))
        if abs(sum(outcome) - mean) >= observed - 1e-9
    )
    assert differences.exact_cmh(*as_arrays(contexts))[0] == pytest.approx(p)


@pytest.mark.parametrize("n_times", [40_000, 40_002])
def test_a_sum_over_contexts_is_taken_as_normal_if_its_variance_is_above_10_000(n_times):
    """Pairs of rows with different labels: the sum is binomial, with a variance of a quarter for each pair."""
    ones, shifted = np.array([1, 1]), 150
    times = np.array([n_times // 2 - shifted, n_times // 2 + shifted])
    p, smallest = differences.exact_cmh(ones, ones, ones * [1, 0], ones * [0, 1], times)
    is_normal = n_times / 4 > 10_000
    assert p == pytest.approx(
        2 * norm.sf(2 * shifted / n_times**0.5) if is_normal else 2 * binom(n_times, 0.5).cdf(times[0]), rel=1e-6
    )
    assert (smallest == 0.0) == is_normal


def stratified(seed, n=1500, n_contexts=6, difference=0.1, weight=1):
    """A table of a feature, a context and a label, and the same as statsmodels' tables, with a weight for all rows."""
    from statsmodels.stats.contingency_tables import StratifiedTable

    rng = np.random.default_rng(seed)
    context = rng.integers(0, n_contexts, n)
    value = (rng.random(n) < 0.3 + 0.05 * context).astype(int)
    label = (rng.random(n) < 0.2 + 0.08 * context + difference * value).astype(int)
    tables = np.zeros((2, 2, n_contexts))
    np.add.at(tables, (1 - value, 1 - label, context), weight)  # first row: value 1; first column: label 1
    return np.column_stack([value, context]), label, StratifiedTable(tables)


@pytest.mark.parametrize("seed", range(8))
def test_odds_ratio_and_tests_equal_those_of_statsmodels(seed):
    X, y, expected = stratified(seed)
    (found,) = audit_all(X, y, 0, reference=0, confidence=0.9).differences
    assert found.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    assert (found.odds_low, found.odds_high) == pytest.approx(expected.oddsratio_pooled_confint(alpha=0.1))
    assert found.p_homogeneity == pytest.approx(expected.test_equal_odds(adjust=True).pvalue)
    p = expected.test_null_odds(correction=False).pvalue
    assert found.p_value == pytest.approx(p, rel=0.2, abs=0.01)  # theirs is the normal approximation
    X, y, expected = stratified(seed, difference=0.0, weight=400)
    (found,) = audit_all(X, y, 0, reference=0, weights=np.full(len(y), 400)).differences
    assert found.p_value == pytest.approx(expected.test_null_odds(correction=False).pvalue)  # ours is normal too


def test_satos_interval_covers_the_difference_in_a_simulation():
    """Twenty contexts of a few rows, a difference of 15 points everywhere; nominal 95 %."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(1, 6, size=(2, 20))
    shares = rng.uniform(0.2, 0.6, 20)
    found = np.array(
        [
            differences.mean_difference(a, b, rng.binomial(a, shares), rng.binomial(b, shares + 0.15), np.ones(20))
            for _ in range(2000)
        ]
    )
    assert found[:, 0].mean() == pytest.approx(0.15, abs=0.01)
    assert np.sqrt((found[:, 1] ** 2).mean()) == pytest.approx(found[:, 0].std(), rel=0.05)
    assert 0.93 <= np.mean(np.abs(found[:, 0] - 0.15) <= 1.96 * found[:, 1]) <= 0.97


@pytest.mark.parametrize(
    ("contexts", "ratio"), [([(2, 2, 0, 1)], np.inf), ([(2, 2, 1, 0)], 0.0), ([(2, 2, 2, 2)], np.nan)]
)
def test_an_odds_ratio_that_is_not_defined_has_no_interval(contexts, ratio):
    assert differences.odds_ratio(*as_arrays(contexts))[0] == pytest.approx(ratio, nan_ok=True)
    rows = [(value, 0) for value in (0, 0, 1, 1)] + [(0, 1)]
    a, b, a_with, b_with = contexts[0]
    labels = [1] * a_with + [0] * (a - a_with) + [1] * b_with + [0] * (b - b_with) + [0]
    (found,) = audit_all(rows, labels, 0, reference=0).differences
    assert found.odds_ratio == pytest.approx(ratio, nan_ok=True)
    assert np.isnan([found.odds_high, found.p_homogeneity]).all()


def test_a_pair_mean_of_the_other_sign_is_pointed_out():
    """One context of many pairs against b, many small ones for b."""
    large = [(20, 20, 12, 9)]
    small = [(1, 3, 0, 2)] * 20
    rows, labels = [], []
    for c, (a, b, a_with, b_with) in enumerate(large + small):
        rows += [("a", c)] * a + [("b", c)] * b
        labels += [1] * a_with + [0] * (a - a_with) + [1] * b_with + [0] * (b - b_with)
    result = audit_all(rows, labels, 0, reference="a")
    (found,) = result.differences
    assert found.difference > 0 > found.pair_difference
    assert "differ in sign, because the mean gives large contexts more weight" in all_said(result)
    same = audit_all(rows[40:], labels[40:], 0, reference="a")
    assert "differ in sign" not in repr(same)


def test_berkeley_within_departments():
    result = audit(analogical.load_table("berkeley").to_frame("polars"), "admitted", "gender", weights="count")
    (found,) = result.differences
    assert (result.n_pairs, result.n_changed, result.n_compared) == (654_456, 246_696, 4_526)
    assert (result.reference, found.values) == ("male", ("male", "female"))
    assert (found.gained, found.lost) == (130_731, 115_965)
    assert found.pair_difference == (130_731 - 115_965) / 654_456
    assert found.crude == pytest.approx(557 / 1835 - 1198 / 2691)
    assert found.difference == pytest.approx(0.0184, abs=5e-5)
    assert (found.odds_ratio, found.odds_low, found.odds_high) == pytest.approx((1.1053, 0.9431, 1.2955), abs=1e-4)
    assert found.p_value > 0.1
    assert found.p_homogeneity < 0.01
    assert result.n_contexts == 6
    assert result.given == ("department",)
    assert result.finding == "mixed"
    assert conclusion(result) == (
        "No significant difference of 'admitted' by 'gender', but single contexts differ (p = .002)."
    )
    words = all_said(result)
    assert "female +1.8 -1.1 to +4.7 .228 1.11 -14.2 654,456" in words
    assert "exact Cochran-Mantel-Haenszel test" in words
    assert "1 comparison" not in words
    assert "Odds ratio: 1.11 (0.94 to 1.30). Test of equality in all contexts: p = " in words
    assert "Mean over pairs: 2.3 points more often" in words
    assert "assume independent rows" in words


def loans(n=6000, bias=0.12, seed=11):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "income": rng.choice(["low", "middle", "high"], n),
            "debt": rng.choice(["no", "some", "much"], n),
            "gender": rng.choice(["woman", "man"], n),
        }
    )
    chance = (
        0.3 + 0.2 * (frame["income"] == "high") - 0.1 * (frame["debt"] == "much") + bias * (frame["gender"] == "man")
    )
    return frame.assign(approved=np.where(rng.random(n) < chance, "yes", "no"))


def test_planted_bias_is_found_with_its_size():
    result = audit_all(loans(), "approved", "gender", ignore=["id"])
    (found,) = result.differences
    sign = 1 if found.values == ("woman", "man") else -1
    low, high = sorted((sign * found.difference_low, sign * found.difference_high))
    assert low < 0.12 < high
    assert high - low < 0.06
    assert result.finding == "direction"
    assert conclusion(result).startswith("'approved' = 'yes' is ")
    assert conclusion(result).endswith(" points more frequent with man than with woman (p < .001).")
    assert result.given == ("income", "debt")
    assert audit(loans(), "approved", "gender").differences == result.differences  # income and debt decide it
    fair = audit(loans(bias=0.0), "approved", "gender", given=["income"])
    assert fair.differences[0].p_value > 0.05
    assert fair.given == ("income",)


def test_without_ignoring_the_id_nothing_is_equal():
    result = audit_all(loans(n=50), "approved", "gender", ids="keep", bins=None)
    assert result.n_pairs == 0
    assert result.differences == ()
    assert result.finding == "no-pairs"
    assert conclusion(result).startswith("No two rows differ on 'gender' among rows that agree on id, income and")
    content = json.loads(json.dumps(result.to_dict()))
    assert content["index"] is content["p_value"] is content["noise_rate"] is None


def test_too_few_pairs_are_said_to_be_too_few():
    rows = [(value, context) for context in range(4) for value in "ab"]
    result = audit_all(rows, [0, 1] * 4, 0)
    assert result.differences[0].p_value == pytest.approx(2 * 0.5**4)
    assert result.finding == "too-few-pairs"
    assert conclusion(result) == "Too few pairs with different labels to test the difference of 'y' by 'x0'."
    assert "would have made a difference significant (p below 0.05)." in all_said(result)
    enough = audit_all([(v, c) for c in range(8) for v in "ab"], [0, 1] * 8, 0)
    assert conclusion(enough) == "'y' = '1' is 100.0 points more frequent with b than with a (p = .008)."


def test_many_values_and_labels_get_a_table():
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"town": rng.choice(list("abc"), 300), "size": rng.choice(["s", "l"], 300)})
    label = np.where(frame["town"] == "a", "red", rng.choice(["red", "green", "blue"], 300))
    result = audit_all(frame, label, "town", reference="a")
    assert len(result.differences) == 6
    assert {found.values[0] for found in result.differences} == {"a"}
    assert {found.label for found in result.differences} == {"red", "green", "blue"}
    for two in {found.values for found in result.differences}:
        some = [found for found in result.differences if found.values == two]
        assert sum(found.difference for found in some) == pytest.approx(0, abs=1e-12)
        assert sum(found.gained for found in some) == some[0].changed
    assert all(found.p_value <= found.p_adjusted <= 1 for found in result.differences)
    assert re.search(r"the largest: 'red' is [\d.]+ points more frequent with a than with", conclusion(result))
    assert "\nvs. a  label" in repr(result)
    assert max(len(line) for line in repr(result).splitlines()) <= 80


def test_values_are_compared_with_the_most_frequent_one_small_ones_last():
    rows = [(value,) for value, n in zip("abcde", (3, 5, 1, 4, 2), strict=True) for _ in range(n)]
    result = audit_all(rows, [r % 2 for r in range(len(rows))], 0)
    assert result.reference == "b"
    assert [found.values for found in result.differences] == [("b", other) for other in "daec"]
    other = audit_all(rows, [r % 2 for r in range(len(rows))], 0, reference="c")
    assert other.reference == "c"
    assert [found.values for found in other.differences] == [("c", value) for value in "bdae"]


def test_the_reference_turns_the_sign():
    one, other = (audit_all(loans(), "approved", "gender", ignore="id", reference=r) for r in ("man", "woman"))
    (woman,), (man,) = one.differences, other.differences
    assert woman.difference == pytest.approx(-man.difference)
    assert (woman.difference_low, woman.difference_high) == pytest.approx((-man.difference_high, -man.difference_low))
    assert woman.odds_ratio == pytest.approx(1 / man.odds_ratio)
    assert (woman.odds_low, woman.odds_high) == pytest.approx((1 / man.odds_high, 1 / man.odds_low))
    assert woman.p_value == pytest.approx(man.p_value)
    assert woman.p_homogeneity == pytest.approx(man.p_homogeneity)


def test_long_tables_show_the_largest_differences():
    rng = np.random.default_rng(13)
    result = audit_all(rng.integers(0, 40, size=(2000, 1)), rng.integers(0, 2, 2000), 0)
    assert len(result.differences) == 39
    (table,) = view_of(result).tables
    assert len(table.rows) == 30
    points = [abs(float(row[1].text)) for row in table.rows]
    assert [heading.title for heading in table.headings][:2] == ["vs. 4", "points for '1'"]
    assert points == sorted(points, reverse=True)
    assert table.note == "... and 9 more; to_frame() and --json have all"


def test_of_very_many_values_the_most_frequent_ones_are_compared():
    rows = [(f"v{n}",) for n in range(1, 55) for _ in range(n)]
    result = audit_all(rows, [r % 2 for r in range(len(rows))], 0)
    assert [found.values for found in result.differences] == [("v54", f"v{n}") for n in range(53, 3, -1)]
    assert result.n_comparisons == 53
    assert "Of 53 comparisons, only those of the most frequent values and labels were made." in all_said(result)


def test_who_was_compared():
    """Context 0 has four rows of each value, context 1 one of each, context 2 one value only."""
    rows = [("a", 0)] * 4 + [("b", 0)] * 4 + [("a", 1), ("b", 1)] + [("a", 2)] * 10
    labels = [1, 1, 0, 0, 1, 1, 1, 0, 1, 0] + [1] * 10
    result = audit_all(rows, labels, 0)
    assert (result.n_rows, result.n_compared, result.n_pairs, result.n_contexts) == (20, 10, 17, 2)
    assert result.base_rates == {1: (16 / 20, 6 / 10)}
    assert result.largest_context == pytest.approx(16 / 17)
    words = all_said(result)
    assert "Compared: 10 of 20 rows (50.0 %)" in words
    assert "17 pairs in 2 contexts, of which the largest holds 94.1 %." in words
    assert "'1' occurs in 60.0 % of the compared rows and in 80.0 % of all." in words


def test_examples_show_the_strongest_difference_and_one_pair_against_it():
    result = audit_all(loans(), "approved", "gender", ignore="id", limit=4)
    favoured = [dict(zip(pair.values, pair.labels, strict=True)) for pair in result.examples.pairs]
    assert favoured == [{"man": "yes", "woman": "no"}] * 3 + [{"man": "no", "woman": "yes"}]
    assert audit_all(loans(), "approved", "gender", ignore="id", limit=0).examples.pairs == ()
    concordant = audit_all([(0, 0), (1, 0), (0, 1), (0, 2)], [1, 1, 0, 0], 0)
    assert len(concordant.examples.pairs) == 1


def copied(seed, n_people=60, n_visits=60, n_contexts=3):
    """People with several equal visits; the feature does nothing."""
    rng = np.random.default_rng(seed)
    people = np.column_stack([rng.integers(0, 2, n_people), rng.integers(0, n_contexts, n_people)])
    person = np.repeat(np.arange(n_people), n_visits)
    return people[person], rng.integers(0, 2, n_people)[person], person


def test_copied_rows_look_like_evidence_without_groups():
    """Of 40 tables in which the feature does nothing."""
    alone, grouped, covered = [], [], []
    for seed in range(40):
        X, y, person = copied(seed)
        alone.append(audit_all(X, y, 0, limit=0).differences[0].p_value <= 0.05)
        result = audit_all(X, y, 0, groups=person, limit=0)
        (found,) = result.differences
        grouped.append(found.p_value <= 0.05)
        covered.append(found.difference_low <= 0 <= found.difference_high)
        assert result.n_groups == 60
    assert sum(alone) >= 28
    assert sum(grouped) <= 3
    assert sum(covered) >= 36


def test_groups_of_one_row_change_little():
    frame = loans(n=600)
    (alone,) = audit_all(frame, "approved", "gender", ignore="id", limit=0).differences
    result = audit_all(frame, "approved", "gender", groups="id", limit=0)
    (each,) = result.differences
    assert result.given == ("income", "debt")
    assert each.difference == alone.difference
    ends = alone.difference_low, alone.difference_high
    assert (each.difference_low, each.difference_high) == pytest.approx(ends, abs=0.003)
    assert each.p_value == pytest.approx(alone.p_value, rel=0.3)
    assert "assume 600 independent groups of rows" in all_said(result)


def test_an_interval_by_units_in_loops():
    """Least squares with a constant for each context; residuals of a unit, less its leverage, are added."""
    rng = np.random.default_rng(5)
    n, n_groups = 120, 30
    unit, context, value = rng.integers(0, n_groups, n), rng.integers(0, 3, n), rng.integers(0, 2, n)
    label = rng.integers(0, 2, n)
    (found,) = audit_all(np.column_stack([value, context]), label, 0, reference=0, groups=unit).differences
    x, y = (column - np.array([column[context == c].mean() for c in context]) for column in (value, label))
    slope = (x @ y) / (x @ x)
    leverage = np.array(
        [
            np.mean(unit[value == v] == u) + np.mean(unit[context == c] == u) - np.mean(unit == u)
            for u, v, c in zip(unit, value, context, strict=True)
        ]
    )
    squares = np.bincount(unit, x * (y - slope * x) / (1 - leverage)) ** 2
    reach = student.ppf(0.975, squares.sum() ** 2 / (squares**2).sum()) * np.sqrt(squares.sum()) / (x @ x)
    assert found.difference == pytest.approx(slope)
    assert (found.difference_low, found.difference_high) == pytest.approx((slope - reach, slope + reach))
    assert found.p_value == group_p_value(coded(np.column_stack([value, context, unit]), label), in_common=True)
    unknown = (found.odds_low, found.odds_high, found.pair_low, found.pair_high, found.p_homogeneity)
    assert np.isnan(unknown).all()


def test_of_several_values_and_classes_each_difference_has_its_own_units():
    """Value 2 and the other labels do not touch the test of the values 0 and 1 for label "c"."""
    rng = np.random.default_rng(6)
    rows, unit = rng.integers(0, [3, 2], (200, 2)), np.arange(200) // 4
    label = rng.choice(list("abc"), 200)
    some = rows[:, 0] != 2
    result = audit_all(rows, label, 0, reference=0, groups=unit)
    found = next(d for d in result.differences if (d.values, d.label) == ((0, 1), "c"))
    alone = audit_all(rows[some], label[some] == "c", 0, reference=0, groups=unit[some])
    (one,) = alone.differences
    names = ("difference", "difference_low", "difference_high", "p_value", "pairs", "gained", "lost")
    assert [getattr(found, name) for name in names] == pytest.approx([getattr(one, name) for name in names])
    assert found.p_adjusted > found.p_value


def test_two_of_very_many_values_are_compared_by_units():
    """Values beyond the first 64 have places of their own where only two are compared."""
    rng = np.random.default_rng(7)
    value, unit = np.append(np.arange(100), rng.integers(98, 100, 200)), np.arange(300) // 3
    rows, label = np.column_stack([value, rng.integers(0, 2, 300)]), rng.integers(0, 2, 300)
    some = value >= 98
    many, two = (
        audit_all(rows[chosen].astype(str), label[chosen], 0, reference="98", groups=unit[chosen])
        for chosen in (slice(None), some)
    )
    (one,) = two.differences
    found = next(d for d in many.differences if d.values == one.values)
    assert (found.difference_low, found.difference_high) == pytest.approx((one.difference_low, one.difference_high))


def test_repeated_measurements_keep_their_power():
    """Twenty people, each measured four times with each drug: the labels differ by 15 points within people."""
    rng = np.random.default_rng(8)
    person = np.repeat(np.arange(60), 8)
    drug = np.tile([0, 1], 240)
    label = rng.random(480) < rng.uniform(0.2, 0.7, 60)[person] + 0.25 * drug
    result = audit(drug[:, None], label.astype(int), 0, reference=0, groups=person)
    (found,) = result.differences
    assert found.p_value < 1e-4
    assert found.difference_low > 0.1
    assert result.finding == "direction"
    assert "score test of groups" in all_said(result)


def test_too_few_groups_for_a_difference_say_so():
    """One person has each value: neither rows of a person nor persons can be compared."""
    result = audit_all([(0, 0)] * 3 + [(1, 0)] * 3, [0, 0, 1, 1, 1, 1], 0, groups=[1, 1, 1, 2, 2, 2])
    (found,) = result.differences
    assert np.isnan([found.p_value, found.p_adjusted, found.smallest_p]).all()
    assert (result.finding, result.significant()) == ("too-few-pairs", [])
    assert conclusion(result) == "Too few groups to test the difference of 'y' by 'x0'."
    assert json.loads(json.dumps(result.to_dict()))["differences"][0]["p_value"] is None


def test_groups_that_all_say_the_same_leave_room_in_the_interval():
    rows = [(k % 2,) for k in range(80)]
    (found,) = audit(rows, [k % 2 for k in range(80)], 0, reference=0, groups=[k // 4 for k in range(80)]).differences
    assert found.difference == 1.0
    assert 0.5 < found.difference_low < 0.9
    (single,) = audit(rows, [k % 2 for k in range(80)], 0, reference=0, groups=[1] * 80).differences
    assert single.difference_low < 0


def test_arrays_and_lists_choose_columns_by_name():
    X = np.array([[0, 0, 5], [1, 0, 6], [0, 1, 7], [1, 1, 8]])
    y = [0, 1, 0, 1]
    for table in (X, X.tolist()):
        assert audit_all(table, y, "x0", ignore=["x2"]).given == ("x1",)
        assert audit(table, y, "a", given=["b"], feature_names=["a", "b", "c"]).n_pairs == 2
        assert audit(table, y, 0, given=[1]).given == ("x1",)
    assert audit_all(X, y, 0).n_pairs == 0


def test_labels_that_cannot_be_sorted_are_followed_by_name():
    assert audit_all([(0,), (1,)], ["a", 1], 0).differences[0].label == "a"


def test_noise_is_unknown_without_repeated_rows():
    words = all_said(audit_all([(0, 0), (1, 0), (0, 1)], [0, 1, 1], 0))
    assert "noise cannot be estimated, because no rows repeat" in words


def test_of_many_given_columns_the_first_are_named():
    rows = np.zeros((4, 15), dtype=int)
    rows[:, 0] = 0, 1, 0, 1
    rows[2:, 1] = 1
    words = " ".join(repr(audit_all(rows, [0, 1, 0, 0], 0)).split())
    assert "Compared: 4 of 4 rows (100.0 %) have a partner with another 'x0' among rows that agree on x1, x2," in words
    assert "x12 and 2 more." in words
    assert "have a partner with another 'x0' among all rows." in all_said(audit(rows, [0, 1, 0, 0], 0, given=[]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"given": ["z"]}, "The table has no column 'z' to take as feature"),
        ({"given": "b"}, 'given must be "auto" or "all", got \'b\''),
        ({"given": 1}, 'given must be "auto", "all" or a list of features, got 1'),
        ({"given": ["y"]}, "feature names 'y', which is the label; choose another column"),
        ({"ignore": ["a"]}, "ignore names 'a', the feature in question; leave it out of ignore"),
        ({"ignore": 3}, r"ignore must be a name or a position from 0 to 2 \(the table has 3 features\), got 3"),
        ({"feature": "z"}, "The table has no column 'z' to take as feature"),
        ({"y": "z"}, "The table has no column 'z' to take as label"),
        ({"confidence": None}, "confidence must be a number between 0 and 1"),
        ({"confidence": 95}, "confidence must be a number between 0 and 1"),
        ({"reference": 7}, "The feature 'a' has no value 7 to compare with; it has 0, 1"),
        ({"limit": -1}, "limit must be a whole number from 0, or None for all pairs, got -1"),
    ],
)
def test_bad_input_is_refused(settings, message):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [0, 0, 1], "c": [0, 0, 0], "y": [0, 1, 1]})
    with pytest.raises(InputError, match=message):
        audit(frame, **{"feature": "a", "y": "y"} | settings)


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        (np.arange(3), {}, "X must have two dimensions"),
        ([], {}, "The label has 2 values and X has 0 rows"),
        (np.empty((2, 0), int), {}, "The table has no features"),
        (None, {}, "X must be a table"),
        ([(0, 1), (1, 1)], {"feature_names": ["a"]}, "feature_names must have one name for each of the 2 features"),
        (pd.DataFrame([(0, 1), (1, 1)], columns=["x0", "x0"]), {}, "Column names must differ"),
    ],
)
def test_what_is_not_a_table_is_refused_as_everywhere(X, settings, message):
    with pytest.raises(InputError, match=message):
        audit(X, [0, 1], "x0", **settings)


def test_names_given_for_the_columns_of_a_dataframe():
    frame = pd.DataFrame({"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "n": [1, 2, 0, 3], "y": [0, 1, 1, 0]})
    assert audit(frame, "y", "a", given=["b"], weights="n").n_pairs == 2
    named = audit(frame, "y", "p", ignore="q", weights="n", feature_names=["p", "q"])
    assert (named.feature, named.given, named.n_pairs) == ("p", (), 8)


def test_a_position_counts_all_columns_of_the_table():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    assert audit_all(X, X[:, 1], 1).feature == "x1"
    assert audit_all(X, X[:, 1], 1, ignore=["x0"]).feature == "x1"


@pytest.mark.parametrize("wrong", [3.5, object()])
def test_what_is_not_a_list_of_columns_is_refused(wrong):
    with pytest.raises(InputError, match="ignore must be a list of column names, got"):
        audit([(0, 1), (1, 1)], [0, 1], 0, ignore=wrong)


@drawn_from(st.permutations("pqr"), st.integers(0, 200))
def test_renaming_values_changes_no_effect(names, seed):
    rows, labels = random_rows(seed, n=10, n_values=3)
    plain = audit_all(rows, labels, 0, reference=0)
    renamed = audit_all([(names[a], b) for a, b in rows], labels, 0, reference=names[0])
    numbers = (
        "pairs",
        "changed",
        "gained",
        "lost",
        "difference",
        "difference_low",
        "difference_high",
        "odds_ratio",
        "p_value",
        "p_adjusted",
    )
    assert {e.values[1]: [str(getattr(e, n)) for n in numbers] for e in plain.differences} == {
        names.index(e.values[1]): [str(getattr(e, n)) for n in numbers] for e in renamed.differences
    }


# ---------------------------------------------------------------- tall tables, many values, large weights


def test_examples_of_a_direction_that_never_goes_the_other_way():
    rows = [(k % 2,) for k in range(400)]
    result = audit_all(rows, [k % 4 == 1 for k in range(400)], 0)
    assert result.differences[0].lost == 0
    assert [pair.labels for pair in result.examples.pairs] == [(False, True)] * 6


def test_audit_of_many_values_and_classes_fits_in_memory():
    """3,000 values and 3,000 classes have 9,000,000 combinations, of which 6,000 occur."""
    rows = np.column_stack([np.arange(6000) % 3000, np.arange(6000) // 4])
    labels = [f"class {k}" for k in np.arange(6000) % 2999]
    tracemalloc.start()
    result = audit_all(rows, labels, 0, ids="keep", max_values=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.n_pairs == 1500 * 6
    assert peak < 2**25


def test_of_very_many_labels_the_most_frequent_ones_are_followed():
    labels = [f"label {n:02}" for n in range(1, 54) for _ in range(2 * n)]
    result = audit_all([(k % 2,) for k in range(len(labels))], labels, 0)
    followed = {f"label {n:02}" for n in range(4, 54)}
    assert {found.label for found in result.differences} == set(result.base_rates) == followed
    assert result.n_comparisons == 53


def test_standard_errors_of_large_counts_shrink_with_the_root():
    contexts = np.array([(10, 9, 1, 8), (7, 5, 3, 3)])
    (one, error), (same, small) = (differences.mean_difference(*as_arrays(contexts * k)) for k in (1, 10**8))
    assert same == pytest.approx(one)
    assert small == pytest.approx(error / 10**4)


def test_homogeneity_of_large_counts_is_a_probability():
    table = as_arrays([(42_190_893, 1, 1, 0), (354_129, 264_147_852, 345_777, 144_027_529)])
    assert 0 <= differences.homogeneity(*table, differences.odds_ratio(*table)[0]) <= 1


@pytest.mark.parametrize(
    "contexts",
    [
        [(2, 2, 1, 1)],  # one context
        [(2, 2, 1, 1), (2, 2, 2, 2)],  # another one with one label
        [(1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 0, 1)],  # the expected rows are as far from both outcomes, whatever happens
    ],
)
def test_homogeneity_is_unknown_where_contexts_are_too_small(contexts):
    table = as_arrays(contexts)
    assert np.isnan(differences.homogeneity(*table, differences.odds_ratio(*table)[0]))


def small_contexts(rng, n_contexts, n_rows, spread, log_odds=0.5):
    """Contexts with different shares of value and label, and log odds ratios that vary by ``spread``."""
    context = rng.integers(0, n_contexts, n_rows)
    value = rng.random(n_rows) < rng.uniform(0.2, 0.8, n_contexts)[context]
    base = rng.uniform(0.1, 0.7, n_contexts)
    moved = log_odds + spread * rng.standard_normal(n_contexts)
    label = rng.random(n_rows) < 1 / (1 + np.exp(-np.log(base / (1 - base))[context] - value * moved[context]))
    counts = [
        np.bincount(context[some], minlength=n_contexts) for some in (~value, value, ~value & label, value & label)
    ]
    return [*(c[(counts[0] > 0) & (counts[1] > 0)] for c in counts)]


@pytest.mark.parametrize(("n_contexts", "n_rows"), [(3, 60), (20, 600), (80, 600), (200, 600)])
def test_homogeneity_rejects_rarely_if_the_odds_ratio_is_the_same_and_often_if_not(n_contexts, n_rows):
    """Breslow and Day's test alone would reject in .24 of the tables with 80 contexts, and in .81 with 200.

    In 2,000 to 4,000 tables of each kind the rate was .017, .038, .042 and .048. The limit here is three standard
    errors of 300 tables above .05.
    """
    shares = []
    for spread, n_tables in ((0.0, 300), (1.5, 100)):
        rng = np.random.default_rng(n_contexts)
        p_values = []
        for _ in range(n_tables):
            table = small_contexts(rng, n_contexts, n_rows, spread)
            table = (*table, np.ones(len(table[0]), np.int64))
            p_values.append(differences.homogeneity(*table, differences.odds_ratio(*table)[0]))
        known = np.array(p_values)[~np.isnan(p_values)]
        assert len(known) > 0.96 * n_tables
        shares.append(np.mean(known <= 0.05))
    assert shares[0] <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
    assert shares[1] > (0.15 if n_contexts == 3 else 0.4)


def test_the_score_of_homogeneity_in_loops():
    """Two contexts of three rows, where x is 0 or 1: the law of x by weights, and all moments by hand."""
    contexts = [(2, 1, 1, 0), (1, 2, 0, 1), (2, 2, 0, 1), (2, 2, 2, 1)]
    table = as_arrays(contexts)

    def laws(odds):
        found = []
        for a, b, a_with, b_with in contexts:
            k = a_with + b_with
            x = np.arange(max(0, k - a), min(b, k) + 1)
            weights = np.array([math.comb(b, i) * math.comb(a, k - i) * odds**i for i in x])
            found.append((x, weights / weights.sum()))
        return found

    total = sum(context[3] for context in contexts)
    odds = brentq(lambda odds: sum(x @ p for x, p in laws(odds)) - total, 1e-3, 1e3)
    found = laws(odds)
    moves = [x - x @ p for x, p in found]
    v = [p @ move**2 for (_, p), move in zip(found, moves, strict=True)]
    slope = sum(p @ move**3 for (_, p), move in zip(found, moves, strict=True)) / sum(v)
    parts = [move**2 - s - slope * move for move, s in zip(moves, v, strict=True)]
    spread, third = (sum(p @ part**k for (_, p), part in zip(found, parts, strict=True)) for k in (2, 3))
    score = sum((c[3] - x @ p) ** 2 - s for c, (x, p), s in zip(contexts, found, v, strict=True))
    expected = pearson3.sf(score / spread**0.5, third / spread**1.5)
    for start in (0.5, 1.0, 3.0):  # wherever the fit begins
        assert differences.homogeneity(*table, start) == pytest.approx(expected, rel=1e-6)


def test_an_odds_ratio_without_precision_is_bounded_by_infinity():
    rows, labels, weights = zip(
        *[
            ((value, context), label, n)
            for context, (a, b, a_with, b_with) in enumerate([(663_188_598, 17, 1, 0), (16_751, 1, 11_864, 1)])
            for value, label, n in ((0, 1, a_with), (0, 0, a - a_with), (1, 1, b_with), (1, 0, b - b_with))
            if n
        ],
        strict=True,
    )
    (found,) = audit_all(list(rows), list(labels), 0, reference=0, weights=list(weights)).differences
    assert (found.odds_low, found.odds_high) == (0.0, np.inf)


# ---------------------------------------------------------------- labels that are numbers


def random_numbers(seed, n=9, n_values=2):
    """Rows of a feature and a context, with few different numbers as labels."""
    rows, _ = random_rows(seed, n=n, n_values=n_values)
    return rows, np.random.default_rng(seed).choice([-2.0, 0.5, 1.0, 7.0], len(rows)).tolist()


def number_contexts(rows, labels, a, b):
    """The numbers of both values in each context that holds both."""
    sides = [
        [[y for row, y in zip(rows, labels, strict=True) if row == (value, *context)] for value in (a, b)]
        for context in {row[1:] for row in rows}
    ]
    return [(np.array(of_a), np.array(of_b)) for of_a, of_b in sides if of_a and of_b]


def weighted(contexts):
    """The difference of means, b less a, with the weights of Mantel and Haenszel."""
    weights = [len(a) * len(b) / (len(a) + len(b)) for a, b in contexts]
    return np.average([b.mean() - a.mean() for a, b in contexts], weights=weights)


@pytest.mark.parametrize("seed", range(20))
def test_numbers_equal_loops_over_pairs_and_deals(seed):
    rows, labels = random_numbers(seed, n=5)
    result = audit_all(rows, labels, 0, scale="number")
    (found,) = result.differences
    contexts = number_contexts(rows, labels, *found.values)
    pairs = [y - x for a, b in contexts for x in a for y in b]
    assert (found.pairs, found.changed) == (result.n_pairs, result.n_changed) == (len(pairs), np.count_nonzero(pairs))
    assert (found.gained, found.lost) == (sum(p > 0 for p in pairs), sum(p < 0 for p in pairs))
    assert found.pair_difference == pytest.approx(np.mean(pairs))
    assert found.difference == pytest.approx(weighted(contexts))
    assert result.index == result.examples.index == pytest.approx(np.square(pairs).mean())
    all_of = [[y for (v, _), y in zip(rows, labels, strict=True) if v == value] for value in found.values]
    assert found.crude == pytest.approx(np.mean(all_of[1]) - np.mean(all_of[0]))
    ((name, (everybody, compared)),) = result.base_rates.items()
    assert name == "y"
    assert everybody == pytest.approx(np.mean(labels))
    assert compared == pytest.approx(np.concatenate([side for two in contexts for side in two]).mean())
    dealt = [abs(weighted(number_contexts(rows, deal, *found.values))) for deal in naive_deals(rows, labels, 0)]
    assert found.smallest_p == pytest.approx(np.mean(np.array(dealt) >= max(dealt) - 1e-9) if max(dealt) > 1e-9 else 1)
    assert found.p_value >= found.smallest_p
    assert np.isnan([found.odds_ratio, found.odds_low, found.odds_high]).all()
    assert found.label is None
    for context in result.contexts:
        ((_, value),) = context.context
        a, b = ([y for row, y in zip(rows, labels, strict=True) if row == (v, value)] for v in context.values)
        assert context.rows == (len(a), len(b))
        assert context.means == pytest.approx((np.mean(a), np.mean(b)))
        assert context.with_label is None


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_numbers_0_and_1_are_two_classes(seed, groups):
    rows, labels = random_rows(seed, n=60, n_values=3)
    options = {"groups": np.arange(len(rows)) // 2} if groups else {}
    classes, numbers = (audit_all(rows, labels, 0, scale=scale, **options) for scale in ("classes", "number"))
    assert numbers.scale == "number"
    assert len(classes) == len(numbers) == 2
    for one, other in zip(classes.differences, numbers.differences, strict=True):
        for name in ("pairs", "changed", "gained", "lost"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("difference", "difference_low", "difference_high", "p_value", "smallest_p", "crude", "p_adjusted"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9, nan_ok=True)
        for name in ("pair_difference", "pair_low", "pair_high"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9, nan_ok=True)
    assert numbers.p_value == pytest.approx(classes.p_value, abs=1e-9, nan_ok=True)
    assert numbers.index == pytest.approx(classes.index)
    assert numbers.noise_rate == pytest.approx(classes.noise_rate)
    assert numbers.base_rates["y"] == pytest.approx(classes.base_rates[1])


def staff(seed, n=600, scale=1.0, shift=0.0):
    """A table of a gender and a job with unequal variances, and the pay."""
    rng = np.random.default_rng(seed)
    job, gender = rng.integers(0, 8, n), rng.integers(0, 2, n)
    pay = 100 * job - 15 * gender + rng.normal(0, 20 + 30 * gender, n)
    return np.column_stack([gender, job]), shift + scale * np.round(pay, 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_of_means_is_least_squares_with_a_constant_for_each_context(seed):
    from statsmodels.api import OLS

    X, y = staff(seed, n=250)
    (found,) = audit_all(X, y, 0, reference=0, confidence=ONE_SIGMA).differences
    model = OLS(y, np.column_stack([X[:, 0], X[:, 1][:, None] == np.arange(8)]))
    assert found.difference == pytest.approx(model.fit().params[0], abs=1e-9)
    error = found.difference_high - found.difference
    assert error == pytest.approx(found.difference - found.difference_low)
    assert error == pytest.approx(model.fit(cov_type="HC2").bse[0], rel=0.02)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(found.difference) / error))


@pytest.mark.parametrize("seed", range(8))
def test_variances_and_degrees_of_freedom_of_numbers_in_loops(seed, monkeypatch):
    """The pair mean without one row at a time; residuals of least squares, times what a row adds to the difference."""
    rows, labels = random_numbers(seed, n=30)
    of_pairs, freedoms = [], []
    jackknife, reach = differences.jackknife_variance, differences._reach
    monkeypatch.setattr(
        differences, "jackknife_variance", lambda *given: of_pairs.append(jackknife(*given)) or of_pairs[-1]
    )
    monkeypatch.setattr(differences, "_reach", lambda *given: freedoms.append(given[1]) or reach(*given))
    (found,) = audit_all(rows, labels, 0, scale="number").differences
    contexts = number_contexts(rows, labels, *found.values)
    unit = max(np.ptp(np.concatenate(two)) for two in contexts)
    without = []
    for c, two in enumerate(contexts):
        for side in (0, 1):
            for k in range(len(two[side])):
                left = [list(some) for some in contexts]
                left[c][side] = np.delete(two[side], k)
                pairs = [y - x for a, b in left for x in a for y in b]
                without.append(np.mean(pairs))
    moved, n = np.array(without), len(without)
    assert of_pairs[0] == pytest.approx((n - 1) / n * ((moved - moved.mean()) ** 2).sum() / unit**2)
    pulls = []
    for a, b in contexts:
        share = len(a) / (len(a) + len(b))
        of_row = np.append(np.full(len(a), share - 1), np.full(len(b), share))
        y = np.append(a, b)
        pulls.append(of_row * (y - y.mean() - found.difference * of_row))
    pulls = np.concatenate(pulls)
    freedom = 3 * (pulls**2).sum() ** 2 / (pulls**4).sum()
    freedom = max(min(freedom, len(pulls) - len(contexts) - 1), 3)
    assert freedoms[0] == (pytest.approx(freedom) if freedom < 30 else np.inf)


def test_the_unit_and_the_zero_of_numbers_do_not_matter():
    X, y = staff(1, n=100)
    (one,), (other,) = (audit_all(*staff(1, n=100, **how), 0).differences for how in ({}, {"scale": 1e-6, "shift": 9}))
    for name in (
        "difference",
        "difference_low",
        "difference_high",
        "pair_difference",
        "pair_low",
        "pair_high",
        "crude",
    ):
        assert getattr(other, name) == pytest.approx(1e-6 * getattr(one, name), rel=1e-5)
    for name in ("p_value", "smallest_p", "p_homogeneity"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-5)
    (negative,) = audit_all(X, -y, 0).differences
    assert negative.difference == pytest.approx(-one.difference)
    assert (negative.gained, negative.lost) == (one.lost, one.gained)
    assert negative.difference_low == pytest.approx(-one.difference_high)


def means_of(*contexts, times=None):
    """The arguments of ``mean_difference``: sums by context."""
    sides = [side for two in zip(*contexts, strict=True) for side in [two]]
    n = [np.array([len(numbers) for numbers in side], float) for side in sides]
    sums, squares = ([np.array([(numbers**k).sum() for numbers in side]) for side in sides] for k in (1, 2))
    return *n, *sums, np.ones(len(contexts)) if times is None else times, squares


def test_the_standard_error_is_that_of_paired_and_of_welchs_tests():
    rng = np.random.default_rng(3)
    pairs = [(rng.normal(size=1), rng.normal(2, 3, size=1)) for _ in range(12)]
    difference, error = differences.mean_difference(*means_of(*pairs))
    test = ttest_rel(*(np.concatenate(side) for side in zip(*pairs, strict=True)))
    assert difference / error == pytest.approx(-test.statistic)
    one = (rng.normal(size=9), rng.normal(1, 4, size=9))
    difference, error = differences.mean_difference(*means_of(one))
    assert difference / error == pytest.approx(-ttest_ind(*one, equal_var=False).statistic)


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (1, 5), (5, 1), (2, 4), (3, 3)])
def test_the_standard_error_is_right_for_unequal_variances_in_small_contexts(n_a, n_b):
    rng = np.random.default_rng(n_a + 10 * n_b)
    found = np.array(
        [
            differences.mean_difference(*means_of(*[(rng.normal(0, 1, n_a), rng.normal(1, 3, n_b)) for _ in range(12)]))
            for _ in range(1500)
        ]
    )
    assert (found[:, 1] ** 2).mean() == pytest.approx(found[:, 0].var(), rel=0.12)  # three standard errors


def test_equal_contexts_of_numbers_may_be_given_once():
    rng = np.random.default_rng(8)
    contexts = [(rng.normal(size=3), rng.normal(size=2)), (rng.normal(size=2), rng.normal(size=4))]
    *apart, squares = means_of(*contexts, contexts[0])
    *once, fewer = means_of(*contexts, times=np.array([2, 1]))
    for measure in (differences.mean_difference, differences.same_difference):
        assert measure(*once, fewer) == pytest.approx(measure(*apart, squares))
    table = coded(np.repeat([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]], 2, axis=0), [0, 1, 2, 2] * 3)
    cells = find_contexts(table)[0]
    assert len(cells.compacted()) == 1
    score = np.array([0.5, 3.0, 4.0])
    whole, merged = (differences.measure_difference(some, (0, 1), score, 0.95) for some in (cells, cells.compacted()))
    for name, number in vars(whole).items():
        assert getattr(merged, name) == pytest.approx(number, nan_ok=True)


def test_equality_in_two_contexts_of_equal_size_is_welchs_test_of_the_difference_of_differences():
    rng = np.random.default_rng(5)
    cells = [rng.normal(0, sd, 6) for sd in (1, 2, 3, 1)]
    v = np.array([cell.var(ddof=1) / 6 for cell in cells])
    d = cells[1].mean() - cells[0].mean() - cells[3].mean() + cells[2].mean()
    z, freedom = abs(d) / np.sqrt(v.sum()), v.sum() ** 2 / (v**2 / 5).sum()
    *sums, squares = means_of((cells[0], cells[1]), (cells[2], cells[3]))
    assert differences.same_difference(*sums, squares) == pytest.approx(2 * student.sf(z, freedom))


def test_equality_of_differences_is_unknown_without_two_repeated_contexts():
    rng = np.random.default_rng(6)
    one, single = (rng.normal(size=4), rng.normal(size=4)), (rng.normal(size=1), rng.normal(size=5))
    assert math.isnan(differences.same_difference(*means_of(one, single)))
    apart = [(np.ones(3), np.ones(3)), (np.ones(3), np.zeros(3))]
    assert differences.same_difference(*means_of(*apart)) < 1e-300
    assert math.isnan(differences.same_difference(*means_of(apart[0], apart[0])))


def test_a_difference_without_any_noise_has_an_interval():
    """Half of the rows are pairs, and four half pairs more: 12 rows and a difference of 100 give 100 / (6 + 2)."""
    rows = [(value, context) for context in range(3) for value in (0, 0, 1, 1)]
    labels = [10.0 * context + 100 * value for value, context in rows]
    (found,) = audit_all(rows, labels, 0, scale="number", confidence=ONE_SIGMA).differences
    assert found.difference == pytest.approx(100)
    assert (found.difference_low, found.difference_high) == pytest.approx((100 - 12.5, 100 + 12.5))
    assert found.p_value == found.smallest_p == pytest.approx(2 / 6**3)


def test_groups_of_numbers_have_an_interval_of_their_own():
    X, y = staff(2, n=300)
    group = np.arange(300)
    again = np.tile(np.arange(300), 4)
    alone = audit_all(X, y, 0, reference=0)
    copied = audit_all(X[again], y[again], 0, reference=0, groups=group[again])
    fooled = audit_all(X[again], y[again], 0, reference=0)
    widths = [r.differences[0].difference_high - r.differences[0].difference_low for r in (alone, copied, fooled)]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[2] < 0.6 * widths[0]
    assert copied.differences[0].difference == pytest.approx(alone.differences[0].difference)
    assert copied.differences[0].p_value == pytest.approx(alone.differences[0].p_value, rel=0.5)
    assert math.isnan(copied.differences[0].p_homogeneity)
    same = audit_all(X, 5.0 * X[:, 1] + 2 * X[:, 0], 0, reference=0, groups=group, scale="number")
    (exact,) = same.differences
    assert exact.difference == pytest.approx(2)
    reach = 37 * norm.ppf(0.975) / (300 / 2 + 2)  # 37 is the largest difference of two rows
    assert (exact.difference_low, exact.difference_high) == pytest.approx((2 - reach, 2 + reach))


def test_pay_by_gender_reads_well():
    X, y = staff(0)
    frame = pd.DataFrame({"gender": np.array(["male", "female"])[X[:, 0]], "job": X[:, 1], "pay": 1000 + y.round()})
    result = audit(frame, "pay", "gender", given=["job"], reference="male")
    assert result.finding == "direction"
    assert conclusion(result) == "'pay' is 21.8 lower with female than with male (p < .001)."
    said = all_said(result)
    for words in (
        "female -21.8 -27.4 to -16.2 <.001 -19.6 11,308",
        "adjusted difference in the mean of 'pay' from the reference",
        "p: Welch's t-test within contexts.",
        "'pay' differs by 54.8 in the pairs (root mean square), and by 50.4 in pairs that agree on 'gender' as well",
        "The mean of 'pay' is 1,356.5 in the compared rows and 1,356.5 in all.",
        "Test of equality in all contexts: p = .577.",
        "Mean over pairs: 21.9 lower ('pay' is higher in 3,587 pairs, lower in 7,634).",
        "Pairs shown: one half with the largest differences, the other half near the median difference",
    ):
        assert words in " ".join(said.split())
    assert "points" not in said
    assert "odds" not in said.lower()
    assert conclusion(audit(frame, "pay", "gender", given=["job"], reference="male", scale="log")).startswith(
        "'pay' is 1."
    )
    ranks = audit(frame, "pay", "gender", given=["job"], reference="male", scale="ranks")
    assert conclusion(ranks).startswith("The mean rank of 'pay' is 2")
    assert "ranks lower with female" in conclusion(ranks)
    assert json.loads(json.dumps(result.to_dict()))["differences"][0]["odds_ratio"] is None
    assert result.records()[0]["label"] is None


def test_far_numbers_that_are_bounded_are_named_beside_the_differences():
    rng = np.random.default_rng(0)
    place = rng.integers(0, 2, 400)
    price = np.exp(rng.normal(5 + place, 1.2))
    bounded, plain = audit(place[:, None], price, 0), audit(place[:, None], price, 0, scale="number")
    (note,) = (note for note in bounded.notes if note.kind == "label-clipped")
    middle = np.sort(price)[199]
    sides = [np.sort(side * (price - middle)[side * price > side * middle]) for side in (-1, 1)]
    beyond = [np.count_nonzero(apart > 3 * 1.4826 * apart[(len(apart) + 1) // 2 - 1]) for apart in sides]
    assert 10 < note.counts[0] == sum(beyond) < 100
    assert f"{note.counts[0]} of 400 numbers of 'y' are far from the others" in " ".join(view_of(bounded).lines)
    assert "far from the others" not in " ".join(view_of(plain).lines)
    means = [price[place == value].mean() for value in (0, 1)]
    assert abs(plain.differences[0].difference) == pytest.approx(means[1] - means[0])
