"""What some features leave of the label, beside regressions of other libraries and real leave-one-out fits."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from analogical import Study
from analogical.estimate import fit
from analogical.estimate.fit import Term, what_is_left

RIDGE = 0.1


def table(seed=0, n_rows=240, n_values=(2, 3, 4)):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, n, n_rows) for n in n_values]).astype(np.uint8)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-(codes @ [0.9, -0.6, 0.4] - 0.5)))).astype(float)
    return codes, y


def left_by(*args):
    """What a fit leaves, and the variance that it expects."""
    found = what_is_left(*args)
    return found.scores, found.variance


def terms_of(codes, weights=None):
    return [Term.of(column, np.bincount(column, weights).astype(float)) for column in codes.T]


def indicators(codes):
    """A column for each value but the most frequent one, written anew."""
    columns = []
    for column in codes.T:
        values, sizes = np.unique(column, return_counts=True)
        columns += [(column == v).astype(float) for v in np.delete(values, sizes.argmax())]
    return np.column_stack(columns)


def ridge_fit(X, y, sizes=None):
    """Predicted shares by scikit-learn, with the same penalty of squared coefficients and none of the constant."""
    model = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-10, max_iter=100)
    return model.fit(X, y, sample_weight=sizes)


def everything(y):
    return np.arange(len(y))


def left_out(y, p, X, sizes=None):
    """(y - p) / (1 - h) with the leverage h of a weighted least squares, written anew with an explicit hat matrix."""
    sizes = np.ones(len(y)) if sizes is None else sizes
    X = np.column_stack([np.ones(len(y)), X - X.mean(axis=0)])
    penalty = np.diag([0.0] + [RIDGE] * (X.shape[1] - 1))
    w = p * (1 - p)
    inverse = np.linalg.inv(X.T @ (X * (sizes * w)[:, None]) + penalty)
    return (y - p) / (1 - w * np.diag(X @ inverse @ X.T))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_is_that_of_a_logistic_regression(seed):
    codes, y = table(seed)
    left, expected = left_by(terms_of(codes), y[:, None], None, everything(y))
    X = indicators(codes)
    p = ridge_fit(X, y).predict_proba(X)[:, 1]
    wanted = left_out(y, p, X)
    assert left[:, 0] == pytest.approx(wanted, abs=1e-5)
    without = y - wanted
    assert expected[:, 0] == pytest.approx(without * (1 - without), abs=1e-5)


def test_without_a_ridge_it_is_that_of_statsmodels(monkeypatch):
    from statsmodels.api import Logit, add_constant

    monkeypatch.setattr(fit, "RIDGE", 1e-9)
    codes, y = table(1, 600)
    X = add_constant(indicators(codes))
    model = Logit(y, X).fit(disp=0, tol=1e-12)
    p = model.predict(X)
    leverage = p * (1 - p) * np.einsum("ij,jk,ik->i", X, model.cov_params(), X)
    left, _ = left_by(terms_of(codes), y[:, None], None, everything(y))
    assert left[:, 0] == pytest.approx((y - p) / (1 - leverage), abs=1e-5)


def test_each_row_is_left_out_to_first_order():
    """60 real fits, each without one row."""
    codes, y = table(2, 60)
    codes = codes[:, :2]
    left, _ = left_by(terms_of(codes), y[:, None], None, everything(y))
    X = indicators(codes)
    real, naive = np.empty(60), y - ridge_fit(X, y).predict_proba(X)[:, 1]
    for r in range(60):
        others = np.arange(60) != r
        real[r] = y[r] - ridge_fit(X[others], y[others]).predict_proba(X[[r]])[0, 1]
    off = np.abs(left[:, 0] - real)
    assert off.max() < 0.01
    assert off.mean() < 0.05 * np.abs(naive - real).mean()


def test_several_classes_are_fitted_each_against_the_others():
    codes, _ = table(3)
    labels = np.random.default_rng(3).integers(0, 3, len(codes))
    y = np.eye(3)[labels]
    left, expected = left_by(terms_of(codes), y, None, everything(y))
    assert left.shape == expected.shape == (len(codes), 3)
    for k in range(3):
        alone = left_by(terms_of(codes), y[:, [k]], None, everything(y))
        assert left[:, k] == pytest.approx(alone[0][:, 0])
        assert expected[:, k] == pytest.approx(alone[1][:, 0])


def test_weights_are_repeated_rows():
    codes, y = table(4)
    weights = np.random.default_rng(4).integers(1, 4, len(y))
    times = np.repeat(np.arange(len(y)), weights)
    left, expected = left_by(terms_of(codes, weights), y[:, None], weights, everything(y))
    again = left_by(terms_of(codes[times]), y[times, None], None, everything(times))
    assert left[times] == pytest.approx(again[0], abs=1e-5)
    assert expected[times] == pytest.approx(again[1], abs=1e-5)
    assert np.abs(left - left_by(terms_of(codes), y[:, None], None, everything(y))[0]).max() > 0.01


def test_rows_in_several_blocks_are_those_in_one(monkeypatch):
    codes, y = table(5)
    some = np.arange(0, len(y), 3)
    for fitted_on in (everything(y), some):
        whole = left_by(terms_of(codes), y[:, None], None, fitted_on)
        monkeypatch.setattr(fit, "AT_ONCE", 37)
        parts = left_by(terms_of(codes), y[:, None], None, fitted_on)
        monkeypatch.undo()
        assert parts[0] == pytest.approx(whole[0], abs=1e-12)
        assert parts[1] == pytest.approx(whole[1], abs=1e-12)


def test_a_fit_on_some_rows_makes_one_more_step_on_all():
    """From coefficients of a third of the rows, one step on all comes near the fit on all."""
    codes, y = table(6, 3_000)
    third = np.arange(0, 3_000, 3)
    all_rows, _ = left_by(terms_of(codes), y[:, None], None, everything(y))
    stepped, _ = left_by(terms_of(codes), y[:, None], None, third)
    X = indicators(codes)
    only_third = y - ridge_fit(X[third], y[third]).predict_proba(X)[:, 1]
    off = np.abs(stepped - all_rows).max()
    assert off < 0.003
    assert off < 0.1 * np.abs(only_third - all_rows[:, 0]).max()


def test_a_constant_alone_leaves_the_label_less_the_mean_of_the_others():
    y = np.array([1.0, 0, 0, 1, 0, 0, 0, 0, 1, 0])
    left, expected = left_by([], y[:, None], None, everything(y))
    others = (y.sum() - y) / 9
    assert left[:, 0] == pytest.approx(y - others, abs=1e-5)
    assert expected[:, 0] == pytest.approx(others * (1 - others), abs=1e-5)


def test_values_that_determine_the_label_leave_little_and_never_break():
    """A fit that separates: coefficients stay finite, and what is left is small but not zero."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, (400, 2)).astype(np.uint8)
    for y in ((codes[:, 0] > 0).astype(float), (codes[:, 0] == codes[:, 1]).astype(float), np.eye(400)[0]):
        left, expected = left_by(terms_of(codes), y[:, None], None, everything(y))
        assert np.isfinite(left).all()
        assert (expected > 0).all()
        assert (expected <= 0.25).all()
        X = indicators(codes)
        wanted = left_out(y, ridge_fit(X, y).predict_proba(X)[:, 1], X)
        assert left[:, 0] == pytest.approx(wanted, abs=2e-3)


