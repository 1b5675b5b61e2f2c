"""Every way of counting on the same cases, also forced, and at the borders between them; with == against the loops."""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from functools import cache

import numpy as np
import pytest
from conftest import coded
from naive import naive_counts

from analogical import InputError
from analogical.count import pairs, threads
from analogical.count.pairs import count_pairs, find_contexts, fits_in_table

WITHOUT_TABLE = [
    "as chosen",
    "sort, feature by feature",
    "sort, isolate blocks",
    "sort, narrow words",
]
"""Regimes that need no table of all combinations, which may have 2**31 entries or more."""
FIELDS = ("pairs", "changed", "n_rows", "n_distinct", "n_identical", "n_contradictions")


def naive(codes, labels, weights=None):
    """The oracle's answer."""
    if len(codes) == 0:
        return [[0] * codes.shape[1]] * 2 + [0] * 4
    counts = naive_counts(codes.tolist(), labels.tolist(), weights)
    return [counts[name] for name in FIELDS]


def numbers(counts):
    """All fields in plain types; counts are int64 and totals Python's int."""
    assert counts.pairs.dtype == counts.changed.dtype == np.int64
    found = [getattr(counts, name) for name in FIELDS]
    assert all(type(number) is int for number in found[2:])
    return [found[0].tolist(), found[1].tolist(), *found[2:]]


def ours(codes, labels, n_values, n_labels, weights=None, **options):
    """What is counted with and without contexts, which must be the same."""
    rows = coded(codes, labels, weights, n_values, n_labels)
    found = numbers(count_pairs(rows, **options))
    profiles = [contexts.profile for contexts in find_contexts(rows, **options)]
    assert [[profile.n_pairs for profile in profiles], [profile.n_changed for profile in profiles]] == found[:2]
    return found


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


@cache
def table_and_counts(seed, small_universe):
    """A table, and what the oracle counts in it."""
    codes, labels, k, n_labels, weights = table(seed, small_universe=small_universe)
    return (codes, labels, k, n_labels, weights), naive(codes, labels, weights)


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_counts_are_those_of_the_definition(regime, n_jobs):
    for seed in range(0 if n_jobs is None else 1, 200, 2):
        found, want = table_and_counts(seed, regime == "table")
        assert ours(*found, n_jobs=n_jobs) == want, seed


@pytest.mark.parametrize("n_bits", [31, 32, 33, 52, 53, 54, 62, 63, 64, 65, 66, 127, 128, 129])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("regime", WITHOUT_TABLE, indirect=True)
def test_at_the_borders_of_the_words(regime, n_bits, n_labels):
    rng = np.random.default_rng(n_bits)
    codes = (rng.random((60, n_bits)) < 0.02).astype(np.uint8)
    codes[30:, -1] = 1  # the top and the bottom bit matter
    codes[::2, 0] = 1
    labels = rng.integers(0, n_labels, 60).astype(np.uint8)
    assert ours(codes, labels, [2] * n_bits, n_labels) == naive(codes, labels)


@pytest.mark.parametrize("m", [15, 16, 17, 85, 86, 87])
def test_at_the_border_of_the_counting_table(m):
    rng = np.random.default_rng(m)
    codes, labels = rng.integers(0, 2, (m, 8), dtype=np.uint8), rng.integers(0, 2, m).astype(np.uint8)
    rows = coded(codes, labels, n_values=[2] * 8, n_labels=2)  # 512 entries
    assert fits_in_table(rows) == (m >= 16)  # 32 for each row
    assert fits_in_table(rows, for_contexts=True) == (m >= 86)  # 6 for each row
    assert fits_in_table(rows.weighted(np.ones(m, np.int64))) == (m >= 86)
    assert ours(codes, labels, [2] * 8, 2) == naive(codes, labels)


