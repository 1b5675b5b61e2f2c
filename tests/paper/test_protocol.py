"""Algorithm 1: seeds, processes, averages and shares."""

import numpy as np
import pytest

from analogical import InputError
from analogical.paper import Plan, sample
from analogical.paper.datasets import Dataset
from analogical.paper.tables import average_scores, repeat, score_as_published, score_third
from analogical.rivals import Method, normalise, paper_index


def test_generators_depend_on_seed_and_key_only():
    def draw(plan, *key):
        return [rng.integers(2**40) for rng in plan.generators(*key)]

    plan = Plan(repetitions=4, seed=1)
    assert draw(plan, "table1", "g1") == draw(Plan(repetitions=4, seed=1, n_jobs=2), "table1", "g1")
    keys = [("table1", "g1"), ("table1", "g2"), ("table2", "g1")]
    drawn = {number for key in keys for number in draw(plan, *key)}
    assert len(drawn | set(draw(Plan(repetitions=4, seed=2), "table1", "g1"))) == 16


def test_more_repetitions_keep_the_first_ones():
    few, many = (Plan(repetitions=n).generators("x") for n in (2, 5))
    assert [rng.integers(99) for rng in few] == [rng.integers(99) for rng in many][:2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_runs_keep_their_order_and_show_their_progress(n_jobs, capsys):
    plan = Plan(repetitions=2, n_jobs=n_jobs, progress=True)
    runs = repeat(lambda case, rng: (case, int(rng.integers(99))), {"a x": 3, "b": 1}, plan, "draws")
    drawn = {key: [int(rng.integers(99)) for rng in plan.generators("draws", *key.split())] for key in runs}
    assert runs == {"a x": [(3, number) for number in drawn["a x"]], "b": [(1, number) for number in drawn["b"]]}
    lines = capsys.readouterr().err.split("\r")
    assert [line.strip() for line in lines if line] == [f"draws: {n} of 4" for n in (1, 2, 3, 4)]


def test_runs_are_silent_by_default(capsys):
    repeat(lambda case, _: case, {"a": 3}, Plan(repetitions=2), "draws")
    assert capsys.readouterr().err == ""


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


def dataset(X, y):
    return Dataset("D", X, y, ("a",) * X.shape[1])


def test_every_method_is_given_the_same_third():
    seen = []

    def spy(rows, numbers, rng):
        seen.append((rows.codes.tolist(), rows.labels.tolist()))
        return np.zeros(rows.n_features)

    spies = [Method(name, name, "", spy) for name in ("one", "two")]
    score_third(dataset(*sample("g1", 6)), np.random.default_rng(0), methods=spies)
    assert seen[0] == seen[1]
    assert len({tuple(row) for row in seen[0][0]}) == 21


def test_published_protocol_normalises_and_treats_twos_as_told():
    X = np.array([[0, 0], [0, 1], [1, 2], [1, 3], [0, 4], [1, 5]] * 5)  # the second feature determines the first
    y = X[:, 1] % 2
    rows = np.random.default_rng(0).permutation(30)[:15]
    ari = paper_index(X[rows], y[rows])
    assert ari[0] == 2
    averaged_in, left_out = (
        score_as_published(dataset(X, y), np.random.default_rng(0), ratio=0.5, epsilon=0.01, keep_twos=keep_twos)["ari"]
        for keep_twos in (True, False)
    )
    np.testing.assert_allclose(averaged_in, ari / (ari.sum() + 0.01))
    np.testing.assert_allclose(left_out, [0, ari[1] / (ari.sum() + 0.01)])


def test_published_rivals_see_one_fixed_split():
    prime = dataset(*sample("g8", 6))
    one, two = (
        score_as_published(prime, np.random.default_rng(seed), ratio=0.33, epsilon=0.01, keep_twos=True)
        for seed in (0, 1)
    )
    np.testing.assert_array_equal(one["chi2"], two["chi2"])
    assert not np.array_equal(one["ari"], two["ari"])
