"""Which column is the label and which the weights, however they are given; and which columns are left as features."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from saying import all_said

from analogical import InputError, audit, compare, evidence, redundancies, relevance, transitions
from analogical._types import Note
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules

COLUMNS = {
    "a": [0, 0, 1, 1, 0, 1],
    "b": ["u", "v", "u", "v", "u", "u"],
    "y": ["no", "yes", "yes", "no", "no", "no"],
    "n": [1, 2, 3, 1, 2, 5],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
SERIES = ("pandas", "polars")


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](COLUMNS)


@pytest.fixture(params=SERIES)
def with_series(request):
    return FRAMES[request.param](COLUMNS)


def without_call(result):
    """All numbers of a result, but not how the table was given."""
    return {name: value for name, value in result.to_dict().items() if name != "notes"}


def test_a_series_of_the_table_is_the_label_and_no_feature(with_series):
    given = relevance(with_series, with_series["y"])
    named = relevance(with_series, "y")
    assert given.names == named.names == ("a", "b", "n")
    assert without_call(given) == without_call(named)
    assert (given.notes, named.notes) == ((Note("label-taken-out", ("y",)),), ())
    assert "the column 'y' of X is the label or a recoding of it, so it" in all_said(given)


def test_a_series_of_the_table_are_the_weights_and_no_feature(with_series):
    given = relevance(with_series, with_series["y"], weights=with_series["n"])
    named = relevance(with_series, "y", weights="n")
    assert given.names == named.names == ("a", "b")
    assert without_call(given) == without_call(named)
    assert given.n_rows == 14
    assert given.notes == (Note("label-taken-out", ("y",)), Note("weights-taken-out", ("n",)))


def test_a_label_with_other_names_for_the_same_classes_is_taken_out(with_series):
    given = relevance(with_series, recoded(with_series))
    assert given.names == ("a", "b", "n")
    assert given.classes == (0, 1)
    assert given.notes == (Note("label-taken-out", ("y",)),)


def recoded(table):
    """The label as numbers, under its own name."""
    numbers = [int(v == "yes") for v in COLUMNS["y"]]
    return pd.Series(numbers, name="y") if isinstance(table, pd.DataFrame) else pl.Series("y", numbers)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "yes", "no", "no", "yes"],  # one row in the other class
        ["a", "yes", "yes", "no", "no", "no"],  # one class divided
        ["no", "yes", "yes", "no", "no", "maybe"],
    ],
)
def test_a_label_of_the_same_name_with_other_values_leaves_the_column_a_feature(with_series, labels):
    given = pd.Series(labels, name="y") if isinstance(with_series, pd.DataFrame) else pl.Series("y", labels)
    result = relevance(with_series, given)
    assert result.names == ("a", "b", "y", "n")
    assert result.notes == (Note("label-name-kept", ("y",)),)
    assert "the column 'y' of X has the name of the label but different values; it is kept as a feature" in all_said(
        result
    )


def test_weights_of_the_same_name_with_other_values_leave_the_column_a_feature():
    table = pd.DataFrame(COLUMNS)
    result = relevance(table, "y", weights=pd.Series([1, 1, 1, 1, 1, 2], name="n"))
    assert result.names == ("a", "b", "n")
    assert result.notes == (Note("weights-name-kept", ("n",)),)


@pytest.mark.parametrize("label", [np.array(COLUMNS["y"]), COLUMNS["y"], pd.Series(COLUMNS["y"], name="other")])
def test_a_label_without_the_name_of_a_column_takes_nothing_out(label):
    result = relevance(pd.DataFrame(COLUMNS), label)
    assert result.names == ("a", "b", "y", "n")
    assert result.notes == ()


def test_an_array_has_no_columns_to_take_out():
    result = relevance(np.array([[0, 0], [0, 1], [1, 0]]), pd.Series([0, 1, 1], name="x0"))
    assert result.names == ("x0", "x1")
    assert (result.label, result.notes) == ("x0", ())


def test_every_verb_takes_label_and_weights_out(with_series):
    label, weights = with_series["y"], with_series["n"]
    given = audit(with_series, label, "a", given="all", weights=weights)
    named = audit(with_series, "y", "a", given="all", weights="n")
    assert given.given == named.given == ("b",)
    assert (given.n_pairs, given.n_changed) == (named.n_pairs, named.n_changed)
    assert given.notes == (Note("label-taken-out", ("y",)), Note("weights-taken-out", ("n",)))
    assert evidence(with_series, label, "a").n_pairs == evidence(with_series, "y", "a").n_pairs
    assert transitions(with_series, label, "a").n_pairs == transitions(with_series, "y", "a").n_pairs
    assert compare(with_series, label, methods=["ari"]).names == ("a", "b", "n")


def test_a_label_by_the_integer_name_of_its_column():
    table = pd.DataFrame({0: COLUMNS["a"], 1: COLUMNS["b"], 2: COLUMNS["y"]})
    for label in (2, np.int64(2), "2"):
        result = relevance(table, label)
        assert (result.names, result.label, result.notes) == (("0", "1"), "2", ())
    with pytest.raises(InputError, match="no column 7 to take as label"):
        relevance(table, 7)
    reversed_names = table.rename(columns={0: 2, 2: 0})
    assert relevance(reversed_names, 0).names == ("2", "1")  # the name, not the position


def test_features_and_ignore_choose_columns(frame):
    assert relevance(frame, "y", features=["b", "a"]).names == ("a", "b")
    assert relevance(frame, "y", ignore=["n"]).names == ("a", "b")
    assert relevance(frame, "y", ignore="n", weights=None).names == ("a", "b")
    assert relevance(frame, "y", features=[0, 1]).names == ("a", "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["a"], "ignore": ["b"]}, "features and ignore cannot be used together"),
        ({"features": ["y"]}, "features names 'y', which is the label; leave it out of features"),
        ({"weights": "n", "groups": "n"}, "The column 'n' cannot be both the weights and the groups; choose another"),
        ({"ignore": ["n"], "weights": "n"}, "ignore names 'n', which is the weights; leave it out of ignore"),
        ({"features": ["c"]}, "no column 'c' to take as features"),
        ({"features": [9]}, r"features must be a name or a position from 0 to 2 \(the table has 3 features\), got 9"),
        ({"features": 1.5}, "features must be a list of column names, got 1.5"),
        ({"ignore": [["a"]]}, r"ignore must be a list of column names, got \[\['a'\]\]"),
        ({"ignore": ["a", "b", "n"]}, "no features; give at least one column besides the label"),
    ],
)
def test_features_that_cannot_be_chosen_are_refused(frame, options, message):
    with pytest.raises(InputError, match=message):
        relevance(frame, "y", **options)


def test_the_label_is_no_feature_to_ask_about(frame):
    for feature, given in (("y", "auto"), ("a", ["y"])):
        with pytest.raises(InputError, match="feature names 'y', which is the label; choose another column"):
            evidence(frame, "y", feature, given=given)


# ---------------------------------------------------------------- the encoded table


def test_what_codes_mean_is_kept(frame):
    table = encode_table(frame, "y", Rules(weights="n"))
    assert table.names == ("a", "b")
    assert [column.key for column in table.columns] == ["a", "b"]
    assert [sorted(column.values) for column in table.columns] == [[0, 1], ["u", "v"]]
    for i, name in enumerate(table.names):
        assert table.cells(range(6), i) == COLUMNS[name]
    assert (table.label, table.classes) == ("y", ("no", "yes"))
    assert [table.classes[code] for code in table.coded.labels] == COLUMNS["y"]
    assert table.coded.weights.tolist() == COLUMNS["n"]
    assert table.origin is None
    assert table.backend in FRAMES


def test_rows_of_weight_zero_are_left_out_and_the_others_know_their_place():
    rules = Rules(ignore=["n"], weights=[1, 0, 2, 0, 0, 1])
    table = encode_table(pd.DataFrame(COLUMNS, index=list("pqrstu")), "y", rules)
    assert table.origin.tolist() == [0, 2, 5]
    assert table.positions([0, 2]) == [0, 5]
    assert table.row_names([0, 2]) == ["p", "u"]
    assert table.cells([1, 2], 1) == ["u", "u"]
    assert table.n_values.tolist() == [2, 1]
    assert table.coded.n_rows == 4


def test_rows_without_an_index_are_named_by_position():
    assert encode_table(pl.DataFrame(COLUMNS), "y").row_names([3]) == [3]
    assert encode_table([(0,), (1,)], [0, 1]).row_names([1]) == [1]
    assert encode_table(pd.DataFrame(COLUMNS, index=[1, 1, 1, 2, 2, 2]), "y").row_names([4]) == [4]


def test_selecting_features_keeps_codes_and_meanings():
    table = encode_table(pd.DataFrame(COLUMNS), "y")
    part = table.select([2, 0])
    assert part.names == ("n", "a")
    assert part.codes.tolist() == table.codes[:, [2, 0]].tolist()
    assert part.n_values.tolist() == [4, 2]
    assert part.cells([5], 0) == [5]
    assert part.label == "y"


def test_features_are_found_by_name_position_and_given_name():
    table = encode_table(pd.DataFrame(COLUMNS), "y", Rules(feature_names=["p", "q", "r"]))
    assert [table.find(feature) for feature in ("q", "b", 1, np.int64(1))] == [1, 1, 1, 1]
    integers = encode_table(pd.DataFrame({1: [0, 1], 0: [0, 1], "y": [0, 1]}), "y")
    assert (integers.find(1), integers.find("1"), integers.find(0)) == (0, 0, 1)
    with pytest.raises(InputError, match="no column 'z' to take as feature"):
        table.find("z")


def test_features_alone_are_encoded_without_a_label():
    table = encode_table(pd.DataFrame(COLUMNS), None, Rules(weights="n"), needs_label=False)
    assert table.names == ("a", "b", "y")
    assert table.labels is table.label_meaning is None
    assert (table.coded.labels.tolist(), table.coded.n_labels) == ([0] * len(table.codes), 1)
    for ask in (lambda: table.label, lambda: table.classes):
        with pytest.raises(ValueError, match="without a label"):
            ask()


def test_redundancies_of_a_single_weighted_row_and_of_constant_tables():
    rows = [("u", 1), ("v", 2), ("w", 2)]
    one = redundancies(rows, weights=[5, 0, 0])
    assert (one.n_rows, one.constants, one.renamings, one.dependencies) == (5, ("x0", "x1"), (), ())
    constant = redundancies([("u", 1)] * 3)
    assert (constant.n_rows, constant.constants, constant.dependencies) == (3, ("x0", "x1"), ())


def test_redundancies_take_the_weights_out(with_series):
    assert redundancies(with_series, weights=with_series["n"]).names == ("a", "b", "y")
    assert redundancies(with_series, weights=with_series["n"]).notes == (Note("weights-taken-out", ("n",)),)


N_WEIGHTED = 30


@pytest.mark.parametrize(
    ("name", "weights", "reason"),
    [
        ("year", [1990 + k % 25 for k in range(N_WEIGHTED)], r"those of 'year' look like years \(1990 to 2014\)"),
        ("when", [20200101 + k for k in range(N_WEIGHTED)], r"look like dates \(20200101 to 20200130\)"),
        ("n", list(range(1, N_WEIGHTED + 1)), r"look like identifiers \(1 to 30\)"),
        ("customer_id", [977 * k + 3 for k in range(N_WEIGHTED)], "look like identifiers"),
        ("count", [977 * k + 3 for k in range(N_WEIGHTED)], None),
        ("count", [2000] * N_WEIGHTED, None),
        ("count", [1990 + k % 25 for k in range(N_WEIGHTED - 1)] + [3], None),
        ("count", [k % 5 for k in range(N_WEIGHTED)], None),
    ],
)
def test_a_column_that_cannot_hold_counts_is_refused_as_weights(name, weights, reason):
    table = pl.DataFrame(
        {"a": [k % 3 for k in range(N_WEIGHTED)], name: weights, "y": [k % 2 for k in range(N_WEIGHTED)]}
    )
    if reason is None:
        assert encode_table(table, "y", Rules(weights=name)).weights is not None
        return
    with pytest.raises(InputError, match=reason):
        encode_table(table, "y", Rules(weights=name))
    assert (
        encode_table(table.drop(name), "y", Rules(weights=weights)).weights is not None
    )  # values are taken as they are


def test_fractional_weights_are_refused_with_advice():
    with pytest.raises(
        InputError, match=r"got 1.5 in row 1 of 'w'; use counts, not shares. Survey weights are not supp"
    ):
        encode_table(pl.DataFrame({"a": [0, 1], "w": [1.0, 1.5], "y": [0, 1]}), "y", Rules(weights="w"))


@pytest.mark.parametrize(
    "weights",
    [
        [Decimal(2), Decimal(1), Decimal(2)],
        [Fraction(2), 1, 2.0],
        pl.Series([2, 1, 2], dtype=pl.Int128),
        np.ma.masked_array([2, 1, 2], [False, False, False]),
    ],
)
def test_weights_are_whole_numbers_of_any_type(weights):
    encoded = encode_table([[0], [1], [0]], [0, 1, 1], Rules(weights=weights)).weights
    assert (encoded.dtype, encoded.tolist()) == (np.int64, [2, 1, 2])


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([True, None, True], "got a missing value in row 1"),
        (np.ma.masked_array([2, 1, 2], [False, False, True]), "got a missing value in row 2"),
        ([1, "two", 1], "got 'two' in row 1"),
        ([1, -1, 0.5], "got -1 in row 1; use counts"),
    ],
)
def test_weights_that_are_no_counts_are_refused_by_row(weights, problem):
    with pytest.raises(InputError, match=problem):
        encode_table([[0], [1], [0]], [0, 1, 1], Rules(weights=weights))
