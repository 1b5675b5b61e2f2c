"""The selector and the score function for scikit-learn."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import GenericUnivariateSelect, SelectKBest, SelectPercentile
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from analogical import AnalogicalSelector, InputError, SelectionWarning, ari_score, load_table, relevance
from analogical.paper import sample

EVERY_ROW, XOR = sample("g2", n_features=4)


# In the checks' random numbers no feature has an effect: fit warns and keeps none.
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::analogical.SelectionWarning")
@parametrize_with_checks(
    [
        AnalogicalSelector(),
        AnalogicalSelector(given="all"),
        AnalogicalSelector(k=1),
        AnalogicalSelector(k=1, strategy="ranking"),
        AnalogicalSelector(threshold=0.5),
        AnalogicalSelector(scale="number"),
        AnalogicalSelector(scale="ranks", k=1),
    ],
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def monks():
    return load_table("monks-1").to_frame("pandas").drop(columns="count")


FOUR_TIMES, XOR_FOUR_TIMES = np.tile(EVERY_ROW, (4, 1)), np.tile(XOR, 4)


def test_without_k_the_features_with_an_effect_are_kept():
    selector = AnalogicalSelector().fit(FOUR_TIMES, XOR_FOUR_TIMES)
    assert selector.get_support().tolist() == [True, True, False, False]
    np.testing.assert_allclose(selector.scores_, [1, 1, 0, 0], atol=1e-9)
    assert selector.relevance_ == relevance(FOUR_TIMES, XOR_FOUR_TIMES)
    assert selector.transform(FOUR_TIMES).shape == (64, 2)


def test_threshold_and_k_combine():
    X, y = sample("g1", n_features=5)  # x0 is true, and one of x1 and x2
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)
    effects = AnalogicalSelector(given="all").fit(X, y).scores_
    np.testing.assert_allclose(effects, [0.75, 0.25, 0.25, 0, 0], atol=0.03)
    kept = {
        (k, threshold): AnalogicalSelector(k=k, threshold=threshold, given="all", strategy="ranking")
        .fit(X, y)
        .get_support(indices=True)
        .tolist()
        for k, threshold in ((None, 0.2), (2, 0.1), (4, 0.5), ("all", None), (99, None), (None, 0.3))
    }
    assert kept == {
        (None, 0.2): [0, 1, 2],
        (2, 0.1): [0, 1],
        (4, 0.5): [0],
        ("all", None): [0, 1, 2, 3, 4],
        (99, None): [0, 1, 2, 3, 4],
        (None, 0.3): [0],
    }
    assert AnalogicalSelector(k="all").fit(X, y).get_support().all()


def test_effects_come_first_copies_and_constants_last():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (200, 3))
    rows = np.column_stack([np.zeros(200, int), rows[:, 2], rows])  # constant, a copy of the last one
    y = rows[:, 1] ^ (rng.random(200) < 0.1)
    chosen = [
        AnalogicalSelector(strategy="ranking", k=k).fit(rows, y).get_support(indices=True).tolist() for k in range(1, 6)
    ]
    assert chosen[0] == [1]
    assert chosen[2] == [1, 2, 3]
    assert chosen[3] == [1, 2, 3, 4]


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
    selector = AnalogicalSelector().fit(FOUR_TIMES, XOR_FOUR_TIMES)
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


def test_ari_score_has_one_score_per_column_also_of_dates():
    days = np.repeat(pd.date_range("2024-01-01", periods=60, freq="9D"), 4)
    assert ari_score(pd.DataFrame({"day": days, "a": [0, 1] * 120}), [0, 1] * 120).shape == (2,)


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
        ({"threshold": 2}, "threshold must be a number from 0 to 1 for a label with classes, got 2"),
        ({"threshold": -1}, "threshold must be a number from 0 or None, got -1"),
        ({"threshold": "high"}, "got 'high'"),
        ({"duplicates": "no"}, 'duplicates must be "count" or "once"'),
        ({"confidence": 1.5}, "confidence must be a number between 0 and 1"),
        ({"given": "some"}, 'given must be "auto" or "all", got'),
    ],
)
def test_bad_parameters_are_refused_in_fit(options, message):
    with pytest.raises(InputError, match=message):
        AnalogicalSelector(**options).fit(EVERY_ROW, XOR)


def test_a_column_vector_of_labels_is_flattened_with_a_warning():
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning):
        selector = AnalogicalSelector().fit(FOUR_TIMES, XOR_FOUR_TIMES.reshape(-1, 1))
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


def test_on_shuffled_labels_nothing_is_kept_with_a_warning():
    n_empty = 0
    for seed in range(10):
        X, y = noisy(seed, n_features=6, n_relevant=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector = AnalogicalSelector().fit(X, y)
            shape = selector.transform(X).shape
        warned = [str(w.message) for w in caught if issubclass(w.category, SelectionWarning)]
        assert shape == (600, selector.relevance_.status.count("effect"))
        assert len(warned) == (shape[1] == 0)
        for message in warned:
            smallest = f"{np.nanmin(selector.relevance_.p_adjusted):.2g}"
            assert message.startswith(
                f"No feature has a significant effect (the smallest adjusted p-value is {smallest})"
            )
        n_empty += shape[1] == 0
    assert n_empty >= 9


def test_a_level_above_all_p_values_keeps_more():
    X, y = noisy(0, n_features=6)
    assert AnalogicalSelector().fit(X, y).get_support(indices=True).tolist() == [0, 1]
    strict = AnalogicalSelector(confidence=0.999).fit(X, y)
    assert strict.relevance_ == relevance(X, y, confidence=0.999)
    assert strict.get_support(indices=True).tolist() == [0, 1]


def test_a_threshold_that_nothing_reaches_warns():
    X, y = noisy(1, n_features=5)
    with pytest.warns(
        SelectionWarning, match=r"No feature has an effect of at least 0.9, so none is kept; the largest"
    ):
        selector = AnalogicalSelector(threshold=0.9).fit(X, y)
    assert not selector._get_support_mask().any()


def test_a_grid_search_over_k_goes_on_where_nothing_has_an_effect():
    X, y = noisy(2, n=200, n_features=6, n_relevant=0)
    pipeline = make_pipeline(AnalogicalSelector(k=1), LogisticRegression())
    grid = {"analogicalselector__k": [1, 3, "all"], "analogicalselector__strategy": ["together", "ranking"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pvalues_follow_the_last_fit():
    selector = AnalogicalSelector(strategy="ranking", k=2)
    first = selector.fit(*noisy(3, n_features=5)).pvalues_
    assert (first[:2] < 0.001).all()
    assert (first >= 0).all()
    assert first.shape == (5,)
    second = selector.fit(*noisy(4, n_features=7)).pvalues_
    assert second.shape == (7,)
    np.testing.assert_array_equal(second, relevance(*noisy(4, n_features=7)).p_value)
    X, y = noisy(3, n_features=5)
    assert np.isnan(selector.fit(np.column_stack([X, X[:, 0]]), y).pvalues_).tolist() == [False] * 5 + [True]  # a copy


def test_what_was_dropped_is_named():
    X, y = noisy(3, n_features=5)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(same=1 - X[:, 0], one=1, key=[f"k{i}" for i in range(600)])
    selector = AnalogicalSelector().fit(frame, y)
    assert {(d.feature, d.reason, d.in_favour_of) for d in selector.dropped_} == {
        ("key", "id", ()),
        ("same", "same information", ("a",)),
        ("one", "constant", ()),
    }
    assert selector.get_feature_names_out().tolist() == ["a", "b"]
    other = AnalogicalSelector().fit(frame[["same", *"abcde"]], y)  # the first one of two copies is kept
    assert other.get_feature_names_out().tolist() == ["same", "b"]
    assert [(d.feature, d.in_favour_of) for d in other.dropped_] == [("a", ("same",))]
    assert other.scores_[0] == pytest.approx(selector.scores_[0])


def test_groups_keep_copied_rows_from_looking_like_evidence():
    rng = np.random.default_rng(7)
    person = np.repeat(np.arange(80), 25)
    X, y = rng.integers(0, 2, size=(80, 3))[person], rng.integers(0, 2, 80)[person]
    alone = AnalogicalSelector().fit(X, y)
    assert "effect" in alone.relevance_.status
    with pytest.warns(SelectionWarning, match="No feature has a significant effect"):
        grouped = AnalogicalSelector().fit(X, y, groups=person)
    assert grouped.relevance_.settings.n_groups == 80
    assert (grouped.relevance_.p_adjusted > 0.05).all()
    assert not grouped.get_support().any()


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
    assert [column.n_missing for column in selector.relevance_.feature_columns] == [0, 20]
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
    assert len(selector.relevance_.feature_columns[0].edges) == 4
    chosen = selector.transform(table)
    assert list(chosen.columns) == ["amount", "colour"]
    assert type(chosen).__module__.startswith(output)


def test_new_parameters_are_cloned_and_reach_the_encoding():
    X, y = numbers_and_gaps()
    given = {"missing": "drop", "bins": {"amount": [0.6]}, "max_values": 5, "ids": "keep", "classes": None}
    selector = AnalogicalSelector(strategy="ranking", k=2, **given)
    assert {name: selector.get_params()[name] for name in given} == given
    assert clone(selector).get_params() == selector.get_params()
    fitted = selector.set_params(k=1).fit(X, y).relevance_
    assert fitted.n_rows == X["gaps"].notna().sum()
    assert fitted.feature_columns[fitted.names.index("amount")].edges == (0.6,)
    assert "ticket" in fitted.names
    binned = (
        AnalogicalSelector(strategy="ranking", k=1, classes=2)
        .fit(X.drop(columns="ticket"), X["amount"].rename("total"))
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
        selector = AnalogicalSelector(k=2, strategy="ranking").set_fit_request(sample_weight=True, groups=True)
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


# ---------------------------------------------------------------- copies


def xor_table(n=400, seed=7):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 4))
    return X, (X[:, 0] > 1) ^ (X[:, 1] > 1)


EXTRAS = {
    "copy": lambda column: column,
    "renaming": lambda column: np.array([7, 3, 9, 1])[column],
}


@pytest.mark.parametrize("kind", EXTRAS)
@pytest.mark.parametrize("of", range(4))
@pytest.mark.parametrize("at", ["first", "last"])
def test_an_extra_version_of_a_column_changes_nothing_that_is_kept(kind, of, at):
    X, y = xor_table()
    extra = EXTRAS[kind](X[:, of])
    expected = AnalogicalSelector().fit(X, y).get_support()
    wide = np.column_stack([extra, X] if at == "first" else [X, extra])
    selector = AnalogicalSelector().fit(wide, y)
    kept = selector.get_support()
    assert expected.tolist() == [True, True, False, False]
    if at == "last":
        assert kept.tolist() == [*expected.tolist(), False]
    else:  # the extra column stands for the one it equals
        assert kept.tolist() == [bool(expected[of]), *(bool(e) and i != of for i, e in enumerate(expected))]


# ---------------------------------------------------------------- labels that are numbers


def rents(n_rows=600, seed=0):
    """Rents that depend on the second and the fourth of five columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (n_rows, 5)), columns=list("abcde"))
    return X, 800 + 300 * X["b"] + 60 * (X["d"] == 1) + 50 * rng.normal(size=n_rows)


