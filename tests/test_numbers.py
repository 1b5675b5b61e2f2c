"""Relevance for a label that is a number: against loops over pairs, known truth, and the answers for classes."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analogical import Study, relevance, select
from analogical.estimate.fit import Term, what_is_left


def flats(n_rows=1_500, seed=0):
    """Rents of simulated flats: 100 for each room, 80 more in the centre, and nothing for the age that goes with it."""
    rng = np.random.default_rng(seed)
    rooms, centre = rng.integers(1, 6, n_rows), rng.random(n_rows) < 0.4
    age = np.round(rng.normal(40 + 30 * centre, 12), 1)
    rent = 100 * rooms + 80 * centre + rng.normal(0, 60, n_rows)
    frame = pd.DataFrame(
        {"rooms": rooms, "place": np.where(centre, "centre", "suburb"), "age": age, "coin": rng.integers(0, 2, n_rows)}
    )
    return frame, rent


def test_what_makes_a_flat_dear():
    found = relevance(*flats())
    assert found.with_status("effect") == ["rooms", "place"]
    assert found["place"]["direction"]["value"] == "centre"
    assert abs(found["place"]["direction"]["difference"] - 80) < 12
    assert found["place"]["direction"]["low"] < 80 < found["place"]["direction"]["high"]
    assert found["place"]["effect_low"] ** 0.5 < 80 < found["place"]["effect_high"] ** 0.5
    assert found["age"]["status"] in ("none", "unclear")
    assert found.settings.scale == "number"


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e9])
@pytest.mark.parametrize("options", [{}, {"given": "all"}, {"given": []}, {"given": ["rooms"]}])
def test_another_unit_changes_the_unit_only(options, size):
    frame, rent = flats(400)
    one, other = relevance(frame, rent, **options), relevance(frame, (5_000 - rent) * size, **options)
    assert one.status == other.status
    assert other.p_value == pytest.approx(one.p_value, rel=1e-6, nan_ok=True)
    for name in ("effect", "effect_low", "effect_high", "index", "noise_rate"):
        assert getattr(other, name) / size**2 == pytest.approx(getattr(one, name), rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("options", [{}, {"given": "all"}, {"given": []}, {"groups": np.arange(432) // 2}])
@pytest.mark.parametrize("rule", ["sum", "exclusive or", "chance", "many"])
def test_the_numbers_0_and_1_are_two_classes(options, rule):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (432, 9))
    logit = {
        "sum": X[:, 0] - X[:, 1],
        "exclusive or": 4.0 * ((X[:, 0] > 0) ^ (X[:, 1] > 0)) - 2,
        "chance": np.zeros(432),
        "many": X[:, :7].sum(axis=1) - 7.0,
    }[rule]
    y = (rng.random(432) < 1 / (1 + np.exp(-logit))).astype(int)
    classes, numbers = relevance(X, y, **options), relevance(X, y, scale="number", **options)
    for name in ("names", "status", "given", "adjusted_for", "deciding", "same_as", "paper_status"):
        assert getattr(classes, name) == getattr(numbers, name)
    for name in ("pairs", "changed", "compared"):
        assert (getattr(classes, name) == getattr(numbers, name)).all()
    for name in ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index", "noise_rate"):
        assert getattr(numbers, name) == pytest.approx(getattr(classes, name), rel=1e-9, abs=1e-12, nan_ok=True)
    for one, other in zip(classes.direction, numbers.direction, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert other.difference * 100 == pytest.approx(one.difference, abs=1e-6)
    assert numbers.settings.negligible == pytest.approx(classes.settings.negligible)


def by_loops(rows, labels, feature):
    """Mean squared difference of the pairs that differ on one feature only, and how many they are."""
    others = [tuple(np.delete(row, feature)) for row in rows]
    squares = [
        (labels[r] - labels[s]) ** 2
        for r, s in combinations(range(len(rows)), 2)
        if others[r] == others[s] and rows[r][feature] != rows[s][feature]
    ]
    return np.mean(squares), len(squares)


@pytest.mark.parametrize("seed", range(4))
def test_the_index_is_the_mean_squared_difference_of_pairs(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (60, 3)), np.round(rng.normal(1000, 20, 60), 1)
    found = relevance(X, y, given="all", scale="number")
    for feature in range(3):
        index, n_pairs = by_loops(X.tolist(), y.tolist(), feature)
        assert found.compared[feature] == n_pairs
        assert found.index[feature] == pytest.approx(index)


def permuted_p(values, labels, contexts, n_draws, rng):
    """How often permuted labels give a sum of squared deviations from expectation as large, scaled by value."""

    def statistic(y):
        total = 0.0
        for v in np.unique(values):
            deviation = sum(
                (y[contexts == c] - y[contexts == c].mean())[values[contexts == c] == v].sum()
                for c in np.unique(contexts)
            )
            total += deviation**2 / (values == v).sum()
        return total

    seen = statistic(labels)
    draws = []
    for _ in range(n_draws):
        y = labels.copy()
        for c in np.unique(contexts):
            y[contexts == c] = rng.permutation(y[contexts == c])
        draws.append(statistic(y))
    return float(np.mean(np.array(draws) >= seen))


def test_p_values_agree_with_permutations_of_the_numbers():
    rng = np.random.default_rng(5)
    contexts, values = rng.integers(0, 4, 240), rng.integers(0, 3, 240)
    y = 3 * contexts + 0.35 * (values == 1) + rng.normal(size=240)
    expected = permuted_p(values, y, contexts, 2_000, rng)
    found = relevance(
        np.column_stack([contexts, values]), y, given=["x0"], features=["x0", "x1"], feature_names=["x0", "x1"]
    )
    # the smallest of two tests, times two: of a common and of any direction
    assert found["x1"]["p_value"] / 2 <= expected + 0.03
    assert 0.001 < expected < 0.2
    assert found["x1"]["p_value"] < 4 * expected + 0.03


def test_unrelated_features_are_seldom_significant():
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, (150, 4)), np.exp(rng.normal(size=150))
        p += relevance(X, y, given=[]).p_value.tolist()
    assert 0 < np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / len(p)) ** 0.5
    assert multipletests(p, method="holm")[0].sum() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_of_a_number_is_what_a_fit_without_the_row_misses(seed):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, n, 90) for n in (2, 3, 4)]).astype(np.uint8)
    y = 50 + codes @ [3.0, -2.0, 1.0] + rng.normal(size=90)
    terms = [Term.of(column, np.bincount(column).astype(float)) for column in codes.T]
    found = what_is_left(terms, y[:, None], None, np.arange(90), are_classes=False)
    indicators = [
        (column == v) for column in codes.T for v in np.delete(np.unique(column), np.bincount(column).argmax())
    ]
    design = np.column_stack([np.ones(90), *indicators]).astype(float)
    design[:, 1:] -= design[:, 1:].mean(axis=0)
    penalty = np.diag([1e-6] + [0.1] * (design.shape[1] - 1))
    for row in range(0, 90, 7):
        rest = np.delete(np.arange(90), row)
        w = np.linalg.solve(design[rest].T @ design[rest] + penalty, design[rest].T @ y[rest])
        assert found.scores[row, 0] == pytest.approx(y[row] - design[row] @ w, abs=1e-6)
    assert found.variance[0, 0] == pytest.approx((found.scores**2).mean())


def test_an_exclusive_or_of_a_number_is_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (800, 6))
    y = 10 * (X[:, 0] ^ X[:, 1]) + rng.normal(0, 5, 800)
    study = Study(X, y)
    assert set(relevance(study).with_status("effect")) == {"x0", "x1"}
    assert set(select(study).features) == {"x0", "x1"}


def test_many_small_effects_are_all_found_and_their_neighbours_are_not():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(3_000, 8))
    neighbours = 0.7 * features + np.sqrt(1 - 0.49) * rng.normal(size=features.shape)
    y = features.sum(axis=1) + rng.normal(0, 2, 3_000)
    found = relevance(np.column_stack([features, neighbours]), y)
    assert set(found.with_status("effect")) == {f"x{k}" for k in range(8)}
    assert any(found.adjusted_for)


def test_a_slope_is_the_change_of_the_label_with_a_number():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"area": rng.gamma(4, 25, 3_000), "rooms": rng.integers(1, 8, 3_000), "side": rng.random(3_000) < 0.5}
    )
    price = 1_500 * frame.area + 20_000 * frame.rooms + rng.normal(0, 30_000, 3_000)
    found = relevance(frame, price)
    area, rooms = found["area"]["slope"], found["rooms"]["slope"]
    assert (area["step"], rooms["step"], found["side"]["slope"]) == (10, 1, None)
    assert area["low"] < 15_000 < area["high"]
    assert rooms["low"] < 20_000 < rooms["high"]
    assert area["high"] - area["low"] < 1_500


def test_a_slope_is_a_regression_on_values_with_a_constant_for_each_context():
    from statsmodels.api import OLS

    rng = np.random.default_rng(3)
    context, x = rng.integers(0, 3, 500), rng.integers(0, 5, 500)
    y = 5.0 * context + np.array([0.0, 2, 1, 4, 3])[x] + rng.normal(size=500)
    (slope,) = relevance(pd.DataFrame({"x": x, "c": context}), y, given=["c"]).slope[:1]
    fitted = OLS(y, np.column_stack([np.eye(3)[context], np.eye(5)[x][:, 1:]])).fit()
    means, rows = np.array([0.0, *fitted.params[3:]]), np.bincount(x)
    away = np.arange(5) - rows @ np.arange(5) / 500
    contrast = rows * away / (rows @ away**2)
    assert slope.step == 1
    assert slope.difference == pytest.approx(contrast @ means, rel=1e-9)
    covariance = np.zeros((5, 5))
    covariance[1:, 1:] = fitted.get_robustcov_results("HC3").cov_params()[3:, 3:]
    error = (slope.high - slope.low) / (2 * 1.959964)
    assert error == pytest.approx(np.sqrt(contrast @ covariance @ contrast), rel=0.1)
