"""Every way of counting on the same cases, also forced, and at the borders between them; with == against the loops."""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter

import numpy as np
import pytest
from naive import naive_counts

from analogical import InputError, _counting
from analogical._counting import collapse_rows, count_pairs

FIELDS = ("pairs", "changed", "n_rows", "n_distinct", "n_identical", "n_contradictions")


def naive(codes, labels, weights=None):
    """The oracle's answer."""
    if len(codes) == 0:
        return [[0] * codes.shape[1]] * 2 + [0] * 4
    counts = naive_counts(codes.tolist(), labels.tolist(), weights)
    return [counts[name] for name in FIELDS]


def ours(*args, **kwargs):
    counts = count_pairs(*args, **kwargs)
    assert counts.pairs.dtype == counts.changed.dtype == np.int64
    found = [getattr(counts, name) for name in FIELDS]
    assert all(type(number) is int for number in found[2:])
    return [found[0].tolist(), found[1].tolist(), *found[2:]]


REGIMES = {
    "as chosen": {},
    "counting table": {"CELLS_PER_ROW": 10**9, "MANY_CELLS": 10**9},
    "sort, feature by feature": {"CELLS_PER_ROW": 0, "SPARSE_BITS": 99, "SMALL_SORT": 0},
    "sort, features together": {"CELLS_PER_ROW": 0, "SPARSE_BITS": 99, "SMALL_SORT": 2**16},
    "sort, isolate blocks": {"CELLS_PER_ROW": 0, "SPARSE_BITS": -99, "SMALL_SORT": 0},
    "sort, narrow words": {"CELLS_PER_ROW": 0, "PACKED_BITS": 8, "SMALL_SORT": 0},
}


@pytest.fixture(params=REGIMES)
def regime(request, monkeypatch):
    monkeypatch.setattr(_counting, "SMALL_WORK", 0)
    for name, value in REGIMES[request.param].items():
        monkeypatch.setattr(_counting, name, value)
    return request.param


def table(seed, *, small_universe):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 40)), int(rng.integers(1, 9 if small_universe else 31))
    k = rng.integers(1, rng.choice([2, 3, 4, 6, 40]) + 1, n)
    while small_universe and np.prod(k.astype(float)) > 1e4:
        k = np.maximum(k // 2, 1)
    common = rng.integers(0, k, (1, n))
    codes = np.where(rng.random((m, n)) < rng.choice([0.05, 0.2, 0.7]), rng.integers(0, k, (m, n)), common)
    dtype = [np.uint8, np.uint16, np.uint32][seed % 3]
    if dtype == np.uint32 and not small_universe:  # 27 to 32 bits a feature
        codes, k = codes * 10**8, (k - 1) * 10**8 + 1
    n_labels = int(rng.choice([2, 3, 7, 300]))
    labels = rng.integers(0, n_labels, m).astype([np.uint16, np.uint32, np.uint64][seed % 3])
    weights = None if seed % 5 < 3 else rng.integers(0, 4, m)
    return np.asarray(codes.astype(dtype), order="CF"[seed % 2]), labels, k, n_labels, weights


@pytest.mark.parametrize("seed", range(200))
def test_counts_are_those_of_the_definition(regime, seed):
    codes, labels, k, n_labels, weights = table(seed, small_universe=regime == "counting table")
    want = naive(codes, labels, weights)
    assert ours(codes, labels, k, n_labels, weights) == want
    assert ours(codes, labels, k, n_labels, weights, n_jobs=3) == want


@pytest.mark.parametrize("n_bits", [31, 32, 33, 52, 53, 54, 62, 63, 64, 65, 66, 127, 128, 129])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_at_the_borders_of_the_words(regime, n_bits, n_labels):
    if regime == "counting table":
        pytest.skip("a table of 2**31 cells or more")
    rng = np.random.default_rng(n_bits)
    codes = (rng.random((60, n_bits)) < 0.02).astype(np.uint8)
    codes[30:, -1] = 1  # the top and the bottom bit matter
    codes[::2, 0] = 1
    labels = rng.integers(0, n_labels, 60).astype(np.uint8)
    assert ours(codes, labels, [2] * n_bits, n_labels) == naive(codes, labels)


@pytest.mark.parametrize("m", [85, 86, 87])
def test_at_the_border_of_the_counting_table(m):
    rng = np.random.default_rng(m)
    codes, labels = rng.integers(0, 2, (m, 8), dtype=np.uint8), rng.integers(0, 2, m).astype(np.uint8)
    assert 85 * _counting.CELLS_PER_ROW < 2**8 * 2 <= 86 * _counting.CELLS_PER_ROW
    assert ours(codes, labels, [2] * 8, 2) == naive(codes, labels)


def test_one_giant_group(regime):
    codes, labels = np.ones((200, 12), np.uint8), (np.arange(200) % 3 == 0).astype(np.uint8)
    assert ours(codes, labels, [2] * 12, 2) == [[0] * 12, [0] * 12, 200, 1, 19900, 67 * 133]


def test_all_rows_distinct_and_all_contexts_shared(regime):
    codes = np.array(list(np.ndindex(4, 3, 5)), np.uint8)
    labels = (codes.sum(axis=1) % 2).astype(np.uint8)
    assert ours(codes, labels, [4, 3, 5], 2) == naive(codes, labels)


def test_values_that_do_not_occur_change_nothing(regime):
    rng = np.random.default_rng(5)
    codes, labels = rng.integers(0, 2, (50, 4), dtype=np.uint8), rng.integers(0, 2, 50).astype(np.uint8)
    assert ours(codes, labels, [2] * 4, 2) == ours(codes, labels, [2, 9, 3, 7], 5)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 4), (5, 0)])
