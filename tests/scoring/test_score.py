"""What the score is where labels show noise, and the one word for each feature."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import coded

from analogical import relevance
from analogical.counting.counts import PairCounts
from analogical.counting.pairs import sum_contexts
from analogical.scoring import noise
from analogical.scoring.noise import score_less_noise
from analogical.scoring.status import decide_status
from analogical.scoring.summaries import summarise_contexts


def summary(n_effective, n_pairs, noise_sum, effect):
    """As much of a summary as the score looks at."""
    profile = SimpleNamespace(n_effective=n_effective)
    return SimpleNamespace(
        effect=SimpleNamespace(n_pairs=n_pairs, noise=noise_sum, profile=profile, effect=lambda: effect)
    )


def counts(n_identical, n_contradictions):
    return PairCounts(np.array([9, 9]), np.array([1, 1]), 100, 90, n_identical, n_contradictions)


INDEX = np.array([0.5, 0.25, np.nan])
KNOWN = [summary(100, 400, 40, 0.3), summary(99.9, 100, 35, 0.05), None]


@pytest.mark.parametrize(("contradictions", "noise_free"), [(0, False), (0, True), (7, True)])
def test_without_noise_the_score_is_the_index(contradictions, noise_free):
    found = score_less_noise(counts(20, contradictions), INDEX, KNOWN, noise_free=noise_free)
    assert np.array_equal(found.score, INDEX, equal_nan=True)
    assert found.basis == ("index", "index", "none")
    assert math.isnan(found.pooled_noise)


def test_with_noise_it_is_the_effect_on_a_hundred_effective_pairs_else_the_index_less_pooled_noise():
    found = score_less_noise(counts(20, 7), INDEX, KNOWN, noise_free=False)
    assert found.score[:2] == pytest.approx([0.3, 0.25 - 75 / 500])
    assert math.isnan(found.score[2])
    assert found.basis == ("effect", "index less pooled noise", "none")
    assert found.pooled_noise == pytest.approx(75 / 500)
    assert INDEX[0] == 0.5  # the index itself is left as it is


def test_without_any_pair_that_tells_the_noise_of_identical_rows_stands_in():
    unknown = [summary(0, 0, 0, math.nan), summary(0, 0, 0, math.nan), None]
    found = score_less_noise(counts(40, 10), INDEX, unknown, noise_free=False)
    assert found.score[:2] == pytest.approx([0.25, 0.0])
    assert found.pooled_noise == 0.25


def test_noise_on_a_handful_of_pairs_is_not_taken_off():
    few = [summary(9, 29, 12, 0.1), summary(0, 0, 0, math.nan), None]
    found = score_less_noise(counts(29, 14), INDEX, few, noise_free=False)
    assert found.score[:2].tolist() == INDEX[:2].tolist()
    assert found.basis == ("index", "index", "none")
    assert math.isnan(found.pooled_noise)
    found = score_less_noise(counts(30, 15), INDEX, few, noise_free=False)  # identical rows are enough
    assert found.pooled_noise == 0.5
    enough = [summary(9, 30, 12, 0.1), summary(0, 0, 0, math.nan), None]
    assert score_less_noise(counts(30, 15), INDEX, enough, noise_free=False).pooled_noise == pytest.approx(12 / 30)


def test_pooled_noise_is_not_named_where_no_feature_needs_it():
    known = [summary(150, 400, 40, 0.3), summary(100, 100, 35, 0.05), None]
    found = score_less_noise(counts(20, 7), INDEX, known, noise_free=False)
    assert found.score[:2].tolist() == [0.3, 0.05]
    assert math.isnan(found.pooled_noise)


def test_a_hundred_effective_pairs_know_the_noise_well():
    assert noise.WELL_KNOWN == 100


def test_score_of_a_noisy_table_is_its_effect():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (800, 3))
    labels = rows[:, 0] ^ (rng.random(800) < 0.2)
    result = relevance(rows, labels, radius=1)
    assert result.score_basis == ("effect",) * 3
    assert result.score.tolist() == result.effect.tolist()
    assert result.score_low.tolist() == result.effect_low.tolist()
    assert result.effect[0] == pytest.approx(0.6**2 / 1, abs=0.06)  # shares .2 and .8: half of twice .6 squared
    assert result.noise_rate[0] == pytest.approx(2 * 0.2 * 0.8, abs=0.04)
    assert result.settings.pooled_noise is None
    free = relevance(rows, labels, radius=1, noise_free=True)
    assert free.score.tolist() == free.ari.tolist()
    assert free.status == ("effect",) * 3


def test_pooled_noise_is_that_of_all_features_together():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, [2, 2, 3], (40, 3))
    labels = rows[:, 0] ^ (rng.random(40) < 0.2)
    table = coded(rows, labels)
    effects = [found.effect for found in sum_contexts(table, summarise_contexts(table)).summaries]
    pooled = sum(effect.noise for effect in effects) / sum(effect.n_pairs for effect in effects)
    result = relevance(rows, labels, radius=1)
    assert result.score_basis == ("index less pooled noise",) * 3
    assert result.settings.pooled_noise == pytest.approx(pooled)
    assert result.score == pytest.approx(result.ari - pooled)
    assert np.isnan(result.score_low).all()


@pytest.mark.parametrize(
    ("n_values", "pairs", "changed", "p", "known", "noise_free", "word"),
    [
        (1, 0, False, math.nan, False, False, "constant"),
        (2, 0, False, math.nan, False, False, "no-pairs"),
        (2, 9, False, 0.9, True, False, "none-seen"),
        (2, 9, False, 0.9, True, True, "none-seen"),
        (2, 9, True, 0.05, True, False, "effect"),
        (2, 9, True, 0.05, False, False, "effect"),
        (2, 9, True, 0.0501, True, False, "unclear"),
        (2, 9, True, 0.0501, False, False, "noise-unknown"),
        (2, 9, True, math.nan, True, False, "unclear"),
        (2, 9, True, math.nan, False, False, "noise-unknown"),
        (2, 9, True, 0.9, False, True, "effect"),
        (2, 9, True, math.nan, True, True, "effect"),
    ],
)
def test_one_word_says_what_is_known(n_values, pairs, changed, p, known, noise_free, word):
    found = decide_status(
        *(np.array([number]) for number in (n_values, pairs, changed, p, known)), level=0.05, noise_free=noise_free
    )
    assert found == (word,)


def test_every_feature_has_its_own_word():
    found = decide_status(
        np.array([2, 1, 2]),
        np.array([4, 0, 4]),
        np.array([True, False, False]),
        np.array([0.01, np.nan, 1.0]),
        np.array([True, True, True]),
        level=0.02,
    )
    assert found == ("effect", "constant", "none-seen")
