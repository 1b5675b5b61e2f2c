import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import GenericUnivariateSelect, SelectKBest, SelectPercentile
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from analogical import AnalogicalSelector, InputError, SelectionWarning, ari_score, load_table, relevance
from analogical.experiments import sample

EVERY_ROW, XOR = sample("g2", n_features=4)


# The checks' random decimals hold no two rows that differ on one feature, so nothing is told from noise in them: fit
# warns and keeps the best feature, or with a threshold none.
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::analogical.SelectionWarning")
@parametrize_with_checks(
    [
        AnalogicalSelector(),
        AnalogicalSelector(redundancy="keep"),
        AnalogicalSelector(k=1),
        AnalogicalSelector(k=1, strategy="ranking"),
        AnalogicalSelector(strategy="together"),
        AnalogicalSelector(threshold=0.5),
        AnalogicalSelector(alpha=0.05),
    ],
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def monks():
    return load_table("monks-1").to_frame("pandas").drop(columns="count")


def test_without_criteria_the_features_with_an_effect_are_kept():
    selector = AnalogicalSelector(radius=1, noise_free=True).fit(EVERY_ROW, XOR)
    assert selector.get_support().tolist() == [True, True, False, False]
    assert selector.scores_.tolist() == [1, 1, 0, 0]
    assert selector.relevance_ == relevance(EVERY_ROW, XOR, radius=1, noise_free=True, redundancies=False)
    assert selector.transform(EVERY_ROW).shape == (16, 2)


def test_threshold_and_k_combine():
    X, y = sample("g1", n_features=5)  # 3/4, 1/4, 1/4, 0, 0
    assert AnalogicalSelector(threshold=0.25, radius=1).fit(X, y).get_support(indices=True).tolist() == [0, 1, 2]
    assert AnalogicalSelector(k=2, threshold=0.1, radius=1).fit(X, y).get_support(indices=True).tolist() == [0, 1]
    assert AnalogicalSelector(k=4, threshold=0.5, radius=1).fit(X, y).get_support(indices=True).tolist() == [0]
    assert AnalogicalSelector(k="all", radius=1).fit(X, y).get_support().all()
    assert AnalogicalSelector(k=99, radius=1).fit(X, y).get_support().all()


def test_evidence_comes_before_no_evidence_and_constants_last():
    #    irrelevant, no pairs (copies), constant, relevant
    rows = np.array([[a, b, b, 7, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    selector = AnalogicalSelector(strategy="ranking", k=1, radius=1, redundancy="keep").fit(rows, rows[:, 4])
    assert selector.relevance_.status == ("none-seen", "no-pairs", "no-pairs", "constant", "noise-unknown")
    chosen = [
        AnalogicalSelector(strategy="ranking", k=k, radius=1, redundancy="keep")
        .fit(rows, rows[:, 4])
        .get_support(indices=True)
        .tolist()
        for k in range(1, 6)
    ]
    assert chosen == [[4], [0, 4], [0, 1, 4], [0, 1, 2, 4], [0, 1, 2, 3, 4]]


def test_ties_go_to_more_pairs_then_to_the_earlier_column():
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0], [0, 0, 1]])
    result = AnalogicalSelector(strategy="ranking", k=1, radius=1).fit(rows, [0, 1, 1, 1, 1])
    assert result.relevance_.pairs.tolist() == [1, 3, 1]
    assert result.relevance_.score.tolist() == [1.0, 2 / 3, 1.0]
    assert result.get_support(indices=True).tolist() == [0]
    balanced = AnalogicalSelector(strategy="ranking", k=1, radius=1).fit(rows, [0, 1, 1, 2, 1])
    assert balanced.relevance_.score.tolist() == [1, 1, 1]
    assert balanced.get_support(indices=True).tolist() == [1]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_dataframes_keep_their_names(library, monks):
    table = library(monks.to_dict(orient="list"))
    X, y = table[[c for c in table.columns if c != "class"]], table["class"]
    selector = AnalogicalSelector(k=3).fit(X, y)
    assert list(selector.feature_names_in_) == list(X.columns)
    assert list(selector.get_feature_names_out()) == ["head_shape", "body_shape", "jacket_color"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_set_output(output, monks):
    selector = AnalogicalSelector(k=3).set_output(transform=output)
    chosen = selector.fit_transform(monks.drop(columns="class"), monks["class"])
    assert list(chosen.columns) == ["head_shape", "body_shape", "jacket_color"]
    assert type(chosen).__module__.startswith(output)


def test_inverse_transform_puts_the_columns_back():
    selector = AnalogicalSelector(noise_free=True).fit(EVERY_ROW, XOR)
    back = selector.inverse_transform(selector.transform(EVERY_ROW))
    assert back.shape == EVERY_ROW.shape
    assert (back[:, :2] == EVERY_ROW[:, :2]).all()
    assert (back[:, 2:] == 0).all()


def test_pipeline_grid_search_clone_and_pickle(monks):
    X, y = monks.drop(columns="class"), monks["class"].astype(int)
    pipeline = make_pipeline(
        AnalogicalSelector(strategy="ranking", k=1), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    )
    search = GridSearchCV(pipeline, {"analogicalselector__k": [1, 3]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    fitted = search.best_estimator_[0]
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    assert again.relevance_ == fitted.relevance_
    assert again.get_support().tolist() == fitted.get_support().tolist()
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "relevance_")


def test_sample_weight_is_a_frequency():
    weights = np.arange(16) % 3
    weighted = AnalogicalSelector(strategy="ranking", k=2).fit(EVERY_ROW, XOR, sample_weight=weights).relevance_
    expanded = (
        AnalogicalSelector(strategy="ranking", k=2)
        .fit(np.repeat(EVERY_ROW, weights, axis=0), np.repeat(XOR, weights))
        .relevance_
    )
    assert weighted.pairs.tolist() == expanded.pairs.tolist()


@pytest.mark.parametrize(
    "selector",
    [SelectKBest(ari_score, k=2), SelectPercentile(ari_score, percentile=50)]
    + [GenericUnivariateSelect(ari_score, mode=mode, param=p) for mode, p in (("k_best", 2), ("percentile", 50))],
    ids=lambda s: f"{type(s).__name__}-{getattr(s, 'mode', '')}",
)
def test_ari_score_drives_the_univariate_selectors(selector):
    assert selector.fit(EVERY_ROW, XOR).get_support().tolist() == [True, True, False, False]


def test_ari_score_is_nan_without_evidence_and_never_two():
    scores = ari_score([(0, 0, 1), (1, 1, 1)], [0, 1])
    assert np.isnan(scores).all()
    ranked = SelectKBest(ari_score, k=1).fit([[0, 0, 0], [1, 1, 0], [1, 1, 1]], [0, 1, 0])
    assert ranked.get_support().tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, 'k must be a whole number from 1, "all" or None, got 0'),
        ({"k": 1.5}, "got 1.5"),
        ({"k": True}, "got True"),
        ({"k": "some"}, "got 'some'"),
        ({"threshold": 2}, "threshold must be a number from 0 to 1 or None, got 2"),
        ({"threshold": "high"}, "got 'high'"),
        ({"duplicates": "no"}, 'duplicates must be "count" or "once"'),
    ],
)
def test_bad_parameters_are_refused_in_fit(options, message):
    with pytest.raises(InputError, match=message):
        AnalogicalSelector(**options).fit(EVERY_ROW, XOR)


