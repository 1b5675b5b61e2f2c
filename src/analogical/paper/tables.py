"""The six tables of the paper, each as it was published and, where that differs, corrected."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from analogical._types import Floats
from analogical.paper.accuracy import accuracies, accuracies_as_published
from analogical.paper.datasets import Dataset, describe_missing, feature_names, load_dataset, published
from analogical.paper.exact import expectation, universe_index
from analogical.paper.functions import FUNCTIONS
from analogical.paper.protocol import CaseKey, Plan, average_scores, repeat, score_as_published, score_third
from analogical.paper.results import PAPER_RUNS, PrintedCell, ReproducedTable, estimated_bound, known_bound
from analogical.paper.sampling import sample_rows, universe
from analogical.paper.texts import Variant
from analogical.rivals import METHODS, normalise, paper_index

__all__ = ["TABLES", "build_table"]

CORRECTED_METHODS = ("ari", "chi2", "mi", "relief")
MONKS = ("monks-1", "monks-2", "monks-3")
UNIVERSES = ("monks-2-rule", "monks-3-rule")
NAMES: dict[str, tuple[str, ...]] = {
    "table2": (*MONKS, "hiv", "primary-tumor"),
    "table3": (*MONKS, "breast-cancer", "hiv", "primary-tumor", "mushroom"),
}
"""The datasets of Tables 2 and 3."""
MORE_NAMES: dict[str, tuple[str, ...]] = {
    "table2": (*UNIVERSES, "primary-tumor-class"),
    "table3": (*UNIVERSES, "breast-cancer-class", "primary-tumor-class"),
}
"""Datasets that the corrected tables have in addition."""


def build_table(name: str, variant: Variant, plan: Plan, folder: Path | None = None) -> ReproducedTable:
    """Reproduce one table of the paper.

    Parameters
    ----------
    name : str
        ``"table1"`` to ``"table6"``.
    variant : {"as-published", "corrected"}
        With the authors' protocol, or with its errors corrected. Table 5 is arithmetic and has one variant.
    plan : Plan
        Repetitions, seed, processes, progress.
    folder : Path, optional
        Folder of the data files (Tables 2 and 3); without it, only generated data is used.
    """
    names = NAMES.get(name, ()) + (MORE_NAMES.get(name, ()) if variant == "corrected" else ())
    left_out = [dataset for dataset in names if dataset in plan.leave_out]
    kept = [dataset for dataset in names if dataset not in left_out]
    loaded = {dataset: load_dataset(dataset, folder) for dataset in kept}
    data = {dataset: table for dataset, table in loaded.items() if table is not None}
    notes = describe_missing(kept, folder) + ([f"Left out: {', '.join(left_out)}."] if left_out else [])
    return ReproducedTable(name, variant, tuple(TABLES[name](name, variant, data, plan)), tuple(notes))


def _spread(runs: Floats) -> float | None:
    """Standard deviation of the runs with evidence; None if there are fewer than two."""
    seen = runs[~np.isnan(runs)]
    return float(seen.std(ddof=1)) if len(seen) > 1 else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


# ---------------------------------------------------------------- Tables 1 and 2: scores of four methods


def _universes(name: str, variant: Variant, data: dict[str, Dataset], plan: Plan) -> list[PrintedCell]:
    X = universe(10, 2).astype(np.int64)
    functions = {g: Dataset(g, X, FUNCTIONS[g](X).astype(np.int64), feature_names(10)) for g in FUNCTIONS}
    return _scores(name, variant, data | functions, plan)


def _scores(name: str, variant: Variant, data: dict[str, Dataset], plan: Plan) -> list[PrintedCell]:
    """A group per dataset, a row per method, a column per feature."""
    if variant == "corrected":
        methods = [METHODS[method] for method in (*CORRECTED_METHODS, "relieff")]
        methods = [method for method in methods if method.is_available and method.name not in plan.leave_out]
        task: Callable[..., dict[str, Floats]] = partial(score_third, methods=methods)
    elif name == "table1":
        task = partial(score_as_published, ratio=0.33, epsilon=0.01, keep_twos=True)
    else:
        task = partial(score_as_published, ratio=0.8, epsilon=0.001, keep_twos=False)
    cases: dict[CaseKey, Dataset] = {(name, variant, key): dataset for key, dataset in data.items()}
    cells: list[PrintedCell] = []
    for (*_, key), runs in repeat(task, cases, plan, f"{name} {variant}").items():
        for method in runs[0]:
            scores = [run[method] for run in runs]
            ours, shares = average_scores(scores), np.array(scores)
            expected = np.full(len(ours), np.nan)
            if variant == "corrected":
                ours, shares = normalise(ours), np.array([normalise(run) for run in scores])
                if method == "ari" and key in (*FUNCTIONS, "monks-1", *UNIVERSES):
                    expected = normalise(paper_index(data[key].codes, data[key].labels))
            printed = published(name).get(key, {}).get(method, [None] * len(ours))
            for i, column in enumerate(data[key].feature_names):
                sd = _spread(shares[:, i]) or 0.0
                share = 1 / PAPER_RUNS + (1 / plan.repetitions if np.isnan(expected[i]) else 0)
                cells.append(
                    PrintedCell(
                        group=data[key].title,
                        row=method,
                        column=column,
                        printed=printed[i],
                        ours=_known(ours[i]),
                        sd=sd,
                        expected=_known(expected[i]),
                        bound=estimated_bound(sd, plan.repetitions, share=share),
                    )
                )
    return cells


# ---------------------------------------------------------------- Table 3: accuracy with four features


def _accuracies(name: str, variant: Variant, data: dict[str, Dataset], plan: Plan) -> list[PrintedCell]:
    """A group per encoding, a row per dataset, a column per method."""
    task: Callable[..., dict[tuple[str, str], float]] = accuracies_as_published
    if variant == "corrected":
        task = partial(accuracies, methods=[METHODS[method] for method in CORRECTED_METHODS])
    cases: dict[CaseKey, Dataset] = {(name, variant, key): dataset for key, dataset in data.items()}
    results = repeat(task, cases, plan, f"{name} {variant}")
    columns = list(next(iter(results.values()))[0])
    cells = []
    for encoding in dict.fromkeys(encoding for encoding, _ in columns):
        for (*_, key), runs in results.items():
            for method in (method for its, method in columns if its == encoding):
                values = np.array([run[encoding, method] for run in runs])
                sd = float(values.std(ddof=1))
                bound = estimated_bound(sd, plan.repetitions, share=1 + 1 / plan.repetitions)
                cells.append(
                    PrintedCell(
                        group="integer codes" if encoding == "ordinal" else "one-hot columns",
                        row=data[key].title,
                        column="all features" if method == "all" else METHODS[method].title,
                        printed=published(name).get(key, {}).get(method) if encoding == "ordinal" else None,
                        ours=float(values.mean()),
                        sd=sd,
                        bound=bound,
                    )
                )
    return cells


# ---------------------------------------------------------------- Tables 4 and 6: stability and dimensionality


class Sample(NamedTuple):
    """A sample of the universe of one of the functions."""

    function: str
    n_features: int
    n_values: int
    n_rows: int


def _stability(name: str, variant: Variant, data: dict[str, Dataset], plan: Plan) -> list[PrintedCell]:  # noqa: ARG001
    """A group per function, a row per sample size, a column per feature.

    The corrected Table 6 also says how often the relevant features rank first.
    """
    has_more = (name, variant) == ("table6", "corrected")
    cells: list[PrintedCell] = []
    for sample, ari in _run_samples(name, plan, paper_index).items():
        runs = ari if variant == "as-published" else np.where(ari == 2, np.nan, ari)
        cells += _stability_cells(variant, sample, published(name)[sample.function][str(sample.n_rows)], runs)
        if has_more:
            cells.append(_on_top(sample, "", runs))
    return cells


def _stability_cells(variant: Variant, sample: Sample, printed: Any, runs: Floats) -> list[PrintedCell]:
    """One row; runs has shape (repetitions, features), with NaN or the paper's 2 where there was no pair."""
    means, sds = (printed["mean"], printed["sd"]) if isinstance(printed, dict) else (printed, [None] * len(printed))
    known = expectation(*sample)
    ours = average_scores(list(runs))
    return [
        PrintedCell(
            group=sample.function,
            row=str(sample.n_rows),
            column=column,
            printed=means[i],
            ours=_known(ours[i]),
            sd=_spread(runs[:, i]),
            expected=float((known.index if variant == "corrected" else known.mean)[i]),
            bound=known_bound(float(known.sd[i])),
            printed_sd=sds[i],
        )
        for i, column in enumerate(feature_names(sample.n_features))
    ]


