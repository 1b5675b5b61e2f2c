"""JMI and CMIM: features chosen one after the other by mutual information (Brown et al., 2012)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["greedy_order"]

TIES = 1e-10
"""Differences of information, in nats, that count as ties."""


def greedy_order(
    codes: NDArray[np.integer], labels: NDArray[np.integer], k: int, criterion: Literal["jmi", "cmim"]
) -> tuple[int, ...]:
    """The first k features that JMI or CMIM choose, in the order chosen; ties go to the earlier column.

    The first one has the most information on the label, I(f; y). Each further one has the largest sum over the chosen
    features s of I(f, s; y) (JMI), or the largest minimum over them of I(f; y | s) (CMIM). As I(f, s; y) is
    I(f; y | s) + I(s; y), and the last term is the same for all f, JMI adds up I(f; y | s).
    """
    codes, labels = np.asarray(codes).astype(np.int64), np.unique(labels, return_inverse=True)[1]
    alone = np.array([information(column, labels) for column in codes.T])
    value, chosen = alone.copy(), list[int]()
    for place in range(min(k, codes.shape[1])):
        left = [f for f in range(codes.shape[1]) if f not in chosen]
        most = max(value[left])
        chosen.append(next(f for f in left if value[f] >= most - TIES))
        pairs = codes[:, chosen[-1]] * (codes.max() + 1)
        given = np.array([information(pairs + column, labels) for column in codes.T]) - alone[chosen[-1]]
        value = given if place == 0 else value + given if criterion == "jmi" else np.minimum(value, given)
    return tuple(chosen)


def information(values: NDArray[np.int64], labels: NDArray[np.intp]) -> float:
    """Mutual information of whole numbers and labels, both from 0, in nats."""
    n_labels = int(labels.max()) + 1
    cells = np.bincount(values * n_labels + labels, minlength=(int(values.max()) + 1) * n_labels).reshape(-1, n_labels)
    expected = cells.sum(axis=1, keepdims=True) * (cells.sum(axis=0) / len(labels))
    held = cells > 0
    return float((cells[held] / len(labels)) @ np.log(cells[held] / expected[held]))
