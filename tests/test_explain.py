"""The explanation of the label: members, what each feature is compared given, and what is subtracted."""

import numpy as np
import pandas as pd
import pytest

from analogical import Study, relevance, select
from analogical.estimate.status import LEVEL
from analogical.estimate.tests import adjust_for_features


def share(total):
    return 1 / (1 + np.exp(-total))


def with_neighbours(n_rows, seed, n=7):
    """A label to which so many numbers add up, and for each a neighbour that is correlated .7."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n))
    near = 0.7 * X + np.sqrt(1 - 0.49) * rng.normal(size=(n_rows, n))
    y = (rng.random(n_rows) < share(0.9 * X.sum(axis=1))).astype(int)
    names = [f"x{i}" for i in range(n)] + [f"near{i}" for i in range(n)]
    return pd.DataFrame(np.hstack([X, near]), columns=names), y


def exclusive_or_beside(n_rows, seed, n_main=4):
    """Two features that act only together beside features that add up, and four that do nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n_rows, n_main + 6))
    total = 1.1 * (codes[:, 2 : 2 + n_main] - 0.5).sum(axis=1) + 2.6 * ((codes[:, 0] ^ codes[:, 1]) - 0.5)
    return codes, (rng.random(n_rows) < share(total)).astype(int), {f"x{i}" for i in range(n_main + 2)}


@pytest.fixture(scope="module")
def overflow():
    return Study(*with_neighbours(2_000, 1))


@pytest.fixture(scope="module")
def mixed():
    codes, y, _ = exclusive_or_beside(2_500, 4, 8)
    return Study(codes, y)


@pytest.fixture(params=["overflow", "mixed"])
def study(request):
    return request.getfixturevalue(request.param)


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize("seed", range(3))
def test_of_seven_numbers_with_neighbours_the_numbers_are_found(seed):
    X, y = with_neighbours(2_000, seed)
    assert sorted(relevance(X, y).with_status("effect")) == [f"x{i}" for i in range(7)]


@pytest.mark.parametrize("n_rows", [1_000, 5_000])
@pytest.mark.parametrize("seed", range(2))
def test_an_exclusive_or_beside_four_main_effects_is_found(n_rows, seed):
    codes, y, expected = exclusive_or_beside(n_rows, seed)
    study = Study(codes, y)
    assert set(relevance(study).with_status("effect")) == expected
    assert (0, 1) in study.explanation.parts


def test_every_member_is_significant_given_the_others(study):
    explanation = study.explanation
    given = study.given("auto")
    p = np.array([study.p_value(f, given[f]) for f in range(study.n_features)])
    adjusted = adjust_for_features(p)
    members = explanation.features
    assert len(members) == len(set(members)) >= 7
    assert (adjusted[members] <= LEVEL).all()
    assert set(members) == set(np.flatnonzero(adjusted <= LEVEL))
    assert set(select(study).features) == {study.table.names[f] for f in members}
    assert relevance(study).p_value.tolist() == pytest.approx(p.tolist())


def test_shuffled_labels_have_no_explanation():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found += bool(Study(rng.integers(0, 3, (200, 8)), rng.integers(0, 2, 200)).explanation.columns)
    assert found <= 2


