"""Columns that tell the label nearly alone are named."""

import numpy as np
import pandas as pd
import pytest
from conftest import coded
from scipy.stats import spearmanr

from analogical import relevance
from analogical._types import Note
from analogical.estimate.dependencies import find_leaks, predicted_by_cut

RNG = np.random.default_rng(5)
LABELS = RNG.integers(0, 2, 200)
NOISE = RNG.integers(0, 3, 200)


def wrong_in(n):
    """The label, and another one in n rows."""
    copy = LABELS.copy()
    copy[:n] = 1 - copy[:n]
    return copy


def leak_note(frame, y):
    return next((note for note in relevance(frame, y).notes if note.kind == "leak"), None)


@pytest.mark.parametrize(("n_wrong", "is_leak"), [(0, True), (4, True), (8, True), (12, False), (60, False)])
def test_copies_and_near_copies_are_named(n_wrong, is_leak):
    frame = pd.DataFrame({"noise": NOISE, "copy": np.where(wrong_in(n_wrong) == 1, "yes", "no")})
    expected = Note("leak", ("copy",), (100 - n_wrong // 2,)) if is_leak else None
    assert leak_note(frame, LABELS) == expected


def test_shares_are_of_rows_told_right_by_the_largest_class_of_each_value():
    column = wrong_in(4)
    told = sum(max((LABELS[column == v] == c).sum() for c in (0, 1)) for v in (0, 1))
    assert find_leaks(coded(np.column_stack([NOISE, column]), LABELS)) == {1: told / 200}


def test_a_recoding_and_a_finer_column_are_leaks():
    finer = LABELS * 3 + NOISE
    frame = pd.DataFrame({"noise": NOISE, "finer": finer})
    assert leak_note(frame, LABELS).columns == ("finer",)


def test_small_tables_have_no_leaks():
    for n in (19, 20):
        frame = pd.DataFrame({"copy": LABELS[:n], "noise": NOISE[:n]})
        assert (leak_note(frame, LABELS[:n]) is not None) is (n == 20)
    for n in (49, 50):
        nearly = np.where(np.arange(n) == 3, 1 - np.asarray(LABELS[:n]), LABELS[:n])
        frame = pd.DataFrame({"nearly": nearly, "noise": NOISE[:n]})
        assert (leak_note(frame, LABELS[:n]) is not None) is (n == 50)


def test_copies_of_a_label_with_very_many_classes_are_named():
    labels = np.repeat([f"class {k}" for k in range(100)], 3)
    frame = pd.DataFrame({"copy": [f"other {label}" for label in labels], "noise": np.arange(300) % 7})
    assert leak_note(frame, labels).columns == ("copy",)
    frame.loc[299, "copy"] = frame.loc[0, "copy"]
    assert leak_note(frame, labels) is None


def test_rare_classes_are_told_beyond_the_largest_class():
    """A column that is always right where the label is common, and never where it is rare, tells nothing."""
    y = np.array([0] * 190 + [1] * 10)
    assert find_leaks(coded(np.column_stack([NOISE, np.zeros(200, int)]), y)) == {}
    assert list(find_leaks(coded(np.column_stack([NOISE, y]), y))) == [1]
    nine = y.copy()
    nine[190] = 0
    assert list(find_leaks(coded(np.column_stack([NOISE, nine]), y))) == [1]
    nine[191] = 0
    assert list(find_leaks(coded(np.column_stack([NOISE, nine]), y))) == []


def test_values_of_single_rows_and_columns_of_many_values_tell_nothing():
    assert find_leaks(coded(np.column_stack([NOISE, np.arange(200)]), LABELS)) == {}
    singles = np.where(np.arange(200) < 60, np.arange(200) + 2, LABELS)
    assert find_leaks(coded(np.column_stack([NOISE, singles]), LABELS)) == {}
    assert find_leaks(coded(LABELS[:, None] * 64, LABELS, n_values=[65])) == {}
    assert list(find_leaks(coded(LABELS[:, None] * 63, LABELS, n_values=[64]))) == [0]


def test_weights_are_rows():
    column, weights = wrong_in(40), np.where(np.arange(200) < 40, 0, 1)
    assert find_leaks(coded(column[:, None], LABELS)) == {}
    assert find_leaks(coded(column[:, None], LABELS, weights=weights)) == {0: 1.0}
    few = coded(LABELS[:10, None], LABELS[:10], weights=[10] * 10)
    assert find_leaks(few) == {0: 1.0}


def test_of_a_large_table_5000_rows_are_looked_at_first():
    columns = np.column_stack([NOISE, wrong_in(4), NOISE, LABELS])
    whole = find_leaks(coded(columns, LABELS))
    assert list(whole) == [1, 3]
    labels = np.tile(LABELS, 100)
    assert find_leaks(coded(np.tile(columns, (100, 1)), labels)) == whole
    first = np.zeros(20_000, int)
    first[::4] = labels[::4]  # the rows that are looked at first, and no others
    assert find_leaks(coded(first[:, None], labels)) == {}


def test_labels_of_many_classes_have_no_leaks():
    y = np.arange(200) % 65
    assert find_leaks(coded(np.column_stack([y % 64, NOISE]), y)) == {}


def test_a_cut_of_a_long_column_tells_the_label_of_the_rows_that_count():
    ranks = np.arange(20_001)
    labels = (ranks >= 7_000).astype(np.uint8)
    assert predicted_by_cut(ranks, labels, None) == 1.0
    noisy, weights = labels.copy(), np.ones(20_001, np.int64)
    noisy[::3], weights[::3] = 1 - labels[::3], 0
    assert predicted_by_cut(ranks, noisy, None) is None
    assert predicted_by_cut(ranks, noisy, weights) == 1.0


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 4, 400)])
def test_a_rounded_label_that_is_a_number_is_named(weights):
    prices = np.exp(RNG.normal(6, 0.8, 400))
    rounded, blurred = np.round(prices, -2), prices * np.exp(RNG.normal(0, 0.3, 400))
    frame = pd.DataFrame(
        {"rounded": rounded, "blurred": blurred, "holes": np.where(np.arange(400) % 5, rounded, np.nan)}
    )
    (note,) = (note for note in relevance(frame, prices, weights=weights).notes if note.kind == "leak")
    repeated = np.repeat(np.arange(400), 1 if weights is None else weights)
    share = spearmanr(rounded[repeated], prices[repeated]).statistic ** 2
    assert (note.columns, note.counts) == (("rounded",), (round(100 * share),))
    assert 0.98 <= share < 0.995
    assert spearmanr(blurred, prices).statistic ** 2 < 0.95