def _on_top(sample: Sample, index: str, runs: Floats) -> PrintedCell:
    """Share of runs in which every relevant feature scores higher than every irrelevant one, if there are any.

    A feature without evidence has the lowest score.
    """
    relevant = np.array([p > 0 for p in universe_index(*sample[:3])])
    scores = np.where(np.isnan(runs), -np.inf, runs)
    share = None
    if not relevant.all():
        share = float((scores[:, relevant].min(axis=1) > scores[:, ~relevant].max(axis=1)).mean())
    return PrintedCell(sample.function, f"{sample.n_rows}{index}", "all on top", printed=None, ours=share)


@lru_cache(maxsize=3)  # both variants read the same samples
def _run_samples(
    name: str, plan: Plan, score: Callable[..., Floats], max_rows: int | None = None
) -> dict[Sample, Floats]:
    """Scores of every sample of a table, of shape (repetitions, features)."""
    shape = (10, 2) if name == "table4" else (15, 3)
    cases: dict[CaseKey, Sample] = {
        (name, g, size): Sample(g, *shape, int(size))
        for g, rows in published(name).items()
        for size in rows
        if max_rows is None or int(size) <= max_rows
    }
    runs = repeat(partial(_score_sample, score=score), cases, plan, name if max_rows is None else f"{name} relaxed")
    return {cases[key]: np.array(scores) for key, scores in runs.items()}


def _score_sample(sample: Sample, rng: np.random.Generator, *, score: Callable[..., Floats]) -> Floats:
    rows = sample_rows(sample.n_features, sample.n_values, sample.n_rows, rng)
    return score(rows, FUNCTIONS[sample.function](rows))


# ---------------------------------------------------------------- Table 5: arithmetic


def _cardinalities(name: str, variant: Variant, data: dict[str, Dataset], plan: Plan) -> list[PrintedCell]:  # noqa: ARG001
    cells = []
    for line in published(name):
        row = f"{line['features']} features, {line['values']} values, {line['rows']:,} rows"
        size = line["values"] ** line["features"]
        half_unit = 0.5 * 10.0 ** int(Decimal(str(line["percent"])).as_tuple().exponent)
        cells += [
            PrintedCell("universe", row, "rows of the universe", line["universe"], size, bound=0),
            PrintedCell(
                "universe", row, "sample in percent", line["percent"], 100 * line["rows"] / size, bound=half_unit
            ),
        ]
    return cells


TABLES: dict[str, Callable[[str, Variant, dict[str, Dataset], Plan], Sequence[PrintedCell]]] = {
    "table1": _universes,
    "table2": _scores,
    "table3": _accuracies,
    "table4": _stability,
    "table5": _cardinalities,
    "table6": _stability,
}
"""How the cells of each table are computed."""