def test_rare_values_share_a_coefficient_and_the_most_frequent_one_has_none():
    codes = np.repeat(np.arange(6, dtype=np.uint8), [500, 300, 4, 3, 190, 3])
    term = Term.of(codes, np.bincount(codes).astype(float))
    assert term.column_of.tolist() == [-1, 0, 2, 2, 1, 2]
    assert term.width == 3
    few = Term.of(codes[:800], np.array([0.0, 6.0, 4.0, 10.0]))
    assert few.column_of.tolist() == [1, 0, 1, -1]
    share = Term.of(codes, np.array([9_000.0, 960.0, 40.0, 41.0, 60.0]))  # 40 are less than .4 % of the rows
    assert share.column_of.tolist() == [-1, 0, 3, 1, 2]
    constant = Term.of(np.zeros(5, np.uint8), np.array([5.0]))
    assert (constant.width, constant.column_of.tolist()) == (0, [-1])


def test_a_number_has_a_column_for_its_rank_too():
    rng = np.random.default_rng(8)
    fine = rng.integers(0, 20, 500).astype(np.uint8)
    codes, rank_of = (fine // 5).astype(np.uint8), (np.arange(20) + 0.5) / 20
    y = (rng.random(500) < rank_of[fine]).astype(float)
    term = Term.of(codes, np.bincount(codes).astype(float), fine, rank_of)
    assert term.width == 4
    X = np.column_stack([indicators(codes[:, None]), rank_of[fine]])
    left, _ = left_by([term], y[:, None], None, everything(y))
    p = ridge_fit(X, y).predict_proba(X)[:, 1]
    assert left[:, 0] == pytest.approx(left_out(y, p, X), abs=1e-5)


def test_leverage_is_limited():
    """A single row of 6 with its own column: what is left of it is at most twenty times its residual."""
    codes = np.array([0, 0, 0, 0, 0, 1], np.uint8)
    y = np.array([0.0, 1, 0, 1, 0, 1])
    term = Term(codes, np.array([-1, 0]))
    left, expected = left_by([term], y[:, None], None, everything(y))
    assert np.isfinite(left).all()
    assert (expected >= 1e-6 * (1 - 1e-6)).all()


def test_the_study_fits_single_features_and_those_that_act_together():
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 3, (600, 3))
    y = ((codes[:, 0] == codes[:, 1]) ^ (rng.random(600) < 0.2)).astype(int)
    study = Study(codes, y)
    left = study.left(((0,), (0, 1), (2,))).scores
    pair = codes[:, 0] * 3 + codes[:, 1]
    X = indicators(np.column_stack([codes[:, 0], pair, codes[:, 2]]))
    p = ridge_fit(X, y).predict_proba(X)[:, 1]
    sign = np.sign(np.corrcoef(left[:, 0], y)[0, 1])  # the score of the class that the study has chosen
    assert sign * left[:, 0] == pytest.approx(left_out(y, p, X), abs=1e-4)
    assert study.left(((0,), (0, 1), (2,))).scores is left
    alone = study.left(((0,), (0, 1), (2,)), 0)  # without the terms of a feature; it begins with their coefficients
    assert alone.scores == pytest.approx(Study(codes, y).left(((2,),)).scores, abs=1e-5)
    assert alone.coefficients.shape == (1, 3)