def test_a_member_that_says_nothing_beside_the_others_leaves():
    """z is the sum of two features, and first in the votes; beside both it says nothing."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 3000))
    proxy = np.where(rng.random(3000) < 0.9, a + b, rng.integers(0, 3, 3000))
    y = (rng.random(3000) < 0.1 + 0.4 * (a + b)).astype(int)
    study = Study(pd.DataFrame({"proxy": proxy, "a": a, "b": b, "u": rng.integers(0, 3, 3000)}), y)
    assert sorted(study.explanation.features) == [1, 2]
    study.explanation.columns.append(0)
    study.explanation._prune()
    assert sorted(study.explanation.features) == [1, 2]


def test_parts_go_with_their_members(mixed):
    explanation = type(mixed.explanation)(mixed, mixed.total_rows)
    explanation.columns = [c for c in explanation.columns if c not in (0, 1)] + [11, 0, 1]
    explanation.parts = [(0, 1), (1, 11)]
    explanation._prune()
    assert sorted(explanation.features) == list(range(10))
    assert explanation.parts == [(0, 1)]


def test_a_feature_joins_if_it_is_significant_among_all_features(overflow):
    """From nothing, single features are added one after the other, the smallest p-value first."""
    explanation = type(overflow.explanation)(overflow, overflow.total_rows)
    explanation.columns, explanation.parts = [], []
    alone = [overflow.tested(f, ()).p_value for f in range(14)]
    tried = []
    original = explanation._p_values
    explanation._p_values = lambda features: tried.append(list(explanation.columns)) or original(features)
    explanation._extend()
    assert tried[0] == []
    assert tried[1] == [int(np.argmin(alone))]
    assert {f"x{f}" for f in explanation.features[:7]} == {f"x{f}" for f in range(7)}


def test_noise_of_p_below_a_twentieth_does_not_join():
    """Of 30 features that do nothing the best one has p < .05 alone."""
    rng = np.random.default_rng(6)
    codes, y = rng.integers(0, 2, (400, 30)), rng.integers(0, 2, 400)
    study = Study(codes, y)
    alone = np.array([study.tested(f, ()).p_value for f in range(30)])
    assert (alone <= 0.05).sum() >= 1
    assert alone.min() * 30 > 0.05
    explanation = study.explanation
    assert explanation.columns == []
    explanation._extend()
    assert explanation.columns == []


def test_p_values_count_all_features_that_vary(monkeypatch):
    """Features that are not tried have 1, so that Holm's method counts them; constants have none."""
    rng = np.random.default_rng(5)
    codes, y = rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300)
    codes[:, 4] = 1
    monkeypatch.setattr("analogical.explain.MOST_TRIED", 2)
    explanation = Study(codes, y).explanation
    shares = explanation.further([0, 1, 2, 3, 5])
    assert explanation._tried() == sorted([0, 1, 2, 3, 5], key=lambda f: -shares[f])[:2]
    p = explanation._p_values([0])
    assert p[[1, 2, 3, 5]].tolist() == [1.0] * 4
    assert np.isnan(p[4])
    assert p[0] == explanation.study.tested(0, ()).p_value


@pytest.mark.parametrize(("p", "joins"), [(0.05 / 3.9, False), (0.05 / 4.1, True)])
def test_a_further_member_is_one_of_the_features_that_are_left(monkeypatch, p, joins):
    """Of six features two are members: Holm's method multiplies the smallest of the others by four."""
    rng = np.random.default_rng(0)
    explanation = Study(rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300)).explanation
    explanation.columns, explanation._voted = [0, 1], [0, 1]

    def known(_):
        found = np.ones(6)
        found[4] = p if 4 not in explanation.columns else 0.9
        return found

    monkeypatch.setattr(explanation, "_p_values", known)
    explanation._extend()
    assert explanation.columns == [0, 1, *([4] if joins else [])]


@pytest.mark.parametrize(("p", "stays"), [(0.05 / 5.1, True), (0.05 / 4.9, False)])
def test_a_member_stays_if_it_is_significant_among_all_features(monkeypatch, p, stays):
    """Of six features the strongest member has p = 0, and the other one is the second of six."""
    rng = np.random.default_rng(0)
    explanation = Study(rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300)).explanation
    explanation.columns, explanation.parts = [0, 1], [(0, 1)]
    monkeypatch.setattr(explanation, "_p_values", lambda _: np.array([p, 0.0, 1.0, 1.0, 1.0, 1.0]))
    assert explanation._prune() is not stays
    assert explanation.columns == ([0, 1] if stays else [1])
    assert explanation.parts == ([(0, 1)] if stays else [])


