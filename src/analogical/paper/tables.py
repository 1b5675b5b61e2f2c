"""The six tables of the paper, each as it was published and, where that differs, corrected.

Algorithm 1 of the paper: score samples repeatedly, average, normalise; in parallel, with fixed seeds. A number of a
table is printed, ours, and expected where the expectation is known; the printed one agrees if chance explains the
difference.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._checks import check_whole
from analogical._progress import progress_line
from analogical._types import Bools, Floats, Positions
from analogical.paper.datasets import GENERATED, Dataset, dataset_of, describe_missing, load_dataset, published
from analogical.paper.functions import FUNCTIONS, expectation, sample_rows, universe
from analogical.rivals import METHODS, Codes, Labels, Method, normalise, one_hot, paper_index

Variant = Literal["as-published", "corrected"]
Data = dict[str, Dataset]
Sample = tuple[str, int, int, int]
"""Function, features, values and rows of a sample of the function's universe."""

PAPER_RUNS = 10
"""Repetitions behind every printed average."""
Z = 3.0
"""Two numbers agree if they lie within three standard errors, plus the rounding error of the printed one."""
K = 4
"""Features that a method may choose for Table 3."""


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


@dataclass(frozen=True)
class PrintedCell:
    """One number of a table: as printed, and as reproduced."""

    group: str
    row: str
    column: str
    printed: float | None
    ours: float | None
    sd: float | None = None
    """Standard deviation of our runs; None where nothing varies."""
    expected: float | None = None
    """Expected value of the average, where it is known exactly."""
    bound: float | None = None
    """How far the printed number may differ from the expected one (or ours, if that is unknown) by chance."""
    printed_sd: float | None = None

    @property
    def reference(self) -> float | None:
        """What the printed number is compared with: the expected value, or ours where that is unknown."""
        return self.ours if self.expected is None else self.expected

    @property
    def verdict(self) -> str:
        """``"agrees"`` or ``"differs"``; empty if there is no printed number or nothing to compare it with."""
        if self.printed is None or self.reference is None or self.bound is None:
            return ""
        return "agrees" if abs(self.printed - self.reference) <= self.bound + 1e-9 else "differs"


@dataclass(frozen=True)
class ReproducedTable:
    """A table of the paper, reproduced."""

    name: str
    variant: Variant
    cells: tuple[PrintedCell, ...]
    notes: tuple[str, ...] = ()
    """Data that is missing or was left out."""

    def agreement(self, part: str | None = None) -> tuple[int, int]:
        """How many printed numbers agree, and how many could be judged; of the whole table, or of one of its parts."""
        verdicts = [cell.verdict for cell in self.cells if part in (None, self.part_of(cell))]
        return verdicts.count("agrees"), len(verdicts) - verdicts.count("")

    def part_of(self, cell: PrintedCell) -> str:
        """The method or sample size of a cell: its column in Tables 3 and 5, otherwise its row."""
        return cell.column if self.name in ("table3", "table5") else cell.row

    def groups(self) -> dict[str, dict[str, list[PrintedCell]]]:
        """The cells of each row of each group, in order of appearance."""
        groups: dict[str, dict[str, list[PrintedCell]]] = {}
        for cell in self.cells:
            groups.setdefault(cell.group, {}).setdefault(cell.row, []).append(cell)
        return groups


def build_table(name: str, variant: Variant, plan: Plan, folder: Path | None = None) -> ReproducedTable:
    """Reproduce a table of the paper, with the authors' protocol or with its errors corrected.

    Table 5 is arithmetic and has one variant. Without the folder of the data files, Tables 2 and 3 have only what is
    generated.
    """
    notes: list[str] = []
    if name == "table5":
        cells = _cardinalities()
    elif name in ("table4", "table6"):
        cells = _stability(name, variant, plan)
    elif name == "table1":
        X = universe(10, 2).astype(np.int64)
        data = {g: dataset_of(g, X, function(X).astype(np.int64)) for g, function in FUNCTIONS.items()}
        cells = _scores(name, variant, data, plan)
    else:
        names = list(published(name))
        if variant == "corrected":
            names += ["monks-2-rule", "monks-3-rule"]
            names += [f"{wrong}-class" for wrong in ("breast-cancer", "primary-tumor") if wrong in names]
        left_out = [dataset for dataset in names if dataset in plan.leave_out]
        names = [dataset for dataset in names if dataset not in left_out]
        notes = describe_missing(names, folder) + ([f"Left out: {', '.join(left_out)}."] if left_out else [])
        data = {dataset: table for dataset in names if (table := load_dataset(dataset, folder))}
        cells = (_scores if name == "table2" else _accuracies)(name, variant, data, plan)
    return ReproducedTable(name, variant, tuple(cells), tuple(notes))