@pytest.mark.parametrize("number", [int, np.int64, np.uint8])
def test_a_radius_may_be_a_number_of_numpy(number):
    X, y = sample("g2", n_features=12, n_values=3, n_rows=200, seed=0)
    selector = AnalogicalSelector(strategy="ranking", k=2, radius=number(4)).fit(X, y)
    assert selector.relevance_.settings.radius == 4
    assert selector.relevance_ == AnalogicalSelector(strategy="ranking", k=2, radius=4).fit(X, y).relevance_
    assert selector.get_support(indices=True).tolist() == [0, 1]


@pytest.mark.parametrize("radius", [4, np.int64(4)])
def test_a_radius_above_the_features_that_are_left_is_all_of_them(radius):
    X = np.array([(a, b, a, a) for a in (0, 1) for b in (0, 1)] * 4)
    selector = AnalogicalSelector(radius=radius, noise_free=True).fit(X, X[:, 0] ^ X[:, 1])
    assert [dropped.feature for dropped in selector.dropped_] == ["x2", "x3"]
    assert selector.relevance_.settings.radius == 2


def test_a_column_vector_of_labels_is_flattened_with_a_warning():
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning):
        selector = AnalogicalSelector(noise_free=True).fit(EVERY_ROW, XOR.reshape(-1, 1))
    assert selector.get_support(indices=True).tolist() == [0, 1]


