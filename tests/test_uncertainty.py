"""Intervals, noise floor and p-values, against loops that delete rows and deal labels."""

import numpy as np
import pytest
from conftest import random_table
from hypothesis import given
from hypothesis import strategies as st
from naive import (
    naive_counts,
    naive_deals,
    naive_jackknife,
    naive_moments,
    naive_pair_variance,
    naive_separation,
    naive_share,
)

import analogical
from analogical import InputError, _uncertainty, ari_score, relevance
from analogical._uncertainty import (
    bootstrap_rows,
    collapse_cells,
    corrected_variance,
    group_by_context,
    jackknife_variance,
    pair_interval,
    pearson_tail,
    permutation_p_value,
    wilson,
)


def arrays(rows, labels):
    codes = np.asarray(rows)
    dense = np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T]).astype(np.uint8)
    return dense, np.unique(labels, return_inverse=True)[1].astype(np.uint8), dense.max(axis=0).astype(np.int64) + 1


def lists(rows, labels):
    return [tuple(row) for row in np.asarray(rows).tolist()], np.asarray(labels).tolist()


def small_table(rng, **shape):
    rows, labels = random_table(rng, **{"n_features": 3, "n_values": 3, "n_rows": 14} | shape)
    rows[0, 0], rows[-1, 0] = 0, 1
    return rows, labels


@pytest.mark.parametrize("seed", range(25))
def test_jackknife_equals_deleting_one_row_at_a_time(seed):
    rows, labels = small_table(np.random.default_rng(seed))
    plain_rows, plain_labels = lists(rows, labels)
    codes, classes, n_values = arrays(rows, labels)
    cells = collapse_cells(codes, classes, n_values, None)
    for i in range(3):
        grouped = group_by_context(cells, i)
        weights = cells.weights[grouped.order]
        n_pairs, n_changed = int((weights * grouped.pairs).sum()) // 2, int((weights * grouped.changed).sum()) // 2
        expected = naive_counts(plain_rows, plain_labels)
        assert (n_pairs, n_changed) == (expected["pairs"][i], expected["changed"][i])
        if n_pairs:
            got = jackknife_variance(n_pairs, n_changed, grouped.pairs, grouped.changed, weights)
            assert got == pytest.approx(naive_jackknife(plain_rows, plain_labels, i), abs=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_standard_error_takes_out_what_pairs_count_twice(seed):
    rows, labels = small_table(np.random.default_rng(seed))
    result = relevance(rows, labels)
    for i in range(3):
        if result.pairs[i]:
            jackknife = naive_jackknife(*lists(rows, labels), i)
            variance = jackknife - naive_pair_variance(*lists(rows, labels), i)
            assert result.std_error[i] == pytest.approx(max(variance, jackknife / 2) ** 0.5, abs=1e-9)
            assert 0 <= result.ci_low[i] <= result.ari[i] <= result.ci_high[i] <= 1
        else:
            assert np.isnan([result.std_error[i], result.ci_low[i], result.ci_high[i], result.p_value[i]]).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_is_so_many_independent_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = small_table(rng)
    weights = rng.integers(0, 4, size=len(rows))
    weights[[0, -1]] = 1, 2
    weighted = relevance(rows, labels, weights=weights)
    expanded = relevance(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    for name in ("std_error", "ci_low", "ci_high", "p_value"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(expanded, name), rtol=1e-9, atol=1e-12)
    assert weighted.noise == expanded.noise


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_p_value_has_the_moments_of_all_deals_of_the_labels(seed, exact, monkeypatch):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3], size=(7, 2))
    labels = rng.integers(0, 3, size=7)
    plain_rows, plain_labels = lists(rows, labels)
    monkeypatch.setattr(_uncertainty, "EXACT_IN_FLOATS", 0 if exact else 1000)
    seen = []
    monkeypatch.setattr(_uncertainty, "pearson_tail", lambda z, skewness: seen.append((z, skewness)) or 0.5)
    codes, classes, n_values = arrays(rows, labels)
    cells = collapse_cells(codes, classes, n_values, None)
    p = permutation_p_value(cells, group_by_context(cells, 1))
    deals = list(naive_deals(plain_rows, plain_labels, 1))
    mean, variance, skewness = naive_moments([naive_separation(plain_rows, dealt) for dealt in deals])
    if variance < 1e-9:
        assert np.isnan(p)
    else:
        z = (naive_separation(plain_rows, plain_labels) - mean) / variance**0.5
        assert seen == [(pytest.approx(z, abs=1e-6), pytest.approx(skewness, abs=1e-6))]


def test_pearson_tail_is_a_gamma_tail_on_either_side_and_normal_in_the_middle():
    from scipy.stats import norm, pearson3

    for z in (-3.0, -1.0, 0.0, 0.5, 2.0, 5.0):
        for skewness in (-1.5, -0.2, 0.3, 2.0):
            assert pearson_tail(z, skewness) == pytest.approx(pearson3.sf(z, skewness), abs=1e-12)
        assert pearson_tail(z, 0.0) == pytest.approx(norm.sf(z))


