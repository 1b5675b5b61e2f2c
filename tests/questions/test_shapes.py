"""Small tables of an unusual shape, which once took minutes or gigabytes: copies, classes, values, widths."""

import time
import tracemalloc

import numpy as np
import pytest

from analogical import compare, interactions, redundancies, relevance, report, select

SECONDS = 10
"""Processor time that each may take; on a quiet machine it is about one."""


@pytest.fixture
def measured():
    """Call a function and return its result, in little time and, if asked for, with little memory."""

    def call(function, *args, megabytes=None, **options):
        start = time.process_time()
        result = function(*args, **options)
        assert time.process_time() - start < SECONDS
        if megabytes is not None:
            tracemalloc.start()
            function(*args, **options)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < megabytes * 2**20
        return result

    return call


@pytest.mark.parametrize("verb", [relevance, select])
@pytest.mark.parametrize("n_rows", [3, 100])
def test_thousands_of_copies(measured, verb, n_rows):
    kinds = np.arange(n_rows) % 2
    assert measured(verb, np.repeat(kinds[:, None], 3_000, axis=1), kinds).n_rows == n_rows


def test_thousands_of_copies_are_one_group_of_redundant_columns(measured):
    found = measured(redundancies, np.repeat(np.arange(100)[:, None] % 2, 3_000, axis=1))
    assert [len(group) for group in found.renamings] == [3_000]


@pytest.mark.parametrize(("n_rows", "n_features", "n_classes"), [(5_000, 2, 800), (10_000, 4, 300)])
def test_interactions_of_many_classes(measured, n_rows, n_features, n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (n_rows, n_features))
    found = measured(interactions, X, rng.integers(0, n_classes, n_rows).astype(str), megabytes=300)
    assert "effect" not in found.status


def test_interactions_of_many_values(measured):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 500, (3_000, 6))
    found = measured(interactions, X, rng.integers(0, 2, 3_000), given=[], ids="keep")
    assert all(found.squares)


def pair(X, y, **columns):
    return interactions(X, y, **columns)["x0", "x1"]


def test_a_pair_of_many_values_and_classes(measured):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, (20_000, 2))
    found = measured(pair, X, rng.integers(0, 2, 20_000), ids="keep")
    assert len(found.examples) == 4
    X = rng.integers(0, 3, (5_000, 2))
    found = measured(pair, X, rng.integers(0, 300, 5_000).astype(str))
    assert len(found.examples) == 4


def test_a_report_of_very_many_classes_leaves_out_the_transitions(measured):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (5_000, 3))
    page = measured(report, X, rng.integers(0, 1_000, 5_000).astype(str))
    assert [panel.transitions for panel in page.panels] == [()] * 3
    assert [len(panel.values) for panel in page.panels] == [5] * 3
    assert "x0" in page.html


def test_a_comparison_of_many_features_becomes_plain_types(measured):
    rng = np.random.default_rng(0)
    found = compare(rng.integers(0, 2, (50, 5_000)), rng.integers(0, 2, 50), methods=["ari", "chi2"])
    assert len(measured(found.to_dict)["features"]) == 5_000