def test_hardly_any_table(regime, shape):
    codes, labels = np.zeros(shape, np.uint8), np.zeros(shape[0], np.uint8)
    assert ours(codes, labels, [2] * shape[1], 2) == naive(codes, labels)


def test_all_weights_zero():
    assert ours(np.ones((3, 2), np.uint8), np.zeros(3, np.uint8), [2, 2], 2, np.zeros(3, np.int64)) == [
        [0, 0],
        [0, 0],
        0,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("weights", [[2**31, 0], [2**30, 2**30], [1, 2**31 - 1], [1_518_500_249, 5]])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("labels", [[0, 0], [0, 1]])
def test_exact_up_to_the_limit_of_int64(regime, weights, same, labels):
    codes = np.array([[0, 1], [0, int(same)]], np.uint8)
    labels, weights = np.array(labels, np.uint8), np.array(weights, np.int64)
    assert ours(codes, labels, [2, 2], 2, weights) == naive(codes, labels, weights)


@pytest.mark.parametrize("weights", [[2**31, 1], [2**62, 2**62, 2**62], [2**63 - 1, 2**63 - 1]])
def test_more_than_int64_holds_is_refused(weights):
    codes, labels = np.zeros((len(weights), 2), np.uint8), np.zeros(len(weights), np.uint8)
    with pytest.raises(
        InputError,
        match=r"stands for [\d,]+ rows; pairs are counted exactly in 64 bits up to 2,147,483,648",
    ):
        count_pairs(codes, labels, [2, 2], 2, np.array(weights, np.int64))


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1, None])
@pytest.mark.parametrize(("m", "n", "k"), [(5000, 30, 3), (20000, 9, 3), (3000, 200, 2)])
def test_workers_and_memory_order_change_nothing(monkeypatch, n_jobs, m, n, k):
    monkeypatch.setattr(_counting, "SMALL_WORK", 0)
    rng = np.random.default_rng(m)
    codes = rng.integers(0, k, (m // 10, n), dtype=np.uint8)[rng.integers(0, m // 10, m)]
    codes[rng.integers(0, m, m), rng.integers(0, n, m)] = 0
    labels = rng.integers(0, 2, m).astype(np.uint8)
    want = ours(codes, labels, [k] * n, 2)
    assert ours(np.asfortranarray(codes), labels, [k] * n, 2, n_jobs=n_jobs) == want
    assert ours(codes[::-1], labels[::-1], [k] * n, 2, n_jobs=n_jobs) == want
    assert ours(codes, labels, [k] * n, 2, np.full(m, 1), n_jobs=n_jobs) == want


def test_n_jobs_zero_is_refused():
    with pytest.raises(InputError, match="n_jobs must be a whole number other than 0"):
        count_pairs(np.zeros((2, 2), np.uint8), np.zeros(2, np.uint8), [1, 1], 2, n_jobs=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_the_work(n_jobs):
    code = f"""
        import numpy as np
        from analogical._counting import count_pairs
        codes = np.random.default_rng(0).integers(0, 3, (500_000, 18), dtype=np.uint8)
        labels = codes[:, 0] & 1
        print("go", flush=True)
        while True:
            count_pairs(codes, labels, [3] * 18, 2, n_jobs={n_jobs})
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as child:
        assert child.stdout.readline() == b"go\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=120)
    assert b"KeyboardInterrupt" in errors


def test_n_jobs_follows_joblibs_context(monkeypatch):
    from joblib import parallel_config

    monkeypatch.setattr(_counting, "SMALL_WORK", 0)
    used = []
    run = _counting._run
    monkeypatch.setattr(_counting, "_run", lambda tasks, n_threads: (used.append(n_threads), run(tasks, n_threads)))
    codes, labels = np.array([[0, 0], [0, 1]], np.uint8), np.array([0, 1], np.uint8)
    with parallel_config(backend="threading", n_jobs=3):
        count_pairs(codes, labels, [2, 2], 2)
    count_pairs(codes, labels, [2, 2], 2)
    count_pairs(codes, labels, [2, 2], 2, n_jobs=2)
    assert used == [3, 1, 2]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("packed_bits", [53, 8])
def test_collapsed_rows_are_the_first_of_each_row_and_label(seed, packed_bits, monkeypatch):
    monkeypatch.setattr(_counting, "PACKED_BITS", packed_bits)
    codes, labels, k, _, _ = table(seed, small_universe=seed % 2)
    k = np.minimum(k, 2**packed_bits)
    codes = np.minimum(codes, (k - 1).astype(codes.dtype))
    rows = [(*row, label) for row, label in zip(codes.tolist(), labels.tolist(), strict=True)]
    firsts = collapse_rows(codes, labels, k)
    assert firsts.tolist() == sorted(rows.index(row) for row in Counter(rows))
