"""Labels as classes or as numbers: which they are, the code and the score of each row, and what is said about it."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from analogical import InputError, Study

N = 400
RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (N, 2))
MANY = RNG.gamma(2.0, 50.0, N)


def kinds(study):
    return [note.kind for note in study.table.notes]


def scores_of(study):
    """The score of every row."""
    return study.label_scores[study.table.labels, 0]


def test_few_distinct_numbers_have_their_own_codes():
    y = RNG.integers(0, 100, N) / 4
    study = Study(X, y)
    assert (study.scale.kind, study.scale.unit) == ("number", "")
    assert study.table.classes == tuple(np.unique(y).tolist())
    assert (scores_of(study) == y).all()
    assert kinds(study) == []


def test_each_code_of_very_many_numbers_counts_as_the_mean_of_its_rows():
    y = np.random.default_rng(1).gamma(2.0, 50.0, 20_001)
    study = Study(np.arange(20_001)[:, None] % 7, y, scale="number")
    codes, scores = study.table.labels, scores_of(study)
    assert len(study.table.classes) == len(set(codes.tolist())) == 256
    for code in range(0, 256, 15):
        assert scores[codes == code] == pytest.approx(np.full((codes == code).sum(), y[codes == code].mean()))
    assert (np.diff(scores[np.argsort(y)]) >= 0).all()
    (note,) = study.table.notes
    assert (note.kind, note.counts) == ("label-means", (20_001, 256))


def test_numbers_far_from_the_median_count_as_a_bound():
    """Half of the numbers that are not 0 are 10 away from it, so the bounds are 3 x 14.826 away."""
    y = np.array([0.0] * 250 + [-10.0] * 40 + [10.0] * 40 + [5.0] * 40 + [44.0] * 10 + [45.0] * 10 + [-1e9] * 10)
    study = Study(X, y, max_values=2)
    assert sorted(set(scores_of(study).tolist())) == pytest.approx([-44.478, -10, 0, 5, 10, 44, 44.478])
    (note,) = study.table.notes
    assert (note.kind, note.counts) == ("label-clipped", (20, N))
    assert note.edges[0] == pytest.approx((-44.478, 44.478))
    assert study.table.classes[0] == -1e9
    assert (scores_of(Study(X, y, scale="number")) == y).all()
    assert kinds(Study(X[:370], y[:370], max_values=2)) == []


def test_weights_are_frequencies():
    weights = RNG.integers(0, 4, N)
    weighted, repeated = Study(X, MANY, weights=weights), Study(np.repeat(X, weights, axis=0), np.repeat(MANY, weights))
    assert np.repeat(scores_of(weighted), weights[weights > 0]) == pytest.approx(scores_of(repeated))
    assert weighted.label_sizes.tolist() == repeated.label_sizes.tolist()


@pytest.mark.parametrize("make", [np.asarray, list, pd.Series, pl.Series, lambda y: pd.Series(y, dtype="Float64")])
def test_every_container_gives_the_same_numbers(make):
    y = np.round(MANY, 2)
    assert (scores_of(Study(X, make(y))) == scores_of(Study(X, y))).all()


def test_large_numbers_that_differ_little_keep_their_digits():
    y = 1e12 + np.arange(21_000) % 3_000 / 8
    study = Study(np.arange(21_000)[:, None] % 7, y)
    assert len(study.scale.scores) == 256
    assert study.scale.scores.mean() - 1e12 == pytest.approx(2_999 / 16, abs=0.01)
    assert (np.diff(study.scale.scores) > 0.9).all()


def test_a_logarithm_counts_as_the_mean_of_logarithms():
    y = np.tile(MANY, 60) * np.random.default_rng(1).random(60 * N)
    study = Study(np.tile(X, (60, 1)), y, scale="log")
    codes, scores = study.table.labels, scores_of(study)
    assert scores[0] == pytest.approx(np.log(y[codes == codes[0]]).mean())
    assert scores_of(Study(X, MANY, scale="log")) == pytest.approx(np.log(MANY))
    with pytest.raises(InputError, match=r"label 'y' holds -1.5, which has no logarithm; give scale='number' or"):
        Study(X, [-1.5, *MANY[1:]], scale="log")


def test_a_rank_is_the_share_of_rows_below_in_per_cent():
    y = np.array([1.0, 1.0, 2.0, 7.0] * 100)
    study = Study(X, y, scale="ranks")
    assert [float(score) for score in study.scale.scores] == [25.0, 62.5, 87.5]


def test_few_numbers_are_classes_unless_they_are_asked_to_be_numbers():
    y = RNG.integers(0, 11, N)
    assert Study(X, y).scale is None
    assert (scores_of(Study(X, y, scale="number")) == y).all()
    assert Study(X, y, max_values=5).scale.kind == "number"
    assert Study(X, RNG.integers(0, 30, N), max_values=None).scale is None


def test_many_numbers_are_classes_on_request():
    with pytest.raises(InputError, match=r"has 400 values, too many for classes: leave out scale='classes'"):
        Study(X, MANY, scale="classes")
    assert len(Study(X, MANY, classes=3).table.classes) == 3


@pytest.mark.parametrize(
    ("y", "unit", "span"),
    [
        (pd.Series(pd.date_range("2024-01-01", periods=N, freq="D")), "days", N - 1),
        ([datetime.date(2024, 1, 1) + datetime.timedelta(days=7 * (k % 100)) for k in range(N)], "days", 99 * 7),
        (pd.Series(pd.to_timedelta(np.arange(N), unit="D")), "days", N - 1),
        (pd.Series(pd.to_timedelta(np.arange(N), unit="m")), "hours", (N - 1) / 60),
        (pl.Series([datetime.timedelta(seconds=k) for k in range(N)]), "seconds", N - 1),
    ],
)
def test_dates_and_durations_have_a_unit(y, unit, span):
    study = Study(X, y)
    assert study.scale.unit == unit
    assert np.ptp(study.scale.scores) == pytest.approx(span, rel=1e-9)


@pytest.mark.parametrize(
    "order",
    [
        lambda y: {"y": pd.Series(pd.Categorical(y, ["low", "mid", "high"], ordered=True))},
        lambda y: {"y": pl.Series(y, dtype=pl.Enum(["low", "mid", "high"]))},
        lambda y: {"y": y, "ordered": ["low", "mid", "high"]},
        lambda y: {"y": y, "ordered": ("none", "low", "mid", "high")},
    ],
)
def test_an_order_makes_classes_places(order):
    y = RNG.choice(["low", "mid", "high"], N).tolist()
    study = Study(X, **order(y))
    assert study.scale.kind == "ordered"
    assert study.table.classes == ("low", "mid", "high")
    assert np.diff(study.scale.scores).tolist() == [1, 1]
    assert [study.table.classes[code] for code in study.table.labels] == y


def test_an_order_is_ignored_on_request_and_for_two_categories():
    three = pd.Series(pd.Categorical(["b", "a", "c", "a"] * 50, ["c", "b", "a"], ordered=True))
    assert Study(X[:200], three, scale="classes").scale is None
    two = pd.Series(pd.Categorical(["b", "a"] * 100, ["b", "a"], ordered=True))
    assert Study(X[:200], two).scale is None


def test_numbers_may_be_ordered_as_classes():
    study = Study(X, RNG.choice([1, 2, 10], N), ordered=[1, 2, 10])
    assert study.scale.scores.tolist() == [0, 1, 2]


def test_words_with_a_usual_order_are_named_in_a_note():
    study = Study(X, RNG.choice(["High", "low", "medium"], N).tolist())
    assert study.scale is None
    (note,) = study.table.notes
    assert (note.kind, note.words) == ("label-may-be-ordered", ("low", "medium", "High"))


def test_rows_without_a_label_are_left_out():
    y = MANY.copy()
    y[:50] = np.nan
    study = Study(X, y)
    assert study.n_rows == N - 50
    assert kinds(study) == ["label-missing", "label-clipped"]
    assert len(study.scale.scores) == len(set(study.table.labels.tolist()))


def test_rows_that_are_dropped_leave_no_code_without_rows():
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(np.arange(N) < 350, np.nan, X[:, 1])})
    study = Study(frame, MANY, missing="drop")
    assert len(study.scale.scores) == len(study.table.classes) == len(set(study.table.labels.tolist())) <= 50
    assert (np.diff(study.scale.scores) > 0).all()


def test_identifiers_are_no_numbers_unless_asked():
    with pytest.raises(InputError, match="holds whole numbers that identify the rows or what they are about"):
        Study(pd.DataFrame(X), pd.Series(RNG.permutation(N), name="customer_id"))
    assert Study(X, RNG.permutation(N), scale="number").scale.kind == "number"


def test_many_numbers_as_text_are_refused_unless_they_are_classes():
    y = np.array([f"{number:.1f}" for number in MANY])
    assert N / 2 < len(set(y)) < 0.95 * N
    with pytest.raises(InputError, match=r"holds numbers as text; convert it .* scale='classes'"):
        Study(X, y)
    with pytest.raises(InputError, match="holds numbers as text, but for 'unknown' and the like"):
        Study(X, np.where(np.arange(N) % 9 == 0, "unknown", y))
    assert Study(X, y, scale="classes").table.classes == tuple(sorted(set(y)))
    assert Study(X, np.array([f"{number / 5:.0f}" for number in MANY])).scale is None  # may be codes


@pytest.mark.parametrize(("factor", "words"), [(1e100, "large"), (1e-100, "close to each other")])
def test_numbers_whose_squares_cannot_be_computed_are_refused(factor, words):
    with pytest.raises(InputError, match=f"'y' are too {words} for their squares: give them in another unit"):
        Study(X, MANY * factor)
    assert Study(X, MANY * factor, scale="ranks").scale.kind == "ranks"
