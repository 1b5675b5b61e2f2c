"""The published numbers of the paper's tables, and its data files.

The data files are not part of the project: they are read from a folder or downloaded. Monks 1 and the whole universes
of Monks 2 and 3 are generated from their rules.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical.datasets import load_table
from analogical.errors import InputError

GENERATED = {
    "monks-1": "Monks1",
    "monks-2-rule": "Monks2, the 432 robots",
    "monks-3-rule": "Monks3, the 432 robots",
}
"""Whole universes, generated from their rules, with their titles."""


class Dataset(NamedTuple):
    """A categorical table as integer codes, in the order of its sorted values (numbers as numbers)."""

    title: str
    codes: NDArray[np.int64]
    labels: NDArray[np.int64]
    feature_names: tuple[str, ...]


def dataset_of(title: str, codes: NDArray[np.int64], labels: NDArray[np.int64]) -> Dataset:
    """A dataset with features called a1, a2, ..., as in the paper."""
    return Dataset(title, codes, labels, tuple(f"a{i + 1}" for i in range(codes.shape[1])))


@cache
def published(part: str) -> Any:
    """The printed numbers of one table, ``"table1"`` to ``"table6"``; or the data files, ``"files"``."""
    return json.loads((files("analogical.paper") / "published.json").read_text(encoding="utf-8"))[part]


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder named, or the folder of the environment variable ANALOGICAL_DATA, or None."""
    named = folder if folder is not None else os.environ.get("ANALOGICAL_DATA")
    if named and not Path(named).is_dir():
        how = "--data" if folder is not None else "ANALOGICAL_DATA"
        raise InputError(
            f"{how} names {str(Path(named))!r}, which is not a folder; give the folder with the paper's data files."
        )
    return Path(named) if named else None


def describe_missing(names: Sequence[str], folder: Path | None) -> list[str]:
    """Sentences about missing files, and about files that are not the published ones."""
    paths = {name: _path(name, folder) for name in names if name in published("files")}
    sentences = []
    if missing := [f"{name}.csv" for name, path in paths.items() if path is None]:
        sentences.append(
            f"Missing data: {', '.join(missing)}. Name the folder that holds them with --data or ANALOGICAL_DATA, or"
            " fetch them with --download."
        )
    for name, path in paths.items():
        if path is not None and _checksum(path.read_bytes()) != published("files")[name]["sha256"]:
            sentences.append(
                f"{name}.csv is not the published file (its checksum differs): the printed numbers need not agree."
            )
    return sentences


def load_dataset(name: str, folder: Path | None = None) -> Dataset | None:
    """One of the paper's datasets; None if its file is missing.

    ``"monks-1"``, ``"monks-2-rule"`` and ``"monks-3-rule"`` are generated. ``"breast-cancer-class"`` and
    ``"primary-tumor-class"`` have the class, which is the first column of the file, as label; the old label becomes a
    feature, unless it is a copy of another one.
    """
    if name in GENERATED:
        robots = np.array(list(np.ndindex(3, 3, 2, 3, 4, 2)))
        return dataset_of(GENERATED[name], robots, load_table(name.removesuffix("-rule")).y.astype(np.int64))
    relabelled = ("breast-cancer-class", "primary-tumor-class")
    stem = name.removesuffix("-class") if name in relabelled else name
    if stem not in published("files"):
        known = ", ".join([*GENERATED, *published("files"), *relabelled])
        raise InputError(f"There is no dataset {name!r}; choose from {known}.")
    path = _path(stem, folder)
    if path is None:
        return None
    texts = zip(*_read_cells(path, published("files")[stem]), strict=True)
    # Codes 0, 1, ... in the order of the sorted values, as scikit-learn's OrdinalEncoder gives them.
    values = (list(map(int, column)) if all(map(str.isdigit, column)) else column for column in texts)
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in values]).astype(np.int64)
    title, *_, names = whole = dataset_of(published("files")[stem]["title"], codes[:, :-1], codes[:, -1])
    if name == stem:
        return whole
    last = [] if any(np.array_equal(codes[:, -1], column) for column in codes[:, 1:-1].T) else ["label"]
    features = codes[:, 1 : len(names) + len(last)]
    return Dataset(f"{title}, right label", features, codes[:, 0], (*names[1:], *last))


def _path(name: str, folder: Path | None) -> Path | None:
    """The file of a dataset, if it is there."""
    path = folder / f"{name}.csv" if folder else None
    return path if path and path.is_file() else None


def _read_cells(path: Path, file: dict[str, Any]) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{str(path)!r} cannot be read: {reason}.") from None
    rows = [line.strip().split(",") for line in lines if line.strip()]
    widths = sorted({len(row) for row in rows})
    if len(rows) != file["n_rows"] or widths != [file["n_columns"]]:
        raise InputError(
            f"{str(path)!r} has {len(rows):,} rows of {' or '.join(map(str, widths)) or 'no'} columns; the paper's"
            f" file has {file['n_rows']:,} rows of {file['n_columns']} columns, no header and the label last."
        )
    return rows


def download_datasets(folder: Path) -> list[str]:
    """Download the missing files into the folder, and return their names.

    A file is only written if its content is exactly that of the published file.
    """
    from urllib.request import urlopen

    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in published("files") if _path(name, folder) is None]
    for name in missing:
        url = published("files")[name]["url"]
        try:
            with urlopen(url, timeout=60) as answer:  # noqa: S310  the addresses are in published.json
                content: bytes = answer.read()
        except OSError as error:
            raise InputError(
                f"{url} cannot be downloaded ({getattr(error, 'reason', error)}); try again later, or name a folder"
                " with the file by --data."
            ) from None
        if _checksum(content) != published("files")[name]["sha256"]:
            raise InputError(
                f"What was downloaded for {name!r} from {url} is not the published file (its checksum differs);"
                f" nothing was kept. Get {name}.csv elsewhere and name its folder with --data."
            )
        (folder / f"{name}.csv").write_bytes(content)
    return missing


def _checksum(content: bytes) -> str:
    """Checksum of the lines, independent of line ends."""
    lines = b"".join(line.strip() + b"\n" for line in content.splitlines() if line.strip())
    return hashlib.sha256(lines).hexdigest()
