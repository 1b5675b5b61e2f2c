"""The tables that are counted, as folders of Parquet files, as Spark writes them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["LABEL", "N_FEATURES", "N_FILES", "N_VALUES", "TABLES", "names", "write_table"]

N_FEATURES, N_VALUES, N_FILES = 20, 3, 8
LABEL = "label"

Table = tuple[np.ndarray, np.ndarray]


def names(n_features: int = N_FEATURES) -> list[str]:
    """Names of the features."""
    return [f"f{i}" for i in range(n_features)]


def noisy_rule(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whether the first two features agree or the third has its last value; flipped in one row of ten."""
    rule = (X[:, 0] == X[:, 1]) | (X[:, 2] == N_VALUES - 1)
    return (rule ^ (rng.random(len(X)) < 0.1)).astype(np.int8)


def uniform(n_rows: int, n_features: int = N_FEATURES) -> Table:
    """Every value is equally likely; hardly a row repeats."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, N_VALUES, size=(n_rows, n_features), dtype=np.int8)
    return X, noisy_rule(X, rng)


def wide(n_rows: int) -> Table:
    """The same with 100 features."""
    return uniform(n_rows, 100)


def few_distinct(n_rows: int) -> Table:
    """Rows drawn from a hundredth as many different ones."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, N_VALUES, size=(max(n_rows // 100, 2), N_FEATURES), dtype=np.int8)
    X = kinds[rng.integers(0, len(kinds), n_rows)]
    return X, noisy_rule(X, rng)


def skewed(n_rows: int) -> Table:
    """From 2 to 20 values, the k-th with a share like 1 / k^2."""
    rng = np.random.default_rng(0)
    columns = []
    for n_values in np.linspace(2, 20, N_FEATURES).astype(int):
        shares = 1.0 / np.arange(1, n_values + 1) ** 2
        columns.append(rng.choice(n_values, size=n_rows, p=shares / shares.sum()))
    X = np.column_stack(columns).astype(np.int8)
    return X, noisy_rule(X, rng)


def half_constant(n_rows: int) -> Table:
    """The second half of the columns has one value in 999 rows of 1,000."""
    X, y = uniform(n_rows)
    half = N_FEATURES // 2
    X[:, half:] *= np.random.default_rng(1).random((n_rows, N_FEATURES - half)) < 0.001
    return X, y


TABLES: dict[str, Callable[[int], Table]] = {
    "uniform": uniform,
    "few distinct rows": few_distinct,
    "skewed": skewed,
    "half of the columns nearly constant": half_constant,
    "100 features": wide,
}


def write_table(kind: str, n_rows: int, folder: Path) -> str:
    """Write a table; the folder of its files."""
    import polars as pl

    X, y = TABLES[kind](n_rows)
    place = folder / f"{kind.replace(' ', '-')}-{n_rows}"
    place.mkdir(parents=True)
    frame = pl.DataFrame({name: X[:, i] for i, name in enumerate(names(X.shape[1]))} | {LABEL: y})
    for number in range(N_FILES):
        part = frame[number * n_rows // N_FILES : (number + 1) * n_rows // N_FILES]
        part.write_parquet(place / f"part-{number}.parquet")
    return str(place)