@pytest.mark.parametrize("options", [{"y": "y"}, {"y": "other", "sample_weight": "n"}])
def test_the_label_and_the_weights_among_the_features_are_refused(options):
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "n": [1, 2, 1, 2], "y": [0, 1, 1, 0], "other": [1, 1, 0, 0]})
    role = "n" if "sample_weight" in options else "y"
    X = frame[["a", role]]
    with pytest.raises(InputError, match=f"X has the column '{role}', which is the .*; leave it out of X"):
        AnalogicalSelector().fit(X, frame[options["y"]], sample_weight=frame["n"] if role == "n" else None)


def noisy(seed, n=600, n_features=20, n_relevant=2):
    """Labels decided by the first features, a tenth of them wrong; with none relevant, labels at random."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, n_features))
    rule = X[:, :n_relevant].sum(axis=1) > n_relevant / 2 if n_relevant else rng.random(n) < 0.5
    return X, np.where(rng.random(n) < 0.1, ~rule, rule)


def test_on_shuffled_labels_one_feature_is_kept_with_a_warning():
    kept = []
    for seed in range(10):
        X, y = noisy(seed, n_features=6, n_relevant=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector = AnalogicalSelector().fit(X, y)
        kept.append(int(selector.get_support().sum()))
        warned = [w for w in caught if issubclass(w.category, SelectionWarning)]
        assert len(warned) == ("effect" not in selector.relevance_.status)
        for w in warned:
            assert "No feature is told from noise (the smallest p-value is" in str(w.message)
            assert selector.relevance_.ranking()[0] in str(w.message)
    assert sum(kept) <= 12
    assert kept.count(1) >= 8


def test_the_default_rule_keeps_what_is_told_from_noise():
    X, y = noisy(0, n_features=6)
    selector = AnalogicalSelector().fit(X, y)
    assert [i for i, status in enumerate(selector.relevance_.status) if status == "effect"] == [0, 1]
    assert selector.get_support(indices=True).tolist() == [0, 1]


def test_where_noise_is_unknown_all_that_changed_is_kept_with_a_warning():
    X, y = sample("g2", n_features=3)
    with pytest.warns(SelectionWarning, match=r"no repeated row shows the noise of 2 features .* set noise_free=True"):
        selector = AnalogicalSelector(radius=1).fit(X, y)
    assert selector.relevance_.status.count("noise-unknown") == 2
    assert selector.get_support(indices=True).tolist() == [0, 1]


def test_a_threshold_that_nothing_reaches_warns():
    X, y = noisy(1, n_features=5)
    with pytest.warns(SelectionWarning, match=r"No feature has a score of at least 0.9, so none is kept; the best one"):
        selector = AnalogicalSelector(threshold=0.9).fit(X, y)
    assert not selector._get_support_mask().any()


@pytest.mark.filterwarnings("ignore::analogical.SelectionWarning")
def test_alpha_does_not_make_a_grid_search_fail():
    """On labels at random nothing passes; each fold goes on with the best feature."""
    X, y = noisy(2, n=200, n_features=6, n_relevant=0)
    pipeline = make_pipeline(AnalogicalSelector(), LogisticRegression())
    grid = {"analogicalselector__alpha": [1e-9, 0.01, 0.05, 0.2]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[0].get_support().sum() >= 1


def test_pvalues_follow_the_last_fit():
    selector = AnalogicalSelector(strategy="ranking", k=2)
    first = selector.fit(*noisy(3, n_features=5)).pvalues_
    assert (first[:2] < 0.001).all()
    assert (first >= 0).all()
    assert first.shape == (5,)
    second = selector.fit(*noisy(4, n_features=7)).pvalues_
    assert second.shape == (7,)
    np.testing.assert_array_equal(second, relevance(*noisy(4, n_features=7)).p_value)
    duplicated = noisy(3, n_features=5)
    X = np.column_stack([duplicated[0], duplicated[0][:, 0]])
    assert np.isnan(selector.fit(X, duplicated[1]).pvalues_).tolist() == [False] * 5 + [True]  # left out as a copy


def test_groups_keep_copied_rows_from_looking_like_evidence():
    rng = np.random.default_rng(7)
    person = np.repeat(np.arange(80), 25)
    X, y = rng.integers(0, 2, size=(80, 3))[person], rng.integers(0, 2, 80)[person]
    alone = AnalogicalSelector().fit(X, y)
    assert "effect" in alone.relevance_.status
    with pytest.warns(SelectionWarning, match="No feature is told from noise"):
        grouped = AnalogicalSelector().fit(X, y, groups=person)
    assert grouped.relevance_.settings.n_groups == 80
    assert (grouped.pvalues_ > 0.05).all()
    assert grouped.get_support().sum() == 1


# ---------------------------------------------------------------- what people pass


def numbers_and_gaps(n=300, seed=0):
    """A label that follows an amount and a colour; a third of one column is missing; an id."""
    rng = np.random.default_rng(seed)
    amount, colour = rng.random(n), rng.choice(["red", "green", "blue"], n)
    gaps = pd.Series(rng.choice(["u", "v"], n), dtype=object).mask(rng.random(n) < 0.3)
    frame = pd.DataFrame({"ticket": [f"t{k}" for k in range(n)], "amount": amount, "colour": colour, "gaps": gaps})
    return frame, np.where((amount > 0.6) ^ (colour == "red"), "yes", "no")


def test_nan_is_allowed_and_the_tags_say_so():
    tags = AnalogicalSelector().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    X = np.array([[0, np.nan], [1, 0], [0, 0], [1, np.nan]] * 10)
    selector = AnalogicalSelector(strategy="ranking", k=1).fit(X, X[:, 0])
    assert selector.get_support(indices=True).tolist() == [0]
    assert selector.relevance_.n_missing.tolist() == [0, 20]
    assert selector.transform(X).shape == (40, 1)
    with pytest.raises(InputError, match="Missing values"):
        AnalogicalSelector(missing="error").fit(X, X[:, 0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_with_numbers_gaps_and_ids(library, output):
    X, y = numbers_and_gaps()
    table = X if library == "pandas" else pl.from_pandas(X)
    selector = AnalogicalSelector(strategy="ranking", k=2).set_output(transform=output).fit(table, y)
    assert list(selector.get_feature_names_out()) == ["amount", "colour"]
    assert selector.dropped_[0].feature == "ticket"
    assert selector.dropped_[0].reason == "id"
    assert np.isnan(selector.scores_[0])
    assert selector.relevance_.names == ("amount", "colour", "gaps")
    assert len(selector.relevance_.edges[0]) == 4
    chosen = selector.transform(table)
    assert list(chosen.columns) == ["amount", "colour"]
    assert type(chosen).__module__.startswith(output)


def test_new_parameters_are_cloned_and_reach_the_encoding():
    X, y = numbers_and_gaps()
    given = {"missing": "drop", "bins": {"amount": [0.6]}, "max_values": 5, "ids": "keep", "bin_label": None}
    selector = AnalogicalSelector(strategy="ranking", k=2, **given)
    assert {name: selector.get_params()[name] for name in given} == given
    assert clone(selector).get_params() == selector.get_params()
    fitted = selector.set_params(k=1).fit(X, y).relevance_
    assert fitted.n_rows == X["gaps"].notna().sum()
    assert fitted.edges[fitted.names.index("amount")] == (0.6,)
    assert "ticket" in fitted.names
    binned = (
        AnalogicalSelector(strategy="ranking", k=1, bin_label=2)
        .fit(X.drop(columns="ticket"), X["amount"] * 2)
        .relevance_
    )
    assert len(binned.classes) == 2


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array"])
def test_sparse_tables(form):
    from scipy import sparse

    X = np.tile(EVERY_ROW, (4, 1))
    y = np.tile(XOR, 4)
    dense = AnalogicalSelector(strategy="ranking", k=2).fit(X, y)
    found = AnalogicalSelector(strategy="ranking", k=2).fit(getattr(sparse, form)(X), y)
    assert found.get_support().tolist() == dense.get_support().tolist()
    assert found.relevance_.pairs.tolist() == dense.relevance_.pairs.tolist()
    assert found.transform(sparse.csr_matrix(X)).shape == (64, 2)


def test_weights_and_groups_are_routed_through_a_pipeline():
    from sklearn import config_context
    from sklearn.metrics import get_scorer
    from sklearn.model_selection import GroupKFold, cross_validate

    rng = np.random.default_rng(0)
    X = np.tile(EVERY_ROW, (6, 1))
    y, weights, groups = np.tile(XOR, 6), rng.integers(1, 4, 96), np.repeat(np.arange(24), 4)
    with config_context(enable_metadata_routing=True):
        selector = AnalogicalSelector(k=2).set_fit_request(sample_weight=True, groups=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(selector, OneHotEncoder(), model)
        fitted = pipeline.fit(X, y, sample_weight=weights, groups=groups)[0].relevance_
        assert (fitted.n_rows, fitted.settings.weighted, fitted.settings.n_groups) == (weights.sum(), True, 24)
        scores = cross_validate(
            pipeline,
            X,
            y,
            cv=GroupKFold(3),
            scoring=get_scorer("accuracy").set_score_request(sample_weight=False),
            params={"sample_weight": weights, "groups": groups},
            return_estimator=True,
            error_score="raise",
        )
        assert all(estimator[0].relevance_.settings.n_groups == 16 for estimator in scores["estimator"])


def test_a_label_in_another_order_is_aligned():
    X, y = numbers_and_gaps()
    label = pd.Series(y, index=X.index, name="label")
    turned = AnalogicalSelector(strategy="ranking", k=2).fit(X, label[::-1]).relevance_
    assert (
        turned.changed.tolist() == AnalogicalSelector(strategy="ranking", k=2).fit(X, label).relevance_.changed.tolist()
    )
    assert "aligned" in {note.kind for note in turned.notes}


def test_columns_that_are_not_named_or_are_ignored_are_never_kept():
    X = pd.DataFrame([(a, b, c, a) for a in (0, 1) for b in (0, 1) for c in (0, 1)], columns=["a", "b", "c", "a_too"])
    y = X["a"] ^ X["b"]
    ignoring = AnalogicalSelector(k=2, ignore=["*_too"]).fit(X, y)
    naming = AnalogicalSelector(k=2, features=["b", "c", "a_too"]).fit(X, y)
    assert ignoring.get_feature_names_out().tolist() == ["a", "b"]
    assert naming.get_feature_names_out().tolist() == ["b", "a_too"]
    assert np.isnan(ignoring.scores_[3])
    assert ignoring.transform(X).shape == (8, 2)
