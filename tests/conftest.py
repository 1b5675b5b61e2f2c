import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("analogical", deadline=None)  # no test is timed
settings.load_profile("analogical")

DATASETS = ("breast-cancer", "hiv", "monks-1", "monks-2", "monks-3", "mushroom", "primary-tumor")


def random_table(rng, *, n_rows=None, n_features=None, n_values=None, n_labels=None):
    """A small table with many ties: few values, and rows repeated with the same or another label."""
    n_rows = n_rows or int(rng.integers(2, 30))
    n_features = n_features or int(rng.integers(1, 13))
    highest = rng.integers(1, 13 if n_values is None else n_values + 1, size=n_features)
    if n_values is None and rng.random() < 0.6:
        highest = rng.integers(1, 4, size=n_features)
    rows = rng.integers(0, highest, size=(n_rows, n_features))
    copies = rng.random(n_rows) < rng.random() * 0.7
    rows[copies] = rows[rng.integers(0, n_rows, size=copies.sum())]
    neighbours = rng.random(n_rows) < rng.random()
    for r in np.flatnonzero(neighbours):  # rows that differ from another one on a single feature
        rows[r] = rows[rng.integers(n_rows)]
        i = rng.integers(n_features)
        rows[r, i] = rng.integers(highest[i])
    labels = rng.integers(0, n_labels or rng.integers(2, 6), size=n_rows)
    labels[0], labels[-1] = 0, 1
    return rows, labels


@pytest.fixture
def data_folder():
    """The paper's data files; they are not part of the project."""
    folder = os.environ.get("ANALOGICAL_DATA")
    if not folder:
        pytest.skip("set ANALOGICAL_DATA to the folder with the paper's seven data files to run this test")
    return Path(folder)