def test_one_changed_pair_says_little():
    result = relevance([(0, 0), (1, 0), (1, 1)], [0, 1, 1])
    assert result.ari.tolist() == [1.0, 0.0]
    assert result.ci_low[0] == pytest.approx(0.2065, abs=1e-4)
    assert result.ci_high[0] == 1.0
    assert (result.ci_low[1], result.ci_high[1]) == (0.0, pytest.approx(0.7935, abs=1e-4))


def test_wilson_is_scipys():
    from scipy.stats import binomtest

    for changed, n in ((0, 5), (3, 7), (20, 30), (9, 9)):
        expected = binomtest(changed, n).proportion_ci(method="wilson")
        assert wilson(changed / n, n, 0.95) == pytest.approx((expected.low, expected.high))


def test_pairs_without_rows_in_common_are_independent():
    """One pair per context: the interval is Wilson's on the pairs themselves."""
    n = 40
    rows = [(value, context) for context in range(n) for value in (0, 1)]
    labels = [int(value and context < 10) for context in range(n) for value in (0, 1)]
    result = relevance(rows, labels)
    assert (result.ci_low[0], result.ci_high[0]) == pytest.approx(wilson(0.25, 40, 0.95), abs=0.01)


def test_rows_not_pairs_are_counted():
    """100 rows make 2,500 pairs; the interval must not shrink as if these were independent."""
    rows = [(r % 2,) for r in range(100)]
    labels = [int(r < 5) for r in range(100)]
    result = relevance(rows, labels)
    assert result.pairs[0] == 2500
    low, high = wilson(result.ari[0], 2500, 0.95)
    assert result.ci_high[0] - result.ci_low[0] > 3 * (high - low)


def test_corrected_variance_stays_between_half_and_all():
    assert corrected_variance(4.0, 1.0) == 3.0
    assert corrected_variance(4.0, 3.0) == 2.0
    assert corrected_variance(0.0, 0.0) == 0.0


def test_row_in_every_pair_changes_nothing():
    """A star: one row of a against four of b. Without the one there is no pair left."""
    rows, labels = [(0,), (1,), (1,), (1,), (1,)], [0, 0, 0, 1, 1]
    assert relevance(rows, labels).std_error[0] > 0
    assert naive_share(rows[1:], labels[1:], 0) is None


def test_noise_floor_is_the_flip_rate_of_identical_rows():
    rows = [(0, 0)] * 4 + [(1, 0)]
    result = relevance(rows, [0, 0, 0, 1, 1])
    assert result.noise.rate == 3 / 6
    assert result.noise.ci_low < 0.5 < result.noise.ci_high
    assert "Noise floor: identical rows differ in label in 50.0 %" in repr(result)
    assert result.to_dict()["noise"]["rate"] == 0.5


def test_noise_floor_is_unknown_without_repeated_rows():
    result = relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0])
    assert result.noise.rate is result.noise.ci_low is result.to_dict()["noise"]["rate"] is None
    assert "unknown, because no row repeats" in repr(result)
    assert "unknown, because no row repeats" in result._repr_html_()
    assert np.isnan(result.p_value).all()


def test_rows_counted_once_have_no_noise_floor_and_no_p_value():
    rows = [(0, 0)] * 4 + [(1, 0)] * 3
    result = relevance(rows, [0, 0, 1, 1, 1, 1, 0], duplicates="once")
    assert result.noise.rate is None
    assert np.isnan(result.p_value).all()
    assert "counted once" in repr(result)


def test_real_effect_has_a_small_p_value_and_a_column_of_noise_has_not():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(400, 4))
    labels = rows[:, 0] ^ (rng.random(400) < 0.1)
    p = relevance(rows, labels).p_value
    assert p[0] < 1e-6
    assert (p[1:] > 0.05).all()


def test_values_apart_count_even_where_fewer_labels_change_than_by_noise():
    """The class on the Titanic: its index is the noise floor, and yet the classes differ."""
    table = analogical.load_table("titanic")
    result = relevance(table.X, table.y, weights=table.weights, feature_names=table.feature_names)
    assert result.ari[0] == pytest.approx(result.noise.rate, abs=0.002)
    assert result.p_value[0] < 1e-6


def test_large_contexts_are_counted_in_whole_numbers():
    rng = np.random.default_rng(0)
    feature = rng.integers(0, 2, size=12_000)
    labels = rng.integers(0, 2, size=12_000)
    nothing = relevance(feature[:, None], labels).p_value[0]
    something = relevance(feature[:, None], labels | (feature & (rng.random(12_000) < 0.2))).p_value[0]
    assert nothing > 0.01
    assert something < 1e-6


