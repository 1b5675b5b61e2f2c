"""Groups of equal rows against dictionaries, also beyond 64 bits of features."""

import numpy as np
import pytest
from conftest import coded, random_table

from analogical.count.given import RowContexts
from analogical.count.groups import collapse_rows, evenly, merge_rows, number_groups, order_by_contents

SHAPES = [(30, 1, 2), (40, 5, 3), (60, 7, 300), (50, 64, 2), (50, 65, 2), (40, 200, 3), (40, 5, 70_000), (1, 3, 2)]


def table(m, n, v, seed=0):
    """Rows of which many repeat or differ on one feature, with the largest value present."""
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_rows=max(m, 2), n_features=n, n_values=2)
    rows[:, 0] *= v - 1
    rows[:, -1] *= v - 1
    return coded(rows[:m], labels[:m], n_values=[v] * n, n_labels=7)


def partition(keys):
    """Which rows go together: for each row the first one that has its key."""
    first = {}
    return [first.setdefault(key, r) for r, key in enumerate(keys)]


@pytest.mark.parametrize(("m", "n", "v"), SHAPES)
@pytest.mark.parametrize("n_unseen", [0, 2**15])
def test_rows_have_the_same_number_exactly_if_they_are_equal(m, n, v, n_unseen):
    """Values that do not occur make keys of several words."""
    for seed in range(20):
        rows = table(m, n, v, seed)
        chosen = [f for f in range(n) if (f + seed) % 3]
        n_values = rows.n_values + n_unseen
        ids = number_groups(rows.codes, n_values, chosen)
        assert partition(ids.tolist()) == partition([tuple(row) for row in rows.codes[:, chosen].tolist()])
        with_label = number_groups(rows.codes, n_values, chosen, rows.labels)
        keys = zip(rows.codes[:, chosen].tolist(), rows.labels.tolist(), strict=True)
        assert partition(with_label.tolist()) == partition([(*row, "label", label) for row, label in keys])


def test_the_last_of_many_features_tells_rows_apart():
    codes = np.zeros((3, 300), np.uint8)
    codes[1, -1] = codes[2, 0] = 1
    assert len(set(number_groups(codes, np.full(300, 2), range(300)).tolist())) == 3


def test_without_features_all_rows_are_one_group():
    rows = table(10, 3, 2)
    assert number_groups(rows.codes, rows.n_values, []).tolist() == [0] * 10


@pytest.mark.parametrize(("m", "n", "v"), SHAPES)
def test_collapsed_rows_are_the_first_of_each_row_and_label_counted_once(m, n, v):
    for seed in range(20):
        rows = table(m, n, v, seed)
        pairs = [(*row, label) for row, label in zip(rows.codes.tolist(), rows.labels.tolist(), strict=True)]
        once = collapse_rows(rows.weighted(np.full(m, 3)))
        assert once.weights is None
        assert [(*row, label) for row, label in zip(once.codes.tolist(), once.labels.tolist(), strict=True)] == list(
            dict.fromkeys(pairs)
        )


@pytest.mark.parametrize(("m", "n", "v"), SHAPES)
def test_rows_are_divided_by_their_context(m, n, v):
    for seed in range(20):
        rows = table(m, n, v, seed)
        for feature in {0, n // 2, n - 1}:
            cells = RowContexts.by(rows, (f for f in range(n) if f != feature))
            contexts = [tuple(row[:feature] + row[feature + 1 :]) for row in rows.codes.tolist()]
            assert [tuple(cells.codes[k].tolist()) for k in cells.of_row] == contexts
            assert sorted(map(tuple, cells.codes.tolist())) == sorted(set(contexts))


def test_merged_rows_are_the_distinct_ones_in_an_order_of_their_own():
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 2, (60, 70)), rng.integers(0, 2, 60)
    rows[:, 3:] = rows[:, :1]
    weights = rng.integers(0, 4, 60)
    one = merge_rows(coded(rows, labels, weights, n_labels=2))
    order = rng.permutation(weights.sum())
    other = merge_rows(
        coded(np.repeat(rows, weights, axis=0)[order], np.repeat(labels, weights)[order], n_labels=2, n_values=[2] * 70)
    )
    assert np.array_equal(one.codes, other.codes)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.weights_or_ones().tolist() == other.weights_or_ones().tolist()
    assert one.n_rows == weights.sum()
    distinct = {(*row, label) for row, label, w in zip(rows.tolist(), labels.tolist(), weights, strict=True) if w}
    assert len(one.codes) == len(distinct)


def test_rows_that_are_taken_evenly_hold_the_first_and_the_last():
    assert evenly(5, 5).tolist() == evenly(5, 9).tolist() == [0, 1, 2, 3, 4]
    found = evenly(1001, 11).tolist()
    assert found == list(range(0, 1001, 100))


def rows_by_contents(rows, labels, weights=None, groups=None, *, is_ordered=False):
    """What stands in each row, in the order of contents."""
    codes, columns = rows.T.astype(np.uint8), []
    for column in codes:
        n_values = int(column.max()) + 1
        columns.append((column, np.bincount(column, weights), None if is_ordered else np.arange(n_values)))
    order = order_by_contents(columns, labels, weights, groups)
    assert sorted(order.tolist()) == list(range(len(rows)))
    return [rows[order].tolist(), labels[order].tolist(), [] if weights is None else weights[order].tolist(), order]


@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("beside", [{}, {"weights"}, {"groups"}])
@pytest.mark.parametrize("seed", range(4))
def test_order_by_contents_depends_on_contents_only(seed, beside, is_ordered):
    rng = np.random.default_rng(seed)
    rows, labels = rng.choice(3, (70_000, 3), p=[0.6, 0.3, 0.1]), rng.integers(0, 3, 70_000)
    weights = rng.integers(1, 5, 70_000) if "weights" in beside else None
    groups = rng.integers(0, 30_000, 70_000) if "groups" in beside else None
    permuted, renamed = rng.permutation(70_000), rng.permutation(30_000)
    one = rows_by_contents(rows, labels, weights, groups, is_ordered=is_ordered)
    other = rows_by_contents(
        rows[permuted],
        labels[permuted],
        None if weights is None else weights[permuted],
        None if groups is None else renamed[groups[permuted]],
        is_ordered=is_ordered,
    )
    assert one[:3] == other[:3]
    if not is_ordered:  # values have other codes, and columns other places
        codes = np.array([rng.permutation(3)[column] for column in rows.T]).T[:, [2, 0, 1]]
        third = rows_by_contents(codes, labels, weights, groups)
        assert [rows[third[3]].tolist(), labels[third[3]].tolist()] == one[:2]


def test_every_part_of_that_order_has_its_share_of_equal_rows():
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 4, (40_000, 3)), rng.integers(0, 2, 40_000)
    order = rows_by_contents(rows, labels)[3]
    kinds = rows @ [32, 8, 2] + labels
    chosen = np.bincount(kinds[order[evenly(40_000, 1_000)]], minlength=128)
    assert (np.abs(chosen - np.bincount(kinds) / 40) <= 1).all()


def test_rows_that_differ_are_mixed_in_that_order():
    """The sample of a table of distinct rows is like a random one: the shares of pairs of values are those of all."""
    codes = np.array(np.unravel_index(np.arange(2**16), [2] * 16)).T
    order = rows_by_contents(codes, codes[:, 0] ^ codes[:, 5], is_ordered=True)[3]
    shares = np.corrcoef(codes[order[evenly(2**16, 4_000)]].T) - np.eye(16)
    assert np.abs(shares).max() < 5 / np.sqrt(4_000)
