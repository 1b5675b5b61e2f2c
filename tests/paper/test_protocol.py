"""Algorithm 1: seeds, processes, averages and shares."""

import math

import numpy as np
import pytest

from analogical import InputError
from analogical.paper import Plan, sample
from analogical.paper.protocol import (
    average_scores,
    repeat_scores,
    repeat_scores_as_published,
    run_jobs,
)
from analogical.rivals import Method, normalise, paper_index


def test_generators_depend_on_seed_and_path_only():
    def draw(plan, *path):
        return [rng.integers(2**40) for rng in plan.generators(*path)]

    plan = Plan(repetitions=4, seed=1)
    assert draw(plan, "table1", "g1") == draw(Plan(repetitions=4, seed=1, n_jobs=2), "table1", "g1")
    paths = [("table1", "g1"), ("table1", "g2"), ("table2", "g1")]
    drawn = {number for path in paths for number in draw(plan, *path)}
    assert len(drawn | set(draw(Plan(repetitions=4, seed=2), "table1", "g1"))) == 16


def test_more_repetitions_keep_the_first_ones():
    few, many = (Plan(repetitions=n).generators("x") for n in (2, 5))
    assert [rng.integers(99) for rng in few] == [rng.integers(99) for rng in many][:2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_keep_their_order_and_are_tracked(n_jobs):
    seen = []

    def track(results, total, what):
        for result in results:
            seen.append((result, total, what))
            yield result

    plan = Plan(n_jobs=n_jobs, track=track)
    assert run_jobs(math.factorial, [3, 1, 2], plan, "products") == [6, 1, 2]  # found by other processes, too
    assert seen == [(6, 3, "products"), (1, 3, "products"), (2, 3, "products")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"repetitions": 1}, r"repetitions must be a whole number from 2 \(.*\), got 1\."),
        ({"seed": -1}, r"seed must be a whole number from 0, got -1\."),
        ({"n_jobs": 0}, r"n_jobs must be a whole number from 1, or -1 for one per core, got 0\."),
        ({"n_jobs": -2}, r"got -2\."),
    ],
)
def test_bad_plans_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Plan(**wrong)


def test_average_leaves_runs_without_evidence_out():
    runs = [np.array([1.0, np.nan, np.nan]), np.array([0.0, 0.5, np.nan])]
    np.testing.assert_array_equal(average_scores(runs), [0.5, 0.5, np.nan])


def test_shares_add_up_to_one_or_are_all_zero():
    assert normalise(np.array([1.0, 3.0])).tolist() == [0.25, 0.75]
    assert normalise(np.array([-1.0, 0.0])).tolist() == [0, 0]


def test_every_method_sees_the_same_rows():
    X, y = sample("g1", 6)
    seen = []

    def spy(codes, labels, rng):
        seen.append((codes.tolist(), labels.tolist()))
        return np.zeros(codes.shape[1])

    spies = [Method(name, name, "", spy) for name in ("one", "two")]
    repeat_scores(X, y, spies, 20, np.random.default_rng(0))
    assert seen[0] == seen[1]
    assert len({tuple(row) for row in seen[0][0]}) == 20


def test_published_protocol_normalises_and_treats_twos_as_told():
    X = np.array([[0, 0], [0, 1], [1, 2], [1, 3], [0, 4], [1, 5]] * 5)  # the second feature determines the first
    y = X[:, 1] % 2
    rows = np.random.default_rng(0).permutation(30)[:15]
    ari = paper_index(X[rows], y[rows])[0]
    assert ari[0] == 2
    averaged_in = repeat_scores_as_published(X, y, 0.5, 0.01, True, np.random.default_rng(0))
    left_out = repeat_scores_as_published(X, y, 0.5, 0.01, False, np.random.default_rng(0))
    np.testing.assert_allclose(averaged_in["ari"], ari / (ari.sum() + 0.01))
    np.testing.assert_allclose(left_out["ari"], [0, ari[1] / (ari.sum() + 0.01)])


def test_published_rivals_see_one_fixed_split():
    X, y = sample("g8", 6)
    one, two = (repeat_scores_as_published(X, y, 0.33, 0.01, True, np.random.default_rng(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(one["chi2"], two["chi2"])
    assert not np.array_equal(one["ari"], two["ari"])
