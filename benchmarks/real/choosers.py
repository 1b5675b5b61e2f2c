"""The methods that choose features. A new one is one more entry in :data:`CHOOSERS`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analogical import relevance, select
from analogical.columns.encode import EncodedTable
from analogical.rivals import METHODS
from analogical.study import Study

sys.path.append(str(Path(__file__).parent.parent))
from greedy import greedy_order
from reliefs import fast_reliefs

__all__ = ["CHOOSERS", "RELIEF_ROWS", "Chooser", "best_first"]

RELIEF_ROWS = 2_000
"""Training rows that ReliefF and MultiSURF are given at most."""

Order = tuple[int, ...]


@dataclass(frozen=True)
class Chooser:
    """A way to choose features; ``choose(table, k, seed)`` gives k positions, the best first."""

    about: str
    choose: Callable[[EncodedTable, int, int], Order]
    is_ours: bool = False
    """Ours may change, so its choices are made anew in every run; those of the rivals are kept in the cache."""
    depends_on_k: bool = False
    """Whether the best 2 may be others than the first 2 of the best 8."""


def best_first(scores: NDArray[np.float64], k: int) -> Order:
    """Positions of the k highest scores; ties go to the earlier column, no evidence comes last."""
    keys = np.where(np.isnan(scores), -np.inf, scores)
    return tuple(np.argsort(-keys, kind="stable")[:k].tolist())


def _ranking(table: EncodedTable, k: int, seed: int) -> Order:  # noqa: ARG001
    result = relevance(Study(table))
    return tuple(result.order()[:k].tolist())


def _together(table: EncodedTable, k: int, seed: int) -> Order:  # noqa: ARG001
    chosen = select(Study(table), k=k).features
    return tuple(table.names.index(name) for name in chosen)


def _by_scores(name: str) -> Callable[[EncodedTable, int, int], Order]:
    """A method of ``analogical.compare``, all training rows."""

    def choose(table: EncodedTable, k: int, seed: int) -> Order:
        return best_first(METHODS[name](table.codes, table.labels, np.random.default_rng(seed)), k)

    return choose


def _greedy(criterion: str) -> Callable[[EncodedTable, int, int], Order]:
    return lambda table, k, seed: greedy_order(table.codes, table.labels, k, criterion)  # noqa: ARG005


def _relief(name: str) -> Callable[[EncodedTable, int, int], Order]:
    """One of the Relief family, on some of the training rows where they are many."""

    def choose(table: EncodedTable, k: int, seed: int) -> Order:
        rows = np.random.default_rng(seed).permutation(len(table.codes))[:RELIEF_ROWS]
        return best_first(fast_reliefs(table.codes[rows], table.labels[rows], [name])[name], k)

    return choose


CHOOSERS: dict[str, Chooser] = {
    "together": Chooser("ours: `select(X, y, k)`", _together, is_ours=True, depends_on_k=True),
    "ranking": Chooser("ours: the order of `relevance(X, y)`", _ranking, is_ours=True),
    "CMIM": Chooser("conditional mutual information maximisation, greedy", _greedy("cmim")),
    "JMI": Chooser("joint mutual information, greedy", _greedy("jmi")),
    "forest importance": Chooser(
        "impurity importance in scikit-learn's random forest of 100 trees; the indicators of a feature summed",
        _by_scores("forest"),
    ),
    "ReliefF": Chooser("10 neighbours of each class, all features categorical", _relief("ReliefF, 10 neighbours")),
    "MultiSURF": Chooser("all features categorical", _relief("MultiSURF")),
    "MI": Chooser("mutual information of the feature and the label", _by_scores("mi")),
    "chi2": Chooser("Pearson's chi-square of the feature's values and the label", _by_scores("chi2")),
}
"""The methods by the name they are shown with; ours first."""
