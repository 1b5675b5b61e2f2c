"""The pairs behind a score and their transitions, against all pairs."""

import json
import math
import time
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import random_table
from hypothesis import given as drawn_from
from hypothesis import strategies as st
from naive import naive_evidence, naive_transitions

import analogical
from analogical import InputError, evidence, relevance, transitions

evidence_all, transitions_all = (partial(function, given="all") for function in (evidence, transitions))
KEEP = {"ids": "keep", "max_values": None}


def positions(found):
    return [tuple(sorted(pair.rows)) for pair in found.pairs]


def small_table(seed):
    rows, labels = random_table(np.random.default_rng(seed), n_features=3, n_values=3)
    rows[0, 0], rows[-1, 0] = 0, 1
    return [tuple(row) for row in rows.tolist()], labels.tolist()


@pytest.mark.parametrize("seed", range(25))
def test_evidence_equals_all_pairs_in_order(seed):
    rows, labels = small_table(seed)
    for feature in range(3):
        expected = naive_evidence(rows, labels, feature)
        found = evidence_all(rows, labels, feature, limit=None)
        assert positions(found) == expected
        assert (found.n_pairs, found.n_changed) == (len(expected), sum(labels[r] != labels[s] for r, s in expected))
        for limit in (0, 1, 2, 5):
            assert positions(evidence_all(rows, labels, feature, limit=limit)) == expected[:limit]


@pytest.mark.parametrize("seed", range(25))
def test_transitions_equal_all_pairs(seed):
    rows, labels = small_table(seed)
    for feature in range(3):
        found = transitions_all(rows, labels, feature)
        got = {(*t.values, *t.labels): t.pairs for t in found.counts}
        assert got == naive_transitions(rows, labels, feature)


table = st.integers(2, 14).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
    )
)


@drawn_from(table, st.integers(0, 2))
def test_evidence_pairs_differ_on_that_feature_only_and_transitions_add_up(drawn, feature):
    rows, labels, weights = drawn
    rows, labels, weights = [(0, 0, 0), (1, 0, 0), *rows], [0, 1, *labels], [1, 2, *weights]
    found = evidence_all(rows, labels, feature, limit=None, weights=weights)
    counted = relevance(rows, labels, given="all", weights=weights)
    for pair in found.pairs:
        r, s = pair.rows
        assert [i for i in range(3) if rows[r][i] != rows[s][i]] == [feature]
        assert pair.values == (rows[r][feature], rows[s][feature])
        assert pair.labels == (labels[r], labels[s])
        assert dict(pair.context) == {f"x{i}": rows[r][i] for i in range(3) if i != feature}
        assert pair.weight == weights[r] * weights[s]
    assert sum(pair.weight for pair in found.pairs) == found.n_pairs == counted.pairs[feature]
    assert sum(pair.weight for pair in found.pairs if pair.changed) == found.n_changed == counted.changed[feature]
    moves = transitions_all(rows, labels, feature, weights=weights)
    assert (moves.n_pairs, moves.n_changed) == (counted.pairs[feature], counted.changed[feature])


@drawn_from(table, st.permutations("abc"))
def test_renaming_values_changes_no_pair(drawn, names):
    rows, labels, _ = drawn
    rows, labels = [(0, 0, 0), (1, 0, 0), *rows], [0, 1, *labels]
    renamed = [(names[a], b, c) for a, b, c in rows]
    found, again = (evidence_all(some, labels, 0, limit=None) for some in (rows, renamed))
    assert [pair.rows for pair in found.pairs] == [pair.rows for pair in again.pairs]
    moves, moves_again = (transitions_all(some, labels, 0) for some in (rows, renamed))
    assert [t.pairs for t in moves.counts] == [t.pairs for t in moves_again.counts]


def test_index_labels_are_shown_where_there_is_an_index():
    frame = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "x", "y"], "y": [0, 1, 1]}, index=["ann", "bob", "cy"])
    (pair,) = evidence_all(frame, "y", "a").pairs
    assert (pair.rows, pair.index) == ((0, 1), ("ann", "bob"))
    assert "rows ann, bob" in repr(evidence_all(frame, "y", "a"))


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_dataframes_of_all_libraries_with_weights(library):
    frame = library({"n": [0, 2, 3, 1], "a": ["u", "u", "v", "v"], "b": ["x", "x", "x", "y"], "y": [1, 0, 1, 1]})
    found = evidence_all(frame, "y", "a", weights="n")
    (pair,) = found.pairs
    assert (pair.rows, pair.values, pair.labels, pair.weight) == ((1, 2), ("u", "v"), (0, 1), 6)
    assert pair.context == (("b", "x"),)
    assert json.loads(json.dumps(found.to_dict()))["pairs"][0]["context"] == {"b": "x"}


