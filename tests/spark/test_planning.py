"""How codes are packed into words, and how a table is counted on Spark: neither needs Spark."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from conftest import coded
from engine_contract import margins_of

from analogical._types import Margins
from analogical.engines.blocks import deal_features
from analogical.engines.cells import ByValue, Encoder, Steps, UnitEncoder
from analogical.errors import InputError
from analogical.spark.planning import choose_plan, finishes_in_memory, largest_part
from analogical.spark.words import Layout, PackBatches

NO_SIZES = np.zeros(0, np.int64)

# ---------------------------------------------------------------- words


def test_words_hold_every_code_block_by_block():
    rng = np.random.default_rng(0)
    n_values = (2, 1, 300, 70_000, 3, 2**33, 5, 2)
    codes = np.column_stack([rng.integers(0, n, 50) for n in n_values]).astype(np.uint64)
    layout = Layout(n_values, ((0, 3, 5), (1, 2, 4, 6, 7)))
    words = layout.pack(list(codes.T))
    assert all(word.dtype == np.int64 and (word >= 0).all() for word in words)
    cells = dict(zip(layout.names, words, strict=True))
    assert layout.unpack(cells, range(8)).tolist() == codes.tolist()
    assert layout.unpack(cells, [6, 2]).tolist() == codes[:, [6, 2]].tolist()
    assert [word.block for word in layout.words] == [0, 1]
    assert layout.outside(0) == ["w1"]


def test_columns_after_the_features_have_words_that_no_block_counts():
    layout = Layout((2, 3, 4, 2**40, 2**40), ((0,), (1,)))
    assert [word.columns for word in layout.words] == [(0,), (1,), (2, 3), (4,)]
    assert (layout.outside(0), layout.outside(1)) == (["w1"], ["w0"])
    assert layout.features_only().names == ["w0", "w1"]
    assert layout.features_only().n_values == (2, 3)
    assert layout.holding([0, 4]) == ["w0", "w3"]
    assert layout.holding([]) == []


def test_a_feature_never_lies_across_two_words():
    layout = Layout((2**40, 2**40, 2), ((0, 1, 2),))
    assert [word.columns for word in layout.words] == [(0,), (1, 2)]
    assert layout.words[1].shifts == (0, 40)
    assert len(Layout((2**31, 2**32), ((0, 1),)).words) == 1
    assert len(Layout((2**32, 2**32), ((0, 1),)).words) == 2  # with the 64th bit words would be negative


def test_constant_features_need_no_word_but_a_block_has_one():
    layout = Layout((1, 1), ((0,), (1,)))
    assert [word.name for word in layout.words] == ["w0", "w1"]
    words = dict(zip(layout.names, layout.pack([np.zeros(3, int), np.zeros(3, int)]), strict=True))
    assert layout.unpack(words, [0, 1]).tolist() == [[0, 0]] * 3


def test_cells_are_packed_by_their_places_with_all_codes_of_a_column_at_once():
    number, text = Steps(np.array([1.0, 2.0, 3.0])), ByValue(pa.array(["x", "y"]))
    encoders = (
        Encoder("p0", number, np.array([0, 1, 1, -1]), NO_SIZES),
        Encoder("p1", text, np.array([1, 0, 2]), NO_SIZES),
        Encoder("p0", number, np.array([0, 1, 2, -1]), NO_SIZES),
        UnitEncoder("unit", ByValue(pa.array([7, 8])), np.arange(3), NO_SIZES, last_row=9),
    )
    label = Encoder("label", ByValue(pa.array([5, 6])), np.array([0, 1, -1]), NO_SIZES)
    layout = Layout((2, 3, 3, 12), ((0,), (1,)))
    pack = PackBatches(layout, encoders, label, is_weighted=True)
    cells = {"p0": [2.5, 9.0, 0.0], "p1": [None, "x", "y"], "unit": [8, None, 7], "label": [6, 5, 5]}
    batch = pa.record_batch(cells | {"row": [3, 4, 9], "weight": [1, 2, 3]})
    (packed,) = pickle.loads(pickle.dumps(pack))(  # noqa: S301
        iter([batch])
    )
    assert packed.schema.names == ["w0", "w1", "w2", "label", "weight"]
    words = {name: packed.column(name).to_numpy() for name in layout.names}
    assert layout.unpack(words, range(4)).tolist() == [[1, 2, 1, 1], [1, 1, 2, 6], [0, 0, 0, 0]]
    assert (packed.column("label").to_pylist(), packed.column("weight").to_pylist()) == ([1, 0, 0], [1, 2, 3])
    gap = pa.record_batch(cells | {"p0": [None, 1.0, 1.0], "row": [3, 4, 9], "weight": [1, 2, 3]})
    with pytest.raises(InputError, match="other values than before"):
        list(pack(iter([gap])))


# ---------------------------------------------------------------- plans


def test_features_are_dealt_so_that_all_blocks_vary():
    sizes = [np.array([99, 1])] * 5 + [np.array([50, 50])] * 5
    blocks = deal_features(Margins(np.array([50, 50]), tuple(sizes)), 2)
    assert sorted(i for block in blocks for i in block) == list(range(10))
    assert sorted(sum(i >= 5 for i in block) for block in blocks) == [2, 3]
    sizes = [np.array([100 - n, n]) for n in (50, 40, 30, 20)]
    assert deal_features(Margins(np.array([50, 50]), tuple(sizes)), 2) == ((0, 3), (1, 2))


def test_a_part_is_as_large_as_its_largest_group_makes_it():
    rows = coded([[0, 0], [0, 0], [1, 0], [2, 1]], [0, 1, 0, 1])
    assert largest_part(rows, (1,), 4) == 2.0  # half of the rows have 0 outside
    assert largest_part(rows, (0,), 4) == 3.0
    assert largest_part(rows, (0, 1), 4) == 4.0  # nothing is outside


def test_more_blocks_are_tried_and_rows_merged_when_one_part_is_too_large():
    rng = np.random.default_rng(0)
    even = coded(rng.integers(0, 3, (4000, 12)), rng.integers(0, 2, 4000))
    plan = choose_plan(margins_of(even), even, 4000, 200)
    assert (plan.kind, len(plan.blocks), plan.is_merged, plan.n_partitions) == ("blocks", 2, False, 1)
    skewed = coded(np.where(rng.random((4000, 12)) < 0.95, 0, 1), rng.integers(0, 2, 4000))
    sizes = Margins(margins_of(skewed).by_label * 10_000, tuple(s * 10_000 for s in margins_of(skewed).by_value))
    plan = choose_plan(sizes, skewed, 40_000_000, 200)
    assert len(plan.blocks) == 4
    assert plan.skew > 2
    assert plan.is_merged
    assert plan.n_partitions == 96  # 480 million cells, five million in each
    assert choose_plan(sizes, skewed, 40_000_000, 5).n_partitions == 24  # no more than 20 million cells in one


def test_identical_rows_are_grouped_here_if_they_are_few():
    assert finishes_in_memory(10_000_000, 500_000, needs_rows=False)
    assert not finishes_in_memory(600_000, 500_000, needs_rows=False)
    assert finishes_in_memory(600_000, 500_000, needs_rows=True)
    assert not finishes_in_memory(10_000_000, 1_500_000, needs_rows=True)