def repeat(task: Callable[..., Any], cases: Mapping[str, Any], plan: Plan, what: str) -> dict[str, list[Any]]:
    """All repetitions of a task on each case; ``what`` is the title of the progress.

    The random numbers of a case are seeded from the words of ``what`` and of its name.
    """
    jobs = [(case, rng) for name, case in cases.items() for rng in plan.generators(*what.split(), *name.split())]
    results: Iterable[Any] = (task(*job) for job in jobs)
    if plan.n_jobs != 1:
        from joblib import Parallel, delayed

        results = Parallel(n_jobs=plan.n_jobs, return_as="generator")(delayed(task)(*job) for job in jobs)
    show = progress_line(what) if plan.progress else None
    runs = []
    for run in results:
        runs.append(run)
        if show is not None:
            show(len(runs), len(jobs))
    n = plan.repetitions
    return {name: runs[n * k : n * (k + 1)] for k, name in enumerate(cases)}


def average_scores(runs: Sequence[Floats] | Floats) -> Floats:
    """Mean over the repetitions that have evidence; NaN for a feature without any."""
    scores = np.array(runs)
    seen = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return np.asarray(np.where(seen, scores, 0).sum(axis=0) / seen.sum(axis=0))


def estimated_bound(sd: float, runs: int, *, share: float) -> float:
    """How far a printed number may differ by chance and rounding, with ``sd`` estimated from our runs.

    ``share`` is the variance of the difference in units of one run: 1/10 for a printed mean of ten runs
    against its expectation, 1/10 + 1/runs against our mean, 1 + 1/runs for a single printed run.
    """
    from scipy.stats import norm, t

    return float(t.ppf(norm.cdf(Z), df=runs - 1)) * sd * math.sqrt(share) + 0.005


def _spread(runs: Floats) -> float | None:
    """Standard deviation of the runs with evidence; None if there are fewer than two."""
    seen = runs[~np.isnan(runs)]
    return float(seen.std(ddof=1)) if len(seen) > 1 else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


# ---------------------------------------------------------------- Tables 1 and 2: scores of four methods


def _scores(name: str, variant: Variant, data: Data, plan: Plan) -> list[PrintedCell]:
    """A group per dataset, a row per method, a column per feature."""
    task = partial(score_as_published, ratio=0.8, epsilon=0.001, keep_twos=False)
    if variant == "corrected":
        methods = [METHODS[method] for method in ("ari", "chi2", "mi", "relief", "relieff")]
        methods = [method for method in methods if method.is_available and method.name not in plan.leave_out]
        task = partial(score_third, methods=methods)
    elif name == "table1":
        task = partial(score_as_published, ratio=0.33, epsilon=0.01, keep_twos=True)
    cells: list[PrintedCell] = []
    for key, runs in repeat(task, data, plan, f"{name} {variant}").items():
        dataset = data[key]
        for method in runs[0]:
            scores = [run[method] for run in runs]
            ours, shares = average_scores(scores), np.array(scores)
            expected = np.full(len(ours), np.nan)
            if variant == "corrected":
                ours, shares = normalise(ours), np.array([normalise(run) for run in scores])
                if method == "ari" and (name == "table1" or key in GENERATED):
                    expected = normalise(paper_index(dataset.codes, dataset.labels))
            printed = published(name).get(key, {}).get(method, [None] * len(ours))
            share = 1 / PAPER_RUNS + (1 / plan.repetitions if np.isnan(expected).any() else 0)
            for i, column in enumerate(dataset.feature_names):
                sd = _spread(shares[:, i]) or 0.0
                bound = estimated_bound(sd, plan.repetitions, share=share)
                numbers = printed[i], _known(ours[i]), sd, _known(expected[i]), bound
                cells.append(PrintedCell(dataset.title, method, column, *numbers))
    return cells


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
    from sklearn.model_selection import train_test_split

    every = np.arange(len(dataset.codes))
    drawn = rng.permutation(every)[: int(len(every) * ratio)]
    fixed, _ = train_test_split(every, test_size=ratio, random_state=1)
    shares = {}
    for method in ("ari", "chi2", "mi", "relief"):
        rows = drawn if method == "ari" else fixed
        scores = published_scores(method, dataset.codes[rows], dataset.labels[rows], rng)
        shares[method] = scores / (scores.sum() + epsilon)
        if method == "ari" and not keep_twos:
            shares[method][scores == 2] = 0
    return shares


def published_scores(method: str, codes: Codes, labels: Labels, rng: np.random.Generator) -> Floats:
    """Scores by one of the four methods of the authors' notebooks, on integer codes."""
    from sklearn.feature_selection import chi2, mutual_info_classif

    numbers = codes.astype(np.float64)
    if method == "chi2":
        return np.asarray(chi2(numbers, labels)[0])
    if method == "mi":
        return np.asarray(mutual_info_classif(numbers, labels, random_state=int(rng.integers(2**31))))
    return paper_index(codes, labels) if method == "ari" else distance_to_nearest_miss(numbers, labels, rng)