def test_where_a_fit_begins_does_not_matter():
    codes, y = table(10)
    labels = np.column_stack([y, codes[:, 0] > 0])
    plain = what_is_left(terms_of(codes), labels, None, everything(y))
    X = indicators(codes)
    model = ridge_fit(X, y)
    assert plain.coefficients[0, 1:] == pytest.approx(model.coef_[0], abs=1e-4)
    assert plain.coefficients[0, 0] == pytest.approx(model.intercept_[0] + X.mean(axis=0) @ model.coef_[0], abs=1e-4)
    start = plain.coefficients + np.random.default_rng(0).normal(size=plain.coefficients.shape) / 3
    again = what_is_left(terms_of(codes), labels, None, everything(y), start.copy())
    assert again.scores == pytest.approx(plain.scores, abs=1e-4)
    few = what_is_left(terms_of(codes[:, :2]), labels, None, everything(y), plain.coefficients[:, :4].copy())
    assert few.scores == pytest.approx(
        what_is_left(terms_of(codes[:, :2]), labels, None, everything(y)).scores, abs=1e-4
    )


def test_a_fit_that_begins_far_away_arrives():
    """All terms nearly determine the label, so that their coefficients are no start for fewer terms."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (900, 6)).astype(np.uint8)
    y = ((codes == 1).sum(axis=1) - (codes == 2).sum(axis=1) > 0).astype(float)
    full = what_is_left(terms_of(codes), y[:, None], None, everything(y))
    assert np.abs(full.coefficients).max() > 4
    for without in range(6):
        terms = terms_of(np.delete(codes, without, axis=1))
        places = np.delete(np.arange(13), [1 + 2 * without, 2 + 2 * without])
        cold = what_is_left(terms, y[:, None], None, everything(y))
        for factor in (1, 3, -2):
            warm = what_is_left(terms, y[:, None], None, everything(y), factor * full.coefficients[:, places])
            assert warm.scores == pytest.approx(cold.scores, abs=0.03)