@pytest.mark.parametrize("n_same", [1, 40, 255, 256, 257, 300])
def test_rows_of_one_kind_in_a_table_of_many_entries(n_same, monkeypatch):
    """Entries are bytes until a count goes round; squares are floats until they leave what is exact."""
    rng = np.random.default_rng(n_same)
    codes, labels = rng.integers(0, 3, (n_same + 60, 8), dtype=np.uint8), rng.integers(0, 2, n_same + 60)
    codes[:n_same], labels[: n_same - 1] = codes[0], labels[0]
    rows = coded(codes, labels.astype(np.uint8), n_values=[3] * 8, n_labels=2)
    assert len(codes) * 6 < 2 * 3**8
    monkeypatch.setattr(pairs, "fits_in_table", lambda *_, **__: True)
    found = numbers(count_pairs(rows))
    assert found == naive(codes, labels)


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
        count_pairs(coded(codes, labels, weights, [2, 2], 2))


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize(("m", "n", "k"), [(5000, 30, 3), (20000, 9, 3), (1000, 80, 2)])
@pytest.mark.usefixtures("threads_for_small_work")
def test_workers_and_memory_order_change_nothing(n_jobs, m, n, k):
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
        count_pairs(coded(np.zeros((2, 2), np.uint8), np.zeros(2, np.uint8)), n_jobs=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_the_work(n_jobs):
    code = f"""
        import signal
        import numpy as np
        signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
        from analogical.count.groups import CodedRows
        from analogical.count.pairs import count_pairs
        codes = np.random.default_rng(0).integers(0, 3, (500_000, 18), dtype=np.uint8)
        rows = CodedRows(codes, codes[:, 0] & 1, np.full(18, 3), 2)
        print("go", flush=True)
        while True:
            count_pairs(rows, n_jobs={n_jobs})
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as child:
        assert child.stdout.readline() == b"go\n"
        child.send_signal(signal.SIGINT)
        try:
            _, errors = child.communicate(timeout=120)
        finally:
            child.kill()
    assert b"KeyboardInterrupt" in errors


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
@pytest.mark.parametrize("n_same", [1, 2, 200, 256, 257, 513])
def test_only_unique_keys_are_left_unsorted(kind, n_same):
    rng = np.random.default_rng(n_same)
    alone = rng.choice(2**29, 140_000, replace=False) * 4
    keys = np.concatenate([alone, np.full(n_same, 12345), rng.integers(0, 40, 20)]).astype(kind)
    rng.shuffle(keys)
    candidates = pairs._may_repeat(keys, 2)
    times = Counter((keys >> kind(2)).tolist())
    equal = {place for place, high in enumerate((keys >> kind(2)).tolist()) if times[high] > 1}
    assert equal <= set(candidates.tolist())
    assert candidates.tolist() == sorted(set(candidates.tolist()))
    # beyond 255, counts overflow and none is left out
    assert len(candidates) < len(equal) + 0.25 * len(keys) or n_same > 255


@pytest.mark.usefixtures("threads_for_small_work")
@pytest.mark.parametrize("in_table", [True, False])
def test_n_jobs_follows_joblibs_context(monkeypatch, in_table):
    from joblib import parallel_config

    monkeypatch.setattr(pairs, "fits_in_table", lambda *_, **__: in_table)
    used = []
    run = pairs.run_tasks
    monkeypatch.setattr(pairs, "run_tasks", lambda tasks, n_threads: (used.append(n_threads), run(tasks, n_threads)))
    rows = coded([[0, 0], [0, 1]], [0, 1])
    with parallel_config(backend="threading", n_jobs=3):
        count_pairs(rows)
    count_pairs(rows)
    count_pairs(rows, n_jobs=2)
    find_contexts(rows, n_jobs=2)
    assert used == [3, 1, 2, 2]


def test_small_work_takes_one_thread():
    assert threads.n_threads_for(2, threads.SMALL_WORK - 1) == 1
    assert threads.n_threads_for(2, threads.SMALL_WORK) == 2