def test_the_member_with_the_largest_p_value_leaves_first(monkeypatch):
    """Without the last one the other is significant, and stays."""
    rng = np.random.default_rng(0)
    explanation = Study(rng.integers(0, 2, (300, 3)), rng.integers(0, 2, 300)).explanation
    explanation.columns = [0, 1]
    with_both, alone = np.array([0.1, 0.3, 1.0]), np.array([0.0, 1.0, 1.0])
    monkeypatch.setattr(explanation, "_p_values", lambda _: with_both if 1 in explanation.columns else alone)
    assert explanation._prune()
    assert explanation.columns == [0]


def test_members_that_left_make_room_for_others(monkeypatch):
    """Members join and leave up to twice, and no longer than members leave; those of the last turn stay."""
    explain, calls = type(Study([[0], [1]] * 20, [0, 1] * 20).explanation), []
    codes, y = np.random.default_rng(0).integers(0, 2, (2, 300, 3)), np.random.default_rng(1).integers(0, 2, 300)
    for leaves, n_rounds in (([True, True, True], 3), ([True, False], 2), ([False], 1)):
        calls.clear()
        answers = iter(leaves)
        monkeypatch.setattr(explain, "_extend", lambda *_: calls.append("join"))
        monkeypatch.setattr(explain, "_prune", lambda _, answers=answers: next(answers))
        assert Study(codes[0], y).explanation.columns == []
        assert len(calls) == n_rounds


def test_copies_of_members_have_no_p_value_and_do_not_count():
    X, y = with_neighbours(1_000, 0, 3)
    coarse = pd.qcut(X["x1"], 5, labels=False) // 2  # its own five bins determine it
    explanation = Study(X.assign(copy=coarse.map("c{}".format)), y).explanation
    assert 6 in explanation.decider.varying
    p = explanation._p_values([6, 3])
    assert np.isnan(p[6])
    assert 0 < p[3] <= 1
    assert np.isfinite(p[:6]).all()


@pytest.mark.parametrize(("p", "joins"), [(0.04, False), (0.05 / 44, False), (0.05 / 46, True)])
def test_a_pair_joins_if_one_of_it_is_significant_among_all_pairs(monkeypatch, p, joins):
    """Ten features have 45 pairs."""
    codes, y, _ = exclusive_or_beside(1_000, 0, 4)
    codes[:, 2:6] = np.random.default_rng(0).integers(0, 2, (1_000, 4))
    explanation = Study(codes, y).explanation
    explanation.columns, explanation.parts, explanation._voted = [], [], [0]

    def known(part):
        found = np.ones(10)
        found[part[0]] = p
        return found

    monkeypatch.setattr(explanation, "_p_values", known)
    assert explanation._add_pair() is joins
    assert explanation.parts == ([(0, 1)] if joins else [])
    assert sorted(explanation.columns) == ([0, 1] if joins else [])


# ---------------------------------------------------------------- what is held, and what is subtracted


def test_what_is_held_and_what_is_subtracted_are_all_other_members(study):
    explanation = study.explanation
    members = set(explanation.features)
    for feature in range(study.n_features):
        given = explanation.given_of(feature)
        held = [int(study.owner[c]) for c in given.columns]
        assert feature not in held
        assert feature not in given.adjusted_for
        assert set(held).isdisjoint(given.adjusted_for)
        assert len(held) == len(set(held))
        assert {*held, *given.adjusted_for} == members - {feature}
        assert list(given.adjusted_for) == sorted(given.adjusted_for)
        if not given.adjusted_for:
            assert given.terms == ()
            continue
        assert {term[0] for term in given.terms if len(term) == 1} == members  # those of the feature are left out later
        assert {term for term in given.terms if len(term) > 1} == set(explanation.parts)


def test_partners_are_held_and_not_subtracted(mixed):
    explanation = mixed.explanation
    assert explanation.parts == [(0, 1)]
    assert [explanation.partners(f) for f in (0, 1, 2)] == [(1,), (0,), ()]
    for feature, partner in ((0, 1), (1, 0)):
        given = explanation.given_of(feature)
        assert given.columns[0] == partner
        assert partner not in given.adjusted_for


