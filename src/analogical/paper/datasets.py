"""The published numbers of the paper's tables, and its data files.

The data files are not part of the project: they are read from a folder or downloaded. Monks 1 and the whole universes
of Monks 2 and 3 are generated from their rules.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical.datasets import load_table
from analogical.errors import InputError

__all__ = [
    "DATASETS",
    "Dataset",
    "describe_missing",
    "download_datasets",
    "feature_names",
    "find_folder",
    "load_dataset",
    "missing_datasets",
    "published",
]

VARIABLE = "ANALOGICAL_DATA"
"""Environment variable with the default folder of the data files."""


@cache
def published(part: str) -> Any:
    """The printed numbers of one table, ``"table1"`` to ``"table6"``; or the data files, ``"files"``.

    Examples
    --------
    >>> published("table1")["g3"]["ari"][:4]
    [0.33, 0.33, 0.33, 0.0]
    """
    return json.loads((files("analogical.paper") / "published.json").read_text(encoding="utf-8"))[part]


@dataclass(frozen=True)
class Dataset:
    """A categorical table as integer codes, in the order of its sorted values (numbers as numbers)."""

    title: str
    codes: NDArray[np.int64]
    labels: NDArray[np.int64]
    feature_names: tuple[str, ...]


class PublishedFile(NamedTuple):
    """A data file of the authors: its shape, the checksum of its content, and its URL."""

    title: str
    n_rows: int
    n_columns: int
    sha256: str
    url: str


DATASETS = {name: PublishedFile(**file) for name, file in published("files").items()}
"""The published files that cannot be generated."""

_GENERATED = {
    "monks-1": ("monks-1", "Monks1"),
    "monks-2-rule": ("monks-2", "Monks2, the 432 robots"),
    "monks-3-rule": ("monks-3", "Monks3, the 432 robots"),
}
"""Whole universes: the built-in table of each, and its title."""
_RELABELLED = {"breast-cancer-class": "breast-cancer", "primary-tumor-class": "primary-tumor"}
"""Files whose last column is not the class: the class is the first column. In breast-cancer, the last one is a copy."""


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder named, or the folder of ANALOGICAL_DATA, or None."""
    named = folder if folder is not None else os.environ.get(VARIABLE)
    if not named:
        return None
    path = Path(named)
    if not path.is_dir():
        how = "--data" if folder is not None else VARIABLE
        raise InputError(
            f"{how} names {str(path)!r}, which is not a folder; give the folder with the paper's data files."
        )
    return path


def _find_file(name: str, folder: Path | None) -> Path | None:
    """The path of a data file; None if it is not in the folder."""
    path = None if folder is None or name not in DATASETS else folder / f"{name}.csv"
    return path if path is not None and path.is_file() else None


def missing_datasets(folder: Path | None, names: Iterable[str]) -> list[str]:
    """The names of datasets whose files are not in the folder; generated datasets are never missing."""
    return [name for name in names if name in DATASETS and _find_file(name, folder) is None]


def describe_missing(names: Sequence[str], folder: Path | None) -> list[str]:
    """Sentences about missing files, and about files that are not the published ones."""
    sentences = []
    if missing := missing_datasets(folder, names):
        sentences.append(
            f"Missing data: {', '.join(f'{name}.csv' for name in missing)}. Name the folder that holds them with --data"
            f" or {VARIABLE}, or fetch them with --download."
        )
    for name in names:
        path = _find_file(name, folder)
        if path is not None and _checksum(path.read_bytes()) != DATASETS[name].sha256:
            sentences.append(
                f"{name}.csv is not the published file (its checksum differs): the printed numbers need not agree."
            )
    return sentences