def distance_to_nearest_miss(numbers: Floats, labels: Labels, rng: np.random.Generator, n_anchors: int = 100) -> Floats:
    """The published column "Relief": mean distance of some random rows to their nearest miss.

    The package behind it (sklearn-relief, unmaintained) takes each row as its own nearest hit, so the part of Relief
    that compares with hits is always 0; and it subtracts the integer codes of categories. Among equally near misses it
    takes the one that its sort puts first; here, one is drawn.
    """
    total = np.zeros(numbers.shape[1])
    for anchor in rng.integers(len(numbers), size=n_anchors):
        apart = np.abs(numbers[labels != labels[anchor]] - numbers[anchor])
        distance = apart.sum(axis=1)
        total += apart[rng.choice(np.flatnonzero(distance == distance.min()))]
    return total / n_anchors


# ---------------------------------------------------------------- Table 3: accuracy with four features


def _accuracies(name: str, variant: Variant, data: Data, plan: Plan) -> list[PrintedCell]:
    """A group per encoding, a row per dataset, a column per method."""
    task: Callable[..., dict[tuple[str, str], float]] = accuracies_as_published
    if variant == "corrected":
        task = partial(accuracies, methods=[METHODS[method] for method in ("ari", "chi2", "mi", "relief")])
    results = repeat(task, data, plan, f"{name} {variant}")
    columns = list(next(iter(results.values()))[0])
    cells = []
    for encoding, group in (("ordinal", "integer codes"), ("one-hot", "one-hot columns")):
        for key, runs in results.items():
            for method in (method for its, method in columns if its == encoding):
                values = np.array([run[encoding, method] for run in runs])
                sd = float(values.std(ddof=1))
                bound = estimated_bound(sd, plan.repetitions, share=1 + 1 / plan.repetitions)
                printed = published(name).get(key, {}).get(method) if encoding == "ordinal" else None
                column = "all features" if method == "all" else METHODS[method].title
                numbers = printed, float(values.mean()), sd, None, bound
                cells.append(PrintedCell(group, data[key].title, column, *numbers))
    return cells


def accuracies(
    dataset: Dataset, rng: np.random.Generator, *, methods: Sequence[Method]
) -> dict[tuple[str, str], float]:
    """Accuracy in percent by (encoding, method), averaged over ten folds; the method "all" has all features.

    Features are chosen on the training fold only. The paper's regression was given integer codes ("ordinal");
    categories need indicator columns ("one-hot").
    """
    codes, labels, folds = dataset.codes, dataset.labels, _folds(dataset, rng)
    chosen = {"all": [tuple(range(codes.shape[1]))] * len(folds)}
    for method in methods:
        chosen[method.name] = [best_features(method(codes[train], labels[train], rng)) for train, _ in folds]
    indicators, owners = one_hot(codes)

    @cache  # methods often choose the same features
    def accuracy(encoding: str, fold: int, kept: tuple[int, ...]) -> float:
        columns = codes[:, kept] if encoding == "ordinal" else indicators[:, np.isin(owners, kept)]
        return _accuracy(columns, columns, labels, folds[fold])

    return {
        (encoding, name): 100 * float(np.mean([accuracy(encoding, fold, kept) for fold, kept in enumerate(features)]))
        for encoding in ("ordinal", "one-hot")
        for name, features in chosen.items()
    }


def best_features(scores: Floats, k: int = K) -> tuple[int, ...]:
    """Positions of the k best features, in column order; ties go to the earlier one.

    A feature that scores 0 or has no evidence is never chosen.
    """
    positive = np.nan_to_num(scores, nan=0.0)
    order = np.argsort(-positive, kind="stable")[:k]
    return tuple(np.sort(order[positive[order] > 0]).tolist())


def accuracies_as_published(
    dataset: Dataset, rng: np.random.Generator, methods: Sequence[str] = ("all", "ari", "chi2", "mi", "relief")
) -> dict[tuple[str, str], float]:
    """Accuracy in percent as in the authors' notebook, on integer codes, by ("ordinal", method).

    The four features that ARI ranks first (a 2 before all others) are *deleted* and the rest is kept. chi2 and MI keep
    their best four. Relief keeps the best four of the training fold for training and the best four of the test fold,
    labels included, for testing. The baseline, "all", has its own folds.
    """
    X, y = dataset.codes.astype(np.float64), dataset.labels

    def kept_columns(method: str, rows: Positions) -> Positions:
        if method == "all":
            return np.arange(X.shape[1])
        if method == "chi2":
            rng.integers(2**31)  # not used, but drawn in the numbers of docs/paper.md
        scores = published_scores(method, dataset.codes[rows], y[rows], rng)
        if method in ("chi2", "mi"):
            return np.sort(np.argsort(np.nan_to_num(scores, nan=-1), kind="stable")[::-1][:K])
        order = np.argsort(scores)[::-1]
        return np.sort(order[K:]) if method == "ari" else order[:K]

    shared = _folds(dataset, rng)
    percent = {}
    for method in methods:
        accuracies = []
        for train, test in _folds(dataset, rng) if method == "all" else shared:
            kept = kept_columns(method, train)
            tested = kept_columns(method, test) if method == "relief" else kept
            accuracies.append(_accuracy(X[:, kept], X[:, tested], y, (train, test), max_iter=100))
        percent["ordinal", method] = 100 * float(np.mean(accuracies))
    return percent