def test_something_is_subtracted_only_where_there_is_no_room(study):
    """With each subtracted member there would be fewer than three rows for each combination of values."""
    explanation, n_values = study.explanation, study.decider.voting.rows.n_values
    some = 0
    column_of = dict(zip(explanation.features, explanation.columns, strict=True))
    for feature in range(study.n_features):
        given = explanation.given_of(feature)
        held = list(given.columns)
        cells = len(np.unique(np.column_stack([study.codes(c) for c in held]), axis=0)) if held else 1
        assert cells * 3 <= study.n_rows
        for other in given.adjusted_for:
            some += 1
            columns = np.column_stack([study.codes(c) for c in [*held, column_of[other]]])
            assert len(np.unique(columns, axis=0)) * 3 > study.n_rows
            assert np.prod(n_values[[*held, column_of[other]]]) * 3 > study.n_rows
    assert some


def test_members_that_say_most_about_a_feature_are_held_first(overflow):
    explanation = overflow.explanation
    for feature in range(14):
        given = explanation.given_of(feature)
        assert given.adjusted_for
        others = [c for c in explanation.columns if int(overflow.owner[c]) != feature]
        closest = min(others, key=lambda c: overflow.entropy_left(feature, c))
        assert given.columns[0] == closest
        if feature >= 7:  # a neighbour is compared among rows that agree on its own number
            assert int(overflow.owner[closest]) == feature - 7


def test_the_p_value_is_that_of_what_the_others_leave_in_contexts_of_those_held(overflow):
    """Two classes: mean ranks and scores in units of their errors within contexts, by loops."""
    from scipy.stats import chi2

    given = overflow.explanation.given_of(2)
    fitted = overflow.left(tuple(term for term in given.terms if 2 not in term))
    variances = fitted.variance[:, 0]
    errors = np.maximum(variances, variances.mean())
    left = fitted.scores[:, 0] / np.sqrt(errors)
    context = pd.factorize(pd.MultiIndex.from_arrays([overflow.codes(c) for c in sorted(given.columns)]))[0]
    labels, values = overflow.rows.labels, overflow.rows.codes[:, 2]
    sizes = np.bincount(values)
    rank = ((np.cumsum(sizes) - sizes / 2) / sizes.sum())[values]
    total = variance = squares = n_rows = 0.0
    for c in np.unique(context):
        rows = context == c
        if len(set(labels[rows])) > 1 and len(set(values[rows])) > 1:
            x, r = left[rows] - left[rows].mean(), rank[rows] - rank[rows].mean()
            total += x @ r
            variance += (x @ x) * (r @ r) / (rows.sum() - 1)
            squares, n_rows = squares + x @ x, n_rows + (variances / errors)[rows].sum()
    trend = chi2.sf(total**2 / variance / max(n_rows / squares, 1), 1)
    found = overflow.p_value(2, given)
    assert trend * (1 - 1e-3) <= found <= 4 * trend * (1 + 1e-3)
    assert np.isclose(found / trend, [1, 2, 3, 4], rtol=1e-3).any()  # far in the tail, where rounding counts


def test_a_copy_of_a_member_is_named_and_compared_with_nothing():
    X, y = with_neighbours(2_000, 1)
    study = Study(X.assign(copy=X["x3"]), y)
    given = study.explanation.given_of(14)
    assert (given.same_as, given.columns, given.adjusted_for) == (3, (), ())
    assert relevance(study)["copy"]["status"] == "same"
    assert sorted(study.explanation.features) == list(range(7))


# ---------------------------------------------------------------- numbers in finer bins


def tied_numbers():
    """The label depends on one number; x is a noisy copy of it, and u is noise."""
    rng = np.random.default_rng(5)
    z, u = rng.random((2, 2000))
    x = z + 0.1 * rng.normal(size=2000)
    return pd.DataFrame({"z": z, "x": x, "u": u}), (rng.random(2000) < z).astype(int)