def test_no_confidence_no_intervals():
    result = relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0], confidence=None)
    assert result.std_error is result.ci_low is result.ci_high is result.p_value is result.determined_by is None
    assert result.to_dict()["features"][0]["ci_low"] is None
    assert "CI" not in repr(result)
    assert "values" in repr(result)
    assert result == relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0], confidence=None)
    assert result != relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0])


def test_ari_score_pays_for_no_interval(monkeypatch):
    monkeypatch.setattr("analogical._relevance.uncertainty", None)
    assert ari_score(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 0, 1]).tolist() == [0.0, 1.0]


def test_higher_confidence_gives_wider_intervals():
    rows, labels = small_table(np.random.default_rng(1))
    narrow, wide = (relevance(rows, labels, confidence=level) for level in (0.5, 0.99))
    known = narrow.pairs > 0
    assert (narrow.ci_high[known] - narrow.ci_low[known] < wide.ci_high[known] - wide.ci_low[known]).all()
    assert wide.settings.confidence == 0.99
    assert "99% CI" in repr(wide)


@pytest.mark.parametrize("level", [0, 1, 1.5, "high", True])
def test_impossible_confidence_is_refused(level):
    with pytest.raises(InputError, match=r"confidence must be a number between 0 and 1, such as 0\.95, or None, got"):
        relevance([(0,), (1,)], [0, 1], confidence=level)


def test_wide_tables_are_grouped_by_values_not_by_hashes(monkeypatch):
    rng = np.random.default_rng(2)
    rows, labels = random_table(rng, n_rows=60, n_features=200, n_values=2)
    expected = relevance(rows, labels)
    original = _uncertainty._random_numbers
    tries = set()

    def collide(seed, feature, n_values):
        tries.add(seed)
        return np.zeros(n_values, dtype=np.uint64) if seed < 2 else original(seed, feature, n_values)

    monkeypatch.setattr(_uncertainty, "_random_numbers", collide)
    assert relevance(rows, labels) == expected
    assert tries == {0, 1, 2}
    narrow = relevance(rows[:, :5], labels)
    codes, classes, n_values = arrays(rows, labels)
    assert collapse_cells(codes, classes, n_values, None).weights.sum() == 60
    assert narrow.pairs.sum() >= 0


def test_bootstrap_agrees_with_the_jackknife_and_is_repeatable():
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 2, size=(300, 4))
    labels = rows[:, 0] & rows[:, 1]
    closed = relevance(rows, labels)
    drawn = relevance(rows, labels, bootstrap=60, random_state=1)
    assert drawn.settings.bootstrap == 60
    np.testing.assert_allclose(drawn.std_error[:2], closed.std_error[:2], rtol=0.5)
    assert drawn == relevance(rows, labels, bootstrap=60, random_state=1)
    weighted = relevance(rows, labels, weights=np.full(300, 2), bootstrap=5, random_state=1)
    assert np.isfinite(weighted.ci_low[:2]).all()


def test_bootstrap_shows_its_progress(capsys):
    relevance([(0, 0), (0, 1), (1, 0), (1, 1)] * 3, [0, 1, 1, 0] * 3, bootstrap=3, progress=True, random_state=0)
    captured = capsys.readouterr()
    assert captured.err.endswith("\rresampling rows: 3 of 3\n")
    assert captured.out == ""


def test_bootstrap_gives_nothing_where_most_resamples_have_no_score():
    std_error, low, high = bootstrap_rows(lambda w: np.array([np.nan, float(w[0])]), 5, 20, 0.95, 0)
    assert np.isnan([std_error[0], low[0], high[0]]).all()
    assert low[1] <= high[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bootstrap": 1}, "bootstrap must be a whole number of resamples from 2, or None, got 1"),
        ({"bootstrap": 10, "confidence": None}, "bootstrap needs a level for its intervals"),
    ],
)
def test_impossible_bootstrap_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        relevance([(0,), (1,)], [0, 1], **settings)


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
    plain = relevance(rows, labels)
    renamed = relevance([(values[a], 1 - b) for a, b in rows], [f"class {classes[label]}" for label in labels])
    for name in ("std_error", "ci_low", "ci_high", "p_value"):
        np.testing.assert_allclose(getattr(plain, name), getattr(renamed, name), rtol=1e-7, atol=1e-9)
    assert plain.noise.rate == renamed.noise.rate
    if plain.noise.rate is not None:
        assert plain.noise.ci_low == pytest.approx(renamed.noise.ci_low)
        assert plain.noise.ci_high == pytest.approx(renamed.noise.ci_high)


def test_interval_of_pairs_alone():
    weights = np.ones(2, dtype=np.int64)
    ones = np.ones(2, dtype=np.int64)
    assert pair_interval(1, 0, ones, 0 * ones, weights, 0.95)[0] == 0.0


def test_frame_has_the_new_columns():
    frame = relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 0, 1]).to_frame("polars")
    assert {"std_error", "ci_low", "ci_high", "p_value", "determined_by"} <= set(frame.columns)
