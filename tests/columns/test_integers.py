"""Integer columns as dense codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analogical.columns.columns import dense_codes

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def check(X):
    codes, values = dense_codes(X)
    assert codes.dtype.kind == "u"
    assert codes.dtype.itemsize <= 4
    for i, known in enumerate(values):
        assert sorted(set(X[:, i].tolist())) == list(known)
        assert [known[c] for c in codes[:, i].tolist()] == X[:, i].tolist()
    return codes


@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_codes_stand_for_the_values_that_occur(dtype, data):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=6))
    narrow = st.integers(max(-3, int(np.iinfo(dtype).min)), 3)
    check(data.draw(hnp.arrays(dtype, shape, elements=data.draw(st.sampled_from([narrow, None])))))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 300, 100_000])
def test_long_columns_with_all_values_some_values_and_extremes(dtype, n_rows):
    rng = np.random.default_rng(n_rows)
    info = np.iinfo(dtype)
    X = rng.integers(0, 3, (n_rows, 5)).astype(dtype)
    X[:, 1] = rng.integers(info.min, info.max, n_rows, dtype=dtype, endpoint=True)  # every byte, for the narrow types
    X[:, 2] = rng.choice(np.array([info.min, info.max], dtype), n_rows)
    X[:, 3] = rng.choice(np.array([5, 100, 120], dtype), n_rows)
    X[-1, 4] = 100  # a value that only the last row has
    check(X)
    check(np.asfortranarray(X))
    check(X[::-1, ::2])


def test_dense_unsigned_tables_are_used_as_they_are():
    X = np.array([[0, 1], [1, 0], [2, 1]], dtype=np.uint8)
    assert dense_codes(X)[0] is X
    assert dense_codes(X.astype(np.int64))[0].dtype == np.uint8
