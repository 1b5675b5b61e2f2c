"""What may change nothing in the answer to a table: the order of its rows and columns, names, containers, workers."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from analogical import relevance

N_TABLES = 40
"""Small tables for each law."""
LARGE = "25,000 rows"
"""More rows than the search for the deciding set looks at."""
TABLES = [*range(N_TABLES), LARGE]
NUMBERS = ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index", "noise_rate", "ari")
COUNTS = ("compared", "pairs", "changed")


def table_of(which):
    """Two to eleven categories and numbers, some of them tied, with a rule of one or two of them or none, and noise."""
    seed = 0 if which == LARGE else which
    rng = np.random.default_rng([37, seed])
    n = 25_000 if which == LARGE else int(rng.choice([20, 40, 80, 150, 300]))
    m = int(rng.integers(2, 12))
    codes = rng.integers(0, rng.integers(2, 5, m), (n, m))
    if seed % 2:
        codes[:, 1] = np.where(rng.random(n) < 0.2, codes[:, 1], codes[:, 0])
    a, b, last = codes[:, 0] > 0, codes[:, 1] > 0, codes[:, -1] > 0
    rule = (a, a ^ b, a | last, rng.random(n) < 0.5)[seed % 4]
    y = np.where(rng.random(n) < 0.15, rng.random(n) < 0.5, rule).astype(int)
    if seed % 7 == 0:
        y += 2 * (rng.random(n) < 0.1)
    X = pd.DataFrame({f"f{i}": pd.Series(column).map("v{}".format) for i, column in enumerate(codes.T)})
    if seed % 3 == 2:
        for i in range(1, m, 2):
            X[f"f{i}"] = (codes[:, i] + rng.normal(size=n)).round(2)
    return X, y


@cache
def answer_to(which, given):
    return relevance(*table_of(which), given=given)


def assert_same(one, other, names=None):
    """All numbers and words of the features of the first result; the second one may call them otherwise."""
    names = names or {name: name for name in one.names}
    places = [other.names.index(names[name]) for name in one.names]
    for number in NUMBERS:
        first, second = getattr(one, number), getattr(other, number)[places]
        np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-9, err_msg=number)
    for count in COUNTS:
        assert getattr(other, count)[places].tolist() == getattr(one, count).tolist(), count
    assert [other.status[i] for i in places] == list(one.status)
    known = set(names.values())  # the second table may have further columns
    for first, place in zip(one.given, places, strict=True):
        assert {names[name] for name in first} == set(other.given[place]) & known
    assert {names[name] for name in one.deciding} == set(other.deciding) & known


@pytest.fixture(params=TABLES)
def which(request):
    return request.param


@pytest.fixture(params=["auto", "all"])
def given(request):
    return request.param


def test_row_order_changes_nothing(which, given):
    X, y = table_of(which)
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(answer_to(which, given), relevance(X.iloc[order].reset_index(drop=True), y[order], given=given))


def test_column_order_changes_nothing(which, given):
    X, y = table_of(which)
    order = np.random.default_rng(2).permutation(list(X))
    assert_same(answer_to(which, given), relevance(X[list(order)], y, given=given))


def test_names_of_features_change_nothing(which, given):
    X, y = table_of(which)
    numbers = np.random.default_rng(3).permutation(X.shape[1])
    names = {name: f"renamed {i}" for name, i in zip(X, numbers, strict=True)}
    assert_same(answer_to(which, given), relevance(X.rename(columns=names), y, given=given), names)


def test_names_of_values_and_labels_change_nothing(which, given):
    X, y = table_of(which)
    numbers = np.random.default_rng(4).permutation(4)
    renamed = X.copy()
    for name in X:
        if X[name].dtype.kind != "f":
            renamed[name] = X[name].str[1:].astype(int).map(lambda v: f"<{numbers[v]}>")
    assert_same(answer_to(which, given), relevance(renamed, [f"label {numbers[v]}" for v in y], given=given))


def test_workers_change_nothing(which, given):
    X, y = table_of(which)
    assert answer_to(which, given) == relevance(X, y, given=given, n_jobs=2)


def test_the_container_changes_nothing(which, given):
    X, y = table_of(which)
    for table in (X.to_numpy(dtype=object), X.to_numpy(dtype=object).tolist()):
        assert_same(answer_to(which, given), relevance(table, y.tolist(), given=given, feature_names=list(X)))


@pytest.mark.parametrize("beside", [{}, {"weights": 3}, {"groups": 6_000}])
def test_row_order_changes_nothing_in_a_large_table_of_weak_effects(beside):
    """The features that are members by a hair would change with the rows that are searched."""
    rng = np.random.default_rng(17)
    z = rng.normal(size=(25_000, 6))
    z[:, 1:] += 0.8 * z[:, :1]
    X = pd.DataFrame(z.round(2), columns=list("abcdef"))
    X["a"] = pd.cut(z[:, 0], [-9, -1, 0, 0.3, 9]).astype(str)
    odds = 0.1 * z[:, 0] + 0.07 * z[:, 3] + 0.06 * z[:, 4] * z[:, 5] - 1
    y = (rng.random(25_000) < 1 / (1 + np.exp(-odds))).astype(int)
    options = {name: rng.integers(1, n + 1, len(y)) for name, n in beside.items()}
    order = rng.permutation(len(y))
    permuted = {name: values[order] for name, values in options.items()}
    one = relevance(X, y, **options)
    other = relevance(X.iloc[order].reset_index(drop=True), y[order], **permuted)
    assert_same(one, other)
    assert 0 < len(one.deciding) < 6 or beside
    assert (one.deciding, one.settings) == (other.deciding, other.settings)