def load_dataset(name: str, folder: Path | None = None) -> Dataset | None:
    """One of the paper's datasets; None if its file is missing.

    ``"monks-1"``, ``"monks-2-rule"`` and ``"monks-3-rule"`` are generated; ``"breast-cancer-class"`` and
    ``"primary-tumor-class"`` are the files with the right column as label.

    Examples
    --------
    >>> load_dataset("monks-1").codes.shape
    (432, 6)
    """
    if name in _GENERATED:
        source, title = _GENERATED[name]
        table = load_table(source)
        # Rows are in lexicographic order, so values first occur in the order of their codes.
        columns = [[list(dict.fromkeys(column)).index(value) for value in column] for column in table.X.T.tolist()]
        codes = np.array(columns, dtype=np.int64).T
        return Dataset(title, codes, table.y.astype(np.int64), feature_names(len(columns)))
    if name in _RELABELLED:
        dataset = load_dataset(_RELABELLED[name], folder)
        return None if dataset is None else _relabel(dataset)
    if name not in DATASETS:
        known = ", ".join([*_GENERATED, *DATASETS, *_RELABELLED])
        raise InputError(f"There is no dataset {name!r}; choose from {known}.")
    path = _find_file(name, folder)
    if path is None:
        return None
    file = DATASETS[name]
    coded = [_codes(column) for column in zip(*_read_cells(path, file), strict=True)]
    return Dataset(file.title, np.stack(coded[:-1], axis=1), coded[-1], feature_names(len(coded) - 1))


def feature_names(n_features: int) -> tuple[str, ...]:
    """The paper's names of features: a1, a2, ..."""
    return tuple(f"a{i}" for i in range(1, n_features + 1))


def download_datasets(folder: Path, fetch: Callable[[str], bytes] | None = None) -> list[str]:
    """Download the missing files into the folder, and return their names.

    A file is only written if its content is exactly that of the published file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = missing_datasets(folder, DATASETS)
    for name in missing:
        file = DATASETS[name]
        content = (fetch or _fetch)(file.url)
        if _checksum(content) != file.sha256:
            raise InputError(
                f"What was downloaded for {name!r} from {file.url} is not the published file (its checksum"
                f" differs); nothing was kept. Get {name}.csv elsewhere and name its folder with --data."
            )
        (folder / f"{name}.csv").write_bytes(content)
    return missing


def _fetch(url: str) -> bytes:
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=60) as answer:  # noqa: S310  the addresses are constants of this file
            content: bytes = answer.read()
            return content
    except OSError as error:
        raise InputError(
            f"{url} cannot be downloaded ({getattr(error, 'reason', error)}); try again later, or name a folder"
            " with the file by --data."
        ) from None


def _checksum(content: bytes) -> str:
    """Checksum of the lines, independent of line ends."""
    lines = b"".join(line.strip() + b"\n" for line in content.splitlines() if line.strip())
    return hashlib.sha256(lines).hexdigest()


def _read_cells(path: Path, file: PublishedFile) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{str(path)!r} cannot be read: {reason}.") from None
    rows = [line.strip().split(",") for line in lines if line.strip()]
    widths = sorted({len(row) for row in rows})
    if len(rows) != file.n_rows or widths != [file.n_columns]:
        raise InputError(
            f"{str(path)!r} has {len(rows):,} rows of {' or '.join(map(str, widths)) or 'no'} columns; the paper's"
            f" file has {file.n_rows:,} rows of {file.n_columns} columns, no header and the label last."
        )
    return rows


def _codes(column: tuple[str, ...]) -> NDArray[np.int64]:
    """Codes 0, 1, ... in the order of the sorted values, as scikit-learn's OrdinalEncoder gives them."""
    values: list[Any] = [int(value) for value in column] if all(v.isdigit() for v in column) else list(column)
    return np.unique(np.array(values), return_inverse=True)[1].astype(np.int64)


def _relabel(dataset: Dataset) -> Dataset:
    """The first column as label; the old label becomes a feature, unless it is a copy of another one."""
    names = dataset.feature_names[1:]
    codes = dataset.codes[:, 1:]
    if not any(np.array_equal(dataset.labels, column) for column in codes.T):
        codes = np.column_stack([codes, dataset.labels])
        names = (*names, "label")
    return Dataset(f"{dataset.title}, right label", codes, dataset.codes[:, 0], names)
