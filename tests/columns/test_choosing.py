"""Which columns are meant: by name of any type, by pattern, by position."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from analogical import AnalogicalSelector, InputError, audit, evidence, relevance
from analogical.columns.frames import name_of
from analogical.columns.roles import unknown_column

NUMBERS = {"price_a": [0, 1, 0, 1], "price_b": [0, 0, 1, 1], "size": [1, 1, 2, 2], "y": [0, 1, 1, 0]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"features": "price_*"}, ("price_a", "price_b")),
        ({"features": ["price_?", "size"]}, ("price_a", "price_b", "size")),
        ({"features": ["*_[b-z]"]}, ("price_b",)),
        ({"ignore": "price_*"}, ("size",)),
        ({"ignore": ["*_a", "si*"]}, ("price_b",)),
        ({"features": np.array(["size"])}, ("size",)),
        ({"features": {"size": 0}.keys()}, ("size",)),
        ({"features": [2]}, ("size",)),
        ({"ignore": 0}, ("price_b", "size")),
        ({"features": "*"}, ("price_a", "price_b", "size")),
    ],
)
def test_names_and_patterns(library, options, names):
    assert relevance(library(NUMBERS), "y", **options).names == names


def test_patterns_that_are_names_and_patterns_that_match_nothing():
    frame = pd.DataFrame({"a*": [0, 1, 0, 1], "ab": [0, 0, 1, 1], "y": [0, 1, 1, 0]})
    assert relevance(frame, "y", features="a*").names == ("a*",)
    with pytest.raises(InputError, match=r"features has 'z\*', which no column matches; the table has 'a\*', 'ab'\."):
        relevance(frame, "y", features="z*")
    with pytest.raises(InputError, match="ignore names 'y', which is the label; leave it out of ignore"):
        relevance(frame, "y", ignore=["y"])


def test_integer_and_other_names():
    frame = pd.DataFrame({1: [0, 1, 0, 1], 0: [0, 0, 1, 1], date(2020, 1, 1): [0, 1, 1, 0], "y": [0, 1, 1, 1]})
    result = relevance(frame, "y")
    assert result.names == ("1", "0", "2020-01-01")
    assert relevance(frame, "y", features=[0]).names == ("0",)  # the name, not the position
    assert relevance(frame, "y", features=["1"]).names == ("1",)
    assert relevance(frame, "y", features=[date(2020, 1, 1)]).names == ("2020-01-01",)
    assert relevance(frame, 0, features=[1]).label == "0"


def test_a_position_that_may_be_a_name_is_refused():
    frame = pd.DataFrame({"1": [0, 1, 0, 1], "0": [0, 0, 1, 1], "y": [0, 1, 1, 1]})
    assert evidence(frame, "y", "0").feature == "0"
    with pytest.raises(InputError, match="feature=0 may be the name '0' or the position 0; give the name as text"):
        evidence(frame, "y", 0)
    with pytest.raises(InputError, match="feature=0 may be the name"):
        audit(frame, "y", 0)


def test_tuples_and_levels_are_joined():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "z"), ("b", "")])
    frame = pd.DataFrame([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], columns=columns)
    for label in (("b", ""), "b"):
        result = relevance(frame, label)
        assert (result.names, result.label) == (("a / x", "a / z"), "b")
    assert relevance(frame, "b", features=[("a", "z")]).names == ("a / z",)
    assert relevance(frame, "b", ignore=["a / z"]).names == ("a / x",)
    assert relevance(frame, "b", features="a / *").names == ("a / x", "a / z")
    plain = pd.DataFrame({("a", 1): [0, 1, 0, 1], ("b", 2): [0, 1, 1, 0]})
    assert relevance(plain, ("b", 2)).names == ("a / 1",)
    assert name_of(("a", "", 3)) == "a / 3"


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]),
        pd.DataFrame([[0, 1], [1, 0]], columns=["1", 1]),
        pd.DataFrame([[0, 1], [1, 0]], columns=pd.MultiIndex.from_tuples([("a", ""), ("a", "")])),
        pa.Table.from_arrays([pa.array([0, 1]), pa.array([1, 0])], names=["a", "a"]),
    ],
)
def test_repeated_names_are_refused_in_one_sentence(X):
    with pytest.raises(InputError, match=r"Column names must differ, but '.*' occurs more than once; rename or drop"):
        relevance(X, [0, 1])


def test_names_may_come_from_a_generator():
    assert relevance([(0, 1), (1, 1)], [0, 1], feature_names=(name for name in "pq")).names == ("p", "q")


def test_a_misspelt_name_gets_a_hint():
    assert str(unknown_column("colour", ["colours", "size"], "label")).endswith("did you mean 'colours'?")
    assert str(unknown_column("SIZE", ["colours", "size"], "label")).endswith("did you mean 'size'?")
    assert str(unknown_column(2, ["2", "size"], "label")).endswith("it has '2', 'size'.")  # never: did you mean '2'?
    assert "and 4992 more" in str(unknown_column("zzz", [f"a{k}" for k in range(5_000)], "label"))


def test_transform_says_which_names_are_not_those_of_fit():
    frame = pd.DataFrame(NUMBERS)
    selector = AnalogicalSelector(k=1).fit(frame.drop(columns="y"), frame["y"])
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        selector.transform(frame.drop(columns="y").rename(columns={"size": "width"}))
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        selector.transform(frame[["size", "price_a", "price_b"]])