def test_evidence_without_pairs_says_so():
    rows, labels = [(0, 0), (1, 1), (0, 0)], [0, 1, 1]
    found = evidence_all(rows, labels, "x0")
    assert found.pairs == ()
    assert (
        repr(found)
        == repr(transitions_all(rows, labels, "x0"))
        == "No two rows differ on 'x0' among rows that agree on x1."
    )


def test_single_feature_has_an_empty_context():
    found = evidence_all([("a",), ("b",)], [0, 1], 0)
    assert "(nothing given)" in repr(found)
    assert "1 of 1 pair that differs on 'x0' differs in 'y' (100.0 %). Pairs of all rows." in " ".join(
        repr(found).split()
    )


def test_transitions_as_dict():
    content = transitions_all([("a",), ("b",)], [pd.Timestamp("2020-01-01"), "late"], 0).to_dict()
    assert content["n_changed"] == 1
    assert content["transitions"][0] == {
        "values": ["a", "b"],
        "labels": ["2020-01-01 00:00:00", "late"],
        "changed": True,
        "pairs": 1,
    }


def test_first_pairs_come_from_different_contexts():
    t = analogical.load_table("monks-1")
    found = evidence_all(t.X, t.y, "jacket_color", limit=10, feature_names=t.feature_names)
    assert len({pair.context for pair in found.pairs}) == 10
    assert all(pair.changed for pair in found.pairs)
    assert found == evidence_all(t.X, t.y, "jacket_color", limit=10, feature_names=t.feature_names)
    assert max(len(line) for line in repr(found).splitlines()) <= 80


@pytest.mark.parametrize(
    ("feature", "limit", "message"),
    [
        ("colour", 10, "The table has no column 'colour' to take as feature; did you mean 'color'"),
        (2, 10, r"feature must be a name or a position from 0 to 1, of a feature that is not left out, got 2"),
        (True, 10, "The table has no column True to take as feature"),
        ("color", -1, "limit must be a whole number from 0, or None for all pairs, got -1"),
        ("color", "all", "limit must be a whole number from 0, or None for all pairs, got 'all'"),
    ],
)
def test_bad_input_is_refused(feature, limit, message):
    with pytest.raises(InputError, match=message):
        evidence_all([(0, 1), (1, 1)], [0, 1], feature, limit=limit, feature_names=["color", "size"])


def test_columns_named_by_numbers_are_found_by_name():
    frame = pd.DataFrame([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], columns=[2, 1, 0])
    label = frame[2].tolist()
    assert evidence_all(frame, label, 2).n_changed == 4
    assert evidence_all(frame, label, 0).n_changed == 0


def test_rows_of_an_index_that_repeats_are_named_by_position():
    frame = pd.DataFrame({"a": [0, 1], "b": [0, 0]}, index=["same", "same"])
    assert "rows 0, 1" in repr(evidence_all(frame, [0, 1], "a"))


# ---------------------------------------------------------------- tall tables and many values


@pytest.mark.parametrize("limit", [6, None])
def test_pairs_that_do_not_exist_are_not_looked_for(limit):
    """One context of 200,000 rows; the last row has the only other value."""
    rows = np.zeros((200_000, 1), int)
    rows[-1] = 1
    labels = np.append(np.ones(199_990, int), np.zeros(10, int))
    start = time.process_time()
    found = evidence_all(rows, labels, 0, limit=limit)
    assert positions(found)[:6] == [(r, 199_999) for r in range(6)]
    assert len(found) == (limit or 199_999)
    assert time.process_time() - start < 10


def test_changed_pairs_of_all_contexts_come_before_unchanged_ones():
    rows = [(value, context) for context in range(50) for value in "ab"]
    labels = ["no", "yes"] * 49 + ["yes", "yes"]
    found = evidence_all(rows, labels, 0, limit=60)
    assert [pair.changed for pair in found.pairs] == [True] * 49 + [False]


