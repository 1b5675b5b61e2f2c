"""Algorithm 1 of the paper: score samples again and again, average, normalise; in parallel, with fixed seeds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from analogical.errors import InputError
from analogical.rivals import Codes, Labels, Method, paper_index

__all__ = ["Plan", "average_scores", "puts_on_top", "repeat_scores", "run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")
Track = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Passes results through and shows how many of how many have arrived, and of what."""


def _untracked(results: Iterable[Any], total: int, what: str) -> Iterable[Any]:  # noqa: ARG001
    return results


@dataclass(frozen=True)
class Plan:
    """How much is run, and how.

    Examples
    --------
    >>> plan = Plan(repetitions=3, seed=1)
    >>> len(plan.generators("sampling", "g1"))
    3
    """

    repetitions: int = 10
    """Runs behind every average; the paper's number is 10."""
    seed: int = 0
    n_jobs: int = 1
    """Processes; -1 means one per core. The results do not depend on it."""
    leave_out: tuple[str, ...] = ()
    """Names of datasets and methods that are not run."""
    track: Track = field(default=_untracked, compare=False)

    def __post_init__(self) -> None:
        if self.repetitions < 2:
            raise InputError(
                f"repetitions must be a whole number from 2 (the spread between runs is estimated),"
                f" got {self.repetitions}."
            )
        if self.seed < 0:
            raise InputError(f"seed must be a whole number from 0, got {self.seed}.")
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise InputError(f"n_jobs must be a whole number from 1, or -1 for one per core, got {self.n_jobs}.")

    def generators(self, *path: str) -> list[np.random.Generator]:
        """One generator per repetition, the same for the same seed and path and independent of all others."""
        words = [int.from_bytes(word.encode(), "little") for word in path]
        children = np.random.SeedSequence([self.seed, *words]).spawn(self.repetitions)
        return [np.random.default_rng(child) for child in children]


def run_jobs(task: Callable[[Job], Result], jobs: Sequence[Job], plan: Plan, what: str) -> list[Result]:
    """Results of the task for all jobs, in their order, with progress."""
    from joblib import Parallel, delayed

    if plan.n_jobs == 1:
        return list(plan.track(map(task, jobs), len(jobs), what))
    results = Parallel(n_jobs=plan.n_jobs, return_as="generator")(delayed(task)(job) for job in jobs)
    return list(plan.track(results, len(jobs), what))


def repeat_scores(
    codes: Codes, labels: Labels, methods: Sequence[Method], n_rows: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """One repetition: scores of every method on the same random rows, drawn without repetition."""
    rows = rng.permutation(len(codes))[:n_rows]
    return {method.name: method(codes[rows], labels[rows], rng) for method in methods}


def average_scores(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean over the repetitions that have evidence; NaN for a feature without any."""
    stacked = np.array(scores)
    seen = ~np.isnan(stacked)
    means = np.full(stacked.shape[1], np.nan)
    np.divide(np.where(seen, stacked, 0).sum(axis=0), seen.sum(axis=0), out=means, where=seen.any(axis=0))
    return means


def puts_on_top(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> bool:
    """Whether every relevant feature scores higher than every other one; no evidence is the lowest score.

    Examples
    --------
    >>> puts_on_top(np.array([0.2, 0.5, np.nan, 0.1]), np.array([True, True, False, False]))
    True
    >>> puts_on_top(np.array([0.2, np.nan, np.nan, 0.1]), np.array([True, True, False, False]))
    False
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    return bool(known[relevant].min() > known[~relevant].max())


# ---------------------------------------------------------------- as published


def repeat_scores_as_published(
    codes: Codes, labels: Labels, ratio: float, epsilon: float, keep_twos: bool, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """One repetition as the authors ran it.

    ARI sees a random share ``ratio`` of the rows; the other three see one fixed split of the *other* share
    (test size ``ratio``, seed 1), the same in every repetition. Each is divided by its sum plus ``epsilon``
    before averaging. A 2 stays in the sum; it is averaged in (``keep_twos``) or left out as 0.
    """
    from sklearn.feature_selection import chi2, mutual_info_classif
    from sklearn.model_selection import train_test_split

    rows = rng.permutation(len(codes))[: int(len(codes) * ratio)]
    ari = paper_index(codes[rows], labels[rows])[0]
    fixed, _ = train_test_split(np.arange(len(codes)), test_size=ratio, random_state=1)
    numbers = codes[fixed].astype(np.float64)
    scores = {
        "ari": ari,
        "chi2": chi2(numbers, labels[fixed])[0],
        "mi": mutual_info_classif(numbers, labels[fixed], random_state=int(rng.integers(2**31))),
        "relief": distance_to_nearest_miss(numbers, labels[fixed], rng),
    }
    shares = {name: score / (score.sum() + epsilon) for name, score in scores.items()}
    if not keep_twos:
        shares["ari"] = np.where(ari == 2, 0.0, shares["ari"])
    return shares


def distance_to_nearest_miss(
    numbers: NDArray[np.float64], labels: Labels, rng: np.random.Generator, n_anchors: int = 100
) -> NDArray[np.float64]:
    """What the published column "Relief" holds: mean distance of random rows to their nearest miss.

    The package behind it (sklearn-relief, unmaintained) takes each row as its own nearest hit, so the part of
    Relief that compares with hits is always 0; and it subtracts the integer codes of categories. Among equally
    near misses it takes the one that its sort happens to put first; here, one at random.
    """
    total = np.zeros(numbers.shape[1])
    for anchor in rng.integers(len(numbers), size=n_anchors):
        misses = numbers[labels != labels[anchor]]
        apart = np.abs(misses - numbers[anchor])
        distance = apart.sum(axis=1)
        total += apart[rng.choice(np.flatnonzero(distance == distance.min()))]
    return total / n_anchors
