"""One column to codes, and which column a name means."""

import numpy as np
import pytest

from analogical import InputError
from analogical.columns.columns import MISSING, Column, compact, encode_array, encode_objects
from analogical.columns.roles import Names


@pytest.mark.parametrize(
    ("cells", "codes", "values"),
    [
        (np.array(["b", "a", "b"]), [1, 0, 1], ["a", "b"]),
        (np.array([True, True]), [0, 0], [True]),
        (np.array([7, -1, 7]), [1, 0, 1], [-1, 7]),
        (np.array([2.5, np.nan, 1.0]), [1, MISSING, 0], [1.0, 2.5]),
        (np.array([None, "x", "x"], dtype=object), [MISSING, 0, 0], ["x"]),
        (np.array([1, 1.0, True, "1"], dtype=object), [0, 0, 0, 1], [1, "1"]),
    ],
)
def test_arrays_get_dense_codes_and_gaps_are_missing(cells, codes, values):
    column = encode_array(cells, "feature 'x'")
    assert column.codes.tolist() == codes
    assert list(column.values) == values
    assert (column.codes == MISSING).tolist() == [code == MISSING for code in codes]


def test_objects_are_numbered_by_appearance():
    column = encode_objects(["b", None, "a", "b"], "feature 'x'")
    assert (column.codes.tolist(), column.values) == ([0, MISSING, 1, 0], ["b", "a"])
    assert column.first_positions().tolist() == [0, 2]


def test_values_that_do_not_occur_are_dropped():
    column = compact(np.array([2, 0, -1, 2]), ["a", "b", "c"])
    assert (column.codes.tolist(), column.values) == ([1, 0, MISSING, 1], ["a", "c"])
    part = column.take(np.array([True, False, False, True]))
    assert (part.codes.tolist(), part.values) == ([0, 0], ["c"])


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ([0, 1, 0], [0, 1, 0], True),
        ([0, 1, 0], [1, 0, 1], True),
        ([0, 1, 2], [2, 0, 1], True),
        ([0, 1, 0], [0, 1, 1], False),
        ([0, 1, 0], [0, 1, 2], False),
        ([0, 1, 2], [0, 1, 0], False),
        ([0, 1], [0, 1, 0], False),
    ],
)
def test_columns_have_the_same_groups_if_they_are_equal_up_to_names(one, other, is_same):
    columns = [Column(np.array(codes), [str(code) for code in range(max(codes) + 1)]) for codes in (one, other)]
    assert columns[0].has_same_groups_as(columns[1]) is is_same


@pytest.mark.parametrize(
    "filled",
    [
        [0, 1, 0],
        [0, 1, 1],
    ],
)
def test_a_column_with_gaps_has_not_the_groups_of_one_without(filled):
    gaps = Column(np.array([0, 1, MISSING]), ["a", "b"])
    assert not gaps.has_same_groups_as(Column(np.array(filled), ["a", "b"]))


def test_the_name_in_its_own_type_comes_before_text_and_position():
    keys = [1, "0", 0, "a"]
    assert Names(keys).find_one(0, "label") == 2
    assert Names(keys).find_one("0", "label") == 1
    assert Names(keys).find_one("1", "label") == 0
    assert Names(keys).find_one(np.int64(1), "label") == 0
    assert Names(keys).find_all(3, "feature") == [3]
    assert Names([1, True]).find_one(True, "label") == 1
    with pytest.raises(InputError, match="no column 3 to take as label"):
        Names(keys).find_one(3, "label")
    with pytest.raises(InputError, match=r"feature must be a name or a position from 0 to 3 .* got -1"):
        Names(keys).find_all(-1, "feature")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([True, False], "category"),
        ([True, 2.5], "category"),
        ([1, 2, None], "whole"),
        ([1, 2.5], "real"),
        ([np.float32(1.5), 2], "real"),
        ([np.int8(1), 2], "whole"),
        ([1, "a"], "category"),
        ([None], "category"),
    ],
)
def test_kinds_of_objects(cells, kind):
    assert encode_objects(cells, "feature 'x'").kind == kind


def test_a_part_of_a_column_is_of_its_kind():
    column = encode_array(np.array([0.5, 1.5, 0.5]), "feature 'x'").take(np.array([True, False, True]))
    assert (column.kind, column.codes.tolist(), column.values) == ("real", [0, 0], [0.5])