MANY = np.arange(2_200)
"""Rows with 1,100 pairs each; every two of them have a label of their own."""


@pytest.mark.parametrize("limit", [None, 2_000_000])
def test_more_pairs_than_can_be_held_are_refused(limit):
    with pytest.raises(
        InputError,
        match=rf"More than 1,000,000 pairs would be listed with limit={limit}; give a smaller limit, or use trans",
    ):
        evidence_all(MANY[:, None] % 2, np.char.add("class ", (MANY // 2).astype(str)), 0, limit=limit)


def test_more_changes_than_can_be_held_are_refused():
    with pytest.raises(
        InputError, match="The pairs of 'x0' have more than 1,000,000 distinct changes of value and label, too many to"
    ):
        transitions_all(MANY[:, None] % 2, np.char.add("class ", (MANY // 2).astype(str)), 0)


def test_transitions_of_many_values_and_classes_fit_in_memory():
    """3,000 values and 3,000 classes have 9,000,000 combinations, of which 6,000 occur."""
    rows = np.column_stack([np.arange(6000) % 3000, np.arange(6000) // 4])
    labels = [f"class {k}" for k in np.arange(6000) % 2999]
    tracemalloc.start()
    found = transitions_all(rows, labels, 0, **KEEP)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_pairs == 1500 * 6
    assert peak < 2**25


def test_transitions_are_added_up_in_parts():
    """A part holds a million twos of cells of one context; 1,000 contexts of about 50 cells have more."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, [50, 1000], (80_000, 2)), rng.integers(0, 2, 80_000)
    found = transitions_all(rows, labels, 0, **KEEP)
    cells = np.zeros((1000, 50, 2), np.int64)
    np.add.at(cells, (rows[:, 1], rows[:, 0], labels), 1)
    expected = np.einsum("cap,cbq->apbq", cells, cells, optimize=True)
    assert all(t.pairs == expected[t.values[0], t.labels[0], t.values[1], t.labels[1]] for t in found.counts)
    assert len(found.counts) == math.comb(50, 2) * 4


# ---------------------------------------------------------------- given what decides the label


def rule(seed, n=600):
    """The label goes with the exclusive or of two columns and with a number; other columns do nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, (n, 4)), columns=list("abcd"))
    frame["age"] = rng.normal(50, 15, n).round(1)
    chance = 0.1 + 0.5 * ((frame["a"] > 0) ^ (frame["b"] > 0)) + 0.35 * (frame["age"] > 50)
    return frame, np.where(rng.random(n) < chance, "yes", "no")


@pytest.mark.parametrize("given", ["auto", "all", ["a", "age"], []])
@pytest.mark.parametrize("options", [{}, {"weights": True}, {"groups": True}])
def test_counts_are_those_of_relevance(given, options):
    frame, labels = rule(1)
    options = {name: np.arange(len(frame)) % 60 // (1 if name == "groups" else 20) for name in options}
    expected = relevance(frame, labels, given=given, **options)
    for i, feature in enumerate(expected.names):
        found = evidence(frame, labels, feature, given=given, **options)
        moves = transitions(frame, labels, feature, given=given, **options)
        assert found.given == moves.given == expected.given[i]
        assert found.n_pairs == moves.n_pairs == expected.compared[i]
        if found.n_pairs:
            assert found.n_changed / found.n_pairs == moves.n_changed / moves.n_pairs == expected.index[i]


@pytest.mark.parametrize("seed", range(10))
def test_pairs_given_some_columns_are_those_of_a_table_of_these_columns(seed):
    rows, labels = small_table(seed)
    found = evidence(rows, labels, 0, given=["x2"], limit=None)
    assert positions(found) == naive_evidence([(row[0], row[2]) for row in rows], labels, 0)
    assert all([name for name, _ in pair.context] == ["x2"] for pair in found.pairs)
    univariate = evidence(rows, labels, 0, given=[], limit=None)
    assert positions(univariate) == naive_evidence([row[:1] for row in rows], labels, 0)
    assert {pair.context for pair in univariate.pairs} <= {()}


def test_a_number_as_context_may_have_other_bins_and_rows_are_equal_on_them():
    frame, labels = rule(2, n=2000)
    found = evidence(frame, labels, "a", limit=200)
    assert set(found.given) == {"b", "age"}
    by_bin = {}
    for pair in found.pairs:
        cell = dict(pair.context)["age"]
        by_bin.setdefault(cell, []).extend(frame["age"].iloc[list(pair.rows)].tolist())
    assert len(by_bin) == 2  # of its own it has five
    for cell, ages in by_bin.items():
        low, high = map(float, cell.split(" to "))
        assert low <= min(ages) <= max(ages) <= high
    frame.loc[::7, "age"] = np.nan
    gaps = [pair for pair in evidence(frame, labels, "a", limit=200).pairs if dict(pair.context)["age"] is None]
    assert gaps
    assert all(row % 7 == 0 for pair in gaps for row in pair.rows)


def test_a_copy_of_what_decides_has_no_pairs_and_says_so():
    rng = np.random.default_rng(3)
    town = rng.integers(0, 6, 400)
    frame = pd.DataFrame({"town": town, "code": town * 7 % 11, "size": rng.integers(0, 2, 400)})
    labels = rng.random(400) < 0.1 + 0.15 * town
    found = evidence(frame, labels, "code")
    assert (found.same_as, found.n_pairs, found.pairs) == ("town", 0, ())
    words = " ".join(repr(found).split())
    assert words.startswith("'code' is a copy of 'town': rows that agree on the deciding set do not differ on it.")
    assert repr(transitions(frame, labels, "code")) == repr(found)
    assert evidence(frame, labels, "code", given=["size"]).n_pairs > 0


def test_a_column_that_is_named_is_not_set_aside_as_an_id():
    frame = pd.DataFrame({"a": [0, 1] * 20, "ticket": [f"t{k // 2 if k < 2 else k}" for k in range(40)]})
    labels = [0, 1] * 20
    assert evidence(frame, labels, "a").given == ()
    assert evidence(frame, labels, "a", given=["ticket"]).n_pairs == 1
    assert evidence(frame, labels, 0, given=[1]).n_pairs == 1


def test_what_is_given_is_named():
    rng = np.random.default_rng(4)
    rows, labels = np.tile(rng.integers(0, 2, (40, 9)), (2, 1)), rng.integers(0, 2, 80)
    rows[40:, 0] ^= 1
    words = " ".join(repr(evidence(rows, labels, 0, given=["x1", "x2", "x3"])).split())
    assert "Pairs of rows that agree on x1, x2 and x3." in words
    assert evidence(rows, labels, 0, given=["x1"]).to_dict()["given"] == ["x1"]
    assert "Pairs of all rows." in " ".join(repr(transitions(rows, labels, 0, given=[])).split())


def test_a_feature_that_is_asked_about_is_not_left_out():
    for ask in (evidence, transitions):
        with pytest.raises(InputError, match="ignore names 'a', the feature in question; leave it out of"):
            ask(pd.DataFrame({"a": [0, 1, 1], "b": [0, 0, 1], "y": [0, 1, 1]}), "y", "a", ignore=["a"])


# ---------------------------------------------------------------- labels that are numbers


def numbers_table(seed, n=40):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(0, [3, 4], size=(n, 2)).tolist()]
    return [(0, 0), (1, 0), *rows], [1.0, 5.0, *np.round(rng.normal(0, 10, n)).tolist()]


@pytest.mark.parametrize("seed", range(10))
def test_evidence_of_numbers_equals_all_pairs(seed):
    rows, labels = numbers_table(seed)
    of_pair = {two: abs(labels[two[0]] - labels[two[1]]) for two in naive_evidence(rows, labels, 0)}
    in_order = sorted(of_pair.values())
    found = evidence_all(rows, labels, 0, limit=6, scale="number")
    assert (found.n_pairs, found.n_changed) == (len(of_pair), sum(d > 0 for d in in_order))
    assert found.index == pytest.approx(np.mean(np.square(in_order)))
    assert found.median == in_order[(len(in_order) - 1) // 2]
    shown = [of_pair[two] for two in positions(found)]
    assert len(set(positions(found))) == 6
    assert shown[0] == in_order[-1]
    assert shown[:3] == sorted(shown[:3], reverse=True)
    assert len({pair.context for pair in found.pairs[:3]}) == 3
    for pair in found.pairs[:3]:
        of_context = [d for (r, _), d in of_pair.items() if dict(pair.context)["x1"] == rows[r][1]]
        assert abs(pair.labels[0] - pair.labels[1]) == max(of_context)
    assert shown[3] == min(in_order, key=lambda d: abs(d - found.median))
    everything = evidence_all(rows, labels, 0, limit=None, scale="number")
    assert [of_pair[two] for two in positions(everything)] == in_order[::-1]
    assert evidence_all(rows, labels, 0, limit=0, scale="number").pairs == ()
    many = evidence_all(rows, labels, 0, limit=len(of_pair) + 5, scale="number")
    assert sorted(positions(many)) == sorted(of_pair)


@pytest.mark.parametrize("seed", range(10))
def test_transitions_of_numbers_are_means_over_all_pairs(seed):
    rows, labels = numbers_table(seed)
    sides = {}
    first = {value: min(r for r, row in enumerate(rows) if row[0] == value) for value in range(3)}
    for two in naive_evidence(rows, labels, 0):
        r, s = sorted(two, key=lambda row: first[rows[row][0]])
        sides.setdefault((rows[r][0], rows[s][0]), []).append((labels[r], labels[s]))
    found = transitions_all(rows, labels, 0, scale="number")
    assert [t.values for t in found.counts] == sorted(sides, key=lambda two: [first[value] for value in two])
    for transition in found.counts:
        assert transition.pairs == len(sides[transition.values])
        assert transition.labels == pytest.approx(np.mean(sides[transition.values], axis=0))
    assert found.n_pairs == sum(map(len, sides.values()))
    assert found.n_changed == evidence_all(rows, labels, 0, scale="number").n_changed


def test_of_very_many_numbers_the_largest_differences_are_found():
    rng = np.random.default_rng(1)
    rows, labels = rng.integers(0, [2, 5], size=(1500, 2)), np.exp(rng.normal(0, 2, 1500))
    found = evidence(rows, labels, 0, given=[1], limit=4, scale="number")
    sides = [[labels[(rows[:, 0] == v) & (rows[:, 1] == c)] for v in (0, 1)] for c in range(5)]
    differences = np.concatenate([np.abs(b[:, None] - a).ravel() for a, b in sides])
    shown = [abs(pair.labels[0] - pair.labels[1]) for pair in found.pairs]
    assert shown[0] == pytest.approx(differences.max())
    assert found.median == pytest.approx(np.median(differences), rel=0.05)
    assert shown[2:] == pytest.approx([found.median] * 2, rel=0.02)
    assert found.index == pytest.approx((differences**2).mean())


def test_pairs_of_numbers_are_those_of_repeated_rows():
    rows, labels = numbers_table(3)
    times = np.random.default_rng(3).integers(1, 4, len(rows))
    repeated = np.repeat(np.arange(len(rows)), times)
    weighted = evidence_all(rows, labels, 0, scale="number", weights=times)
    whole = evidence_all([rows[r] for r in repeated], [labels[r] for r in repeated], 0, scale="number")
    assert (weighted.n_pairs, weighted.index, weighted.median) == pytest.approx(
        (whole.n_pairs, whole.index, whole.median)
    )


def test_evidence_and_transitions_of_numbers_in_words():
    rows = [(gender, job) for job in range(3) for gender in "mfmf"]
    labels = [100.0 * k + (2500.5 if gender == "m" else 0) for k, (gender, _) in enumerate(rows)]
    found = evidence(rows, labels, "sex", feature_names=["sex", "job"], given=["job"], limit=2, scale="number")
    words = " ".join(repr(found).split())
    assert words.startswith(
        "12 pairs that differ on 'sex' differ in 'y' by 2,400 (root mean square; half of them by 2,400 or less)."
    )
    assert "sex m → f y 2,700.5 → 100 (-2,600) rows 2, 1 sex m → f y 2,500.5 → 100 (-2,400) rows 0, 1" in words
    moves = transitions(rows, labels, "sex", feature_names=["sex", "job"], given=["job"], scale="number")
    assert "1 transition of 'sex', with the mean of 'y' on either side, in 12 pairs." in repr(moves)
    assert "m → f" in repr(moves)
    assert "3,000.5 → 600" in repr(moves)
    assert "-2,400" in repr(moves)
    assert json.loads(json.dumps(moves.to_dict()))["transitions"][0]["pairs"] == 12
    alike = evidence([("a", 0), ("b", 0), ("b", 0)], [2.0, 2.0, 3.0], 0, scale="number", given=[])
    assert "half of them not at all" in " ".join(repr(alike).split())