def test_a_number_is_cut_finer_for_a_feature_that_it_is_tied_to_and_not_for_others():
    study = Study(*tied_numbers())
    n_values = study.decider.voting.rows.n_values
    coarse = next(c for c in study.decider.bins[0] if n_values[c] == 2)
    finest = max(study.decider.bins[0], key=lambda c: n_values[c])
    study.explanation.columns = [coarse]
    assert study.explanation.given_of(1).columns == (finest,)
    assert study.explanation.given_of(2).columns == (coarse,)


def test_a_number_is_cut_finer_as_far_as_rows_allow(monkeypatch):
    study = Study(*tied_numbers())
    n_values = study.decider.voting.rows.n_values
    two, three = (next(c for c in study.decider.bins[0] if n_values[c] == n) for n in (2, 3))
    u = 2
    study.explanation.columns = [two, u]
    monkeypatch.setattr("analogical.search.ROWS_PER_CELL", 2000 / 3 / 5)  # three by five combinations
    assert set(study.explanation.given_of(1).columns) == {three, u}


# ---------------------------------------------------------------- what changes nothing


def test_order_names_constants_and_copies_move_no_p_value():
    X, y = with_neighbours(1_500, 0, 6)
    rng = np.random.default_rng(0)
    expected = relevance(X, y)
    assert any(Study(X, y).explanation.given_of(f).adjusted_for for f in range(12))
    order, columns = rng.permutation(len(X)), rng.permutation(12)
    mixed = relevance(X.iloc[order, columns].reset_index(drop=True), y[order])
    assert mixed.p_value == pytest.approx(expected.p_value[columns], rel=1e-6)
    for more in ({"constant": 1}, {"copy": X["x0"]}):
        found = relevance(X.assign(**more), y)
        assert found.p_value[:12] == pytest.approx(expected.p_value, rel=1e-9)
        assert found.status[:12] == expected.status


def test_more_than_20_000_rows_are_explained_on_a_part_and_tested_on_all():
    X, y = with_neighbours(24_000, 3, 9)
    study = Study(X, y)
    assert study.explanation is study.sample.explanation
    assert sorted(study.explanation.features) == list(range(9))
    given = study.given_of(0, "auto")
    assert given.adjusted_for
    assert len(study.left(given.terms).scores) == 24_000
    assert study.p_value(0, given) < study.sample.p_value(0, given)


@pytest.mark.parametrize(("n_units", "size"), [(15, 20), (60, 6)])
def test_unrelated_features_of_units_are_no_members(n_units, size):
    """The votes count rows, so features that are fixed in units join; tested by units they leave."""
    n_voted = n_members = 0
    for seed in range(6):
        rng, unit = np.random.default_rng([seed, n_units]), np.repeat(np.arange(n_units), size)
        X = rng.integers(0, 3, (n_units, 8))[unit]
        odds = 2 * rng.normal(size=n_units)[unit]
        y = (rng.random(len(unit)) < 1 / (1 + np.exp(-odds))).astype(int)
        study = Study(X, y, groups=unit)
        n_voted += bool(study.decider.decide())
        n_members += bool(study.explanation.columns)
    assert n_voted >= 2
    assert n_members <= 1


@pytest.mark.parametrize("is_grouped", [False, True])
@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_a_finer_number_is_no_copy_of_classes_within_which_it_predicts(slope, is_grouped):
    rng = np.random.default_rng(1)
    number = rng.random(3_000)
    step = (number * 5).astype(int)
    classes = np.where(rng.random(3_000) < 0.004, rng.integers(0, 5, 3_000), step)
    odds = 1.2 * (step - 2) + slope * (5 * number - step - 0.5)
    y = (rng.random(3_000) < 1 / (1 + np.exp(-odds))).astype(int)
    table = pd.DataFrame({"number": number, "classes": [f"g{k}" for k in classes], "other": rng.integers(0, 2, 3_000)})
    study = Study(table, y, groups=np.arange(3_000) // 2 if is_grouped else None)
    assert study.copied(0, [1]) == (None if slope else 1)
    assert study.copied(1, [0]) == 0  # the number determines the classes but for a few rows
    assert study.copied(2, [0, 1]) is None
