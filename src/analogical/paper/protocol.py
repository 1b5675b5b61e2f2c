"""Algorithm 1 of the paper: score samples repeatedly, average, normalise; in parallel, with fixed seeds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from analogical._checks import check_whole
from analogical._progress import progress_line
from analogical._types import Floats
from analogical.paper.datasets import Dataset
from analogical.rivals import Labels, Method, paper_index

__all__ = [
    "CaseKey",
    "Plan",
    "average_scores",
    "distance_to_nearest_miss",
    "repeat",
    "score_as_published",
    "score_third",
]

Case = TypeVar("Case")
Run = TypeVar("Run")
CaseKey = tuple[str, ...]
"""Names of a case, such as table, variant and dataset, from which its random numbers are seeded."""

ANCHORS = 100
"""Random rows whose nearest misses make up the published column "Relief"."""


@dataclass(frozen=True)
class Plan:
    """How many repetitions are run, and how.

    Examples
    --------
    >>> plan = Plan(repetitions=3, seed=1)
    >>> len(plan.generators("sampling", "g1"))
    3
    """

    repetitions: int = 10
    """Runs behind every average; the paper has 10."""
    seed: int = 0
    n_jobs: int = 1
    """Processes; -1 means one per core. The results do not depend on it."""
    leave_out: tuple[str, ...] = ()
    """Names of datasets and methods that are not run."""
    progress: bool = field(default=False, compare=False)
    """Whether to show the progress on stderr."""

    def __post_init__(self) -> None:
        check_whole("repetitions", self.repetitions, low=2, about=" (the spread between runs is estimated)")
        check_whole("seed", self.seed, low=0)
        if self.n_jobs != -1:
            check_whole("n_jobs", self.n_jobs, low=1, other=", or -1 for one per core")

    def generators(self, *key: str) -> list[np.random.Generator]:
        """One generator per repetition, the same for the same seed and key and independent of all others."""
        words = [int.from_bytes(word.encode(), "little") for word in key]
        children = np.random.SeedSequence([self.seed, *words]).spawn(self.repetitions)
        return [np.random.default_rng(child) for child in children]


def repeat(
    task: Callable[[Case, np.random.Generator], Run], cases: Mapping[CaseKey, Case], plan: Plan, what: str
) -> dict[CaseKey, list[Run]]:
    """All repetitions of a task on each case; ``what`` is the title of the progress."""
    jobs = [(case, rng) for key, case in cases.items() for rng in plan.generators(*key)]
    if plan.n_jobs == 1:
        results: Iterable[Run] = (task(*job) for job in jobs)
    else:
        from joblib import Parallel, delayed

        results = Parallel(n_jobs=plan.n_jobs, return_as="generator")(delayed(task)(*job) for job in jobs)
    show = progress_line(what) if plan.progress else None
    runs: list[Run] = []
    for run in results:
        runs.append(run)
        if show is not None:
            show(len(runs), len(jobs))
    n = plan.repetitions
    return {key: runs[n * k : n * (k + 1)] for k, key in enumerate(cases)}


def average_scores(runs: Sequence[Floats]) -> Floats:
    """Mean over the repetitions that have evidence; NaN for a feature without any."""
    scores = np.array(runs)
    seen = ~np.isnan(scores)
    means = np.full(scores.shape[1], np.nan)
    np.divide(np.where(seen, scores, 0).sum(axis=0), seen.sum(axis=0), out=means, where=seen.any(axis=0))
    return means


def score_third(dataset: Dataset, rng: np.random.Generator, *, methods: Sequence[Method]) -> dict[str, Floats]:
    """One repetition: scores of every method on the same random third of the rows."""
    rows = rng.permutation(len(dataset.codes))[: round(len(dataset.codes) / 3)]
    return {method.name: method(dataset.codes[rows], dataset.labels[rows], rng) for method in methods}


def score_as_published(
    dataset: Dataset, rng: np.random.Generator, *, ratio: float, epsilon: float, keep_twos: bool
) -> dict[str, Floats]:
    """One repetition as the authors ran it.

    ARI is computed on a random share ``ratio`` of the rows; the other three methods on one fixed split of the *other*
    share (test size ``ratio``, seed 1), the same in every repetition. Scores are divided by their sum plus ``epsilon``
    before averaging. A 2 is part of the sum; in the average it counts as 2 (``keep_twos``) or as 0.
    """
    from sklearn.feature_selection import chi2, mutual_info_classif
    from sklearn.model_selection import train_test_split

    codes, labels = dataset.codes, dataset.labels
    rows = rng.permutation(len(codes))[: int(len(codes) * ratio)]
    ari = paper_index(codes[rows], labels[rows])
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


def distance_to_nearest_miss(numbers: Floats, labels: Labels, rng: np.random.Generator) -> Floats:
    """The published column "Relief": mean distance of random rows to their nearest miss.

    The package behind it (sklearn-relief, unmaintained) takes each row as its own nearest hit, so the part of Relief
    that compares with hits is always 0; and it subtracts the integer codes of categories. Among equally near misses it
    takes the one that its sort puts first; here, one is drawn.
    """
    total = np.zeros(numbers.shape[1])
    for anchor in rng.integers(len(numbers), size=ANCHORS):
        misses = numbers[labels != labels[anchor]]
        apart = np.abs(misses - numbers[anchor])
        distance = apart.sum(axis=1)
        total += apart[rng.choice(np.flatnonzero(distance == distance.min()))]
    return total / ANCHORS