def _folds(dataset: Dataset, rng: np.random.Generator) -> list[tuple[Positions, Positions]]:
    """Positions of the rows to train on and to test on, for each of ten folds."""
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(n_splits=10, shuffle=True, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # some classes have fewer rows than folds
        return list(splitter.split(dataset.codes, dataset.labels))


def _accuracy(
    X: NDArray[Any], X_test: NDArray[Any], y: Labels, fold: tuple[Positions, Positions], *, max_iter: int = 1000
) -> float:
    """Test accuracy of a logistic regression; without columns, of the most frequent class."""
    from sklearn.linear_model import LogisticRegression

    train, test = fold
    if X.shape[1] == 0:
        return float((y[test] == np.bincount(y[train]).argmax()).mean())
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # the published runs may not have converged
        model = LogisticRegression(max_iter=max_iter).fit(X[train], y[train])
    return float((model.predict(X_test[test]) == y[test]).mean())


# ---------------------------------------------------------------- Tables 4 and 6: stability and dimensionality


def _stability(name: str, variant: Variant, plan: Plan) -> list[PrintedCell]:
    """A group per function, a row per sample size, a column per feature.

    The corrected Table 6 also has how often the relevant features rank first.
    """
    cells: list[PrintedCell] = []
    for sample, runs in run_samples(name, plan).items():
        function, size = sample[0], str(sample[-1])
        printed = published(name)[function][size]
        means, sds = (printed["mean"], printed["sd"]) if name == "table6" else (printed, [None] * len(printed))
        known = expectation(*sample)
        scores, expected = runs, known.mean
        if variant == "corrected":
            scores, expected = np.where(runs == 2, np.nan, runs), known.index
        bounds = Z * known.sd / math.sqrt(PAPER_RUNS) + 0.005  # the spread is known exactly; and the rounding
        for i, ours in enumerate(average_scores(scores)):
            numbers = means[i], _known(ours), _spread(scores[:, i]), float(expected[i]), float(bounds[i]), sds[i]
            cells.append(PrintedCell(function, size, f"a{i + 1}", *numbers))
        if (name, variant) == ("table6", "corrected"):
            share = share_on_top(scores, known.index > 0)
            cells.append(PrintedCell(function, size, "all on top", printed=None, ours=share))
    return cells


def share_on_top(runs: Floats, relevant: Bools) -> float | None:
    """Share of runs in which every relevant feature scores higher than every irrelevant one; None if all are relevant.

    A feature without evidence has the lowest score.
    """
    if relevant.all():
        return None
    scores = np.where(np.isnan(runs), -np.inf, runs)
    return float((scores[:, relevant].min(axis=1) > scores[:, ~relevant].max(axis=1)).mean())


@lru_cache(maxsize=2)  # both variants read the same samples
def run_samples(name: str, plan: Plan) -> dict[Sample, Floats]:
    """The paper's index on every sample of a table, of shape (repetitions, features)."""
    shape = (10, 2) if name == "table4" else (15, 3)
    samples = {f"{g} {size}": (g, *shape, int(size)) for g, sizes in published(name).items() for size in sizes}
    return {samples[key]: np.array(runs) for key, runs in repeat(_score_sample, samples, plan, name).items()}


def _score_sample(sample: Sample, rng: np.random.Generator) -> Floats:
    rows = sample_rows(*sample[1:], rng)
    return paper_index(rows, FUNCTIONS[sample[0]](rows))


# ---------------------------------------------------------------- Table 5: arithmetic


def _cardinalities() -> list[PrintedCell]:
    cells = []
    for line in published("table5"):
        row = f"{line['features']} features, {line['values']} values, {line['rows']:,} rows"
        size = line["values"] ** line["features"]
        half_unit = 0.5 * 10.0 ** int(Decimal(str(line["percent"])).as_tuple().exponent)
        percent = line["percent"], 100 * line["rows"] / size
        cells += [
            PrintedCell("universe", row, "rows of the universe", line["universe"], size, bound=0),
            PrintedCell("universe", row, "sample in percent", *percent, bound=half_unit),
        ]
    return cells