def test_a_threshold_of_numbers_is_a_squared_difference():
    X, y = rents()
    kept = {
        threshold: AnalogicalSelector(threshold=threshold).fit(X, y).get_feature_names_out().tolist()
        for threshold in (None, 30**2, 100**2)
    }
    assert kept == {None: ["b", "d"], 30**2: ["b", "d"], 100**2: ["b"]}
    scores = AnalogicalSelector().fit(X, y).scores_
    assert 300 < scores[1] ** 0.5 < 500  # values are one or two steps apart
    assert AnalogicalSelector(k=2).fit(X, y).get_feature_names_out().tolist() == ["b", "d"]
    with pytest.warns(SelectionWarning, match=r"No feature has an effect of at least 1000000, so none is kept"):
        AnalogicalSelector(threshold=1000**2).fit(X, y)


def test_numbers_0_and_1_are_selected_as_two_classes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 4))
    y = X[:, 2] ^ (rng.random(300) < 0.2)
    of_classes, of_numbers = (
        AnalogicalSelector(threshold=0.2).fit(X, y),
        AnalogicalSelector(threshold=0.2, scale="number").fit(X, y.astype(int)),
    )
    np.testing.assert_allclose(of_numbers.scores_, of_classes.scores_, rtol=1e-9)
    assert of_numbers.get_support().tolist() == of_classes.get_support().tolist() == [False, False, True, False]


def test_a_pipeline_of_regression_selects_by_numbers():
    X, y = rents()
    pipeline = make_pipeline(AnalogicalSelector(strategy="ranking", k=1), LinearRegression())
    search = GridSearchCV(
        pipeline, {"analogicalselector__k": [1, 2], "analogicalselector__scale": ["auto", "ranks"]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert search.best_estimator_[0].relevance_.settings.scale in ("number", "ranks")


def test_a_number_is_no_label_of_the_paper_s_index():
    X, y = rents(100)
    with pytest.raises(InputError, match=r"ari_score asks whether labels are equal, and y is a number, whose"):
        ari_score(X, y)
    assert not np.isnan(ari_score(X, pd.cut(y, 3))).all()  # intervals in order are classes too
