"""The paper's data files: where they are looked for, what is in them, and how to get them.

They are not part of the project. Monks 1 and the whole universes of Monks 2 and 3 follow from their rules
and are generated.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical.datasets import load_table
from analogical.errors import InputError

__all__ = ["DATASETS", "Dataset", "download_datasets", "find_folder", "load_dataset", "missing_datasets"]

VARIABLE = "ANALOGICAL_DATA"
"""Environment variable with the folder that is searched when none is named."""

_AUTHORS = "https://raw.githubusercontent.com/gillesirit/ARI/481a8c7301d3b183c29bb4ba6fe517b6916774ae/datasets-tested/"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/monks-problems/"


@dataclass(frozen=True)
class Dataset:
    """A categorical table as integer codes, in the order of its sorted values (numbers as numbers)."""

    name: str
    title: str
    codes: NDArray[np.int64]
    labels: NDArray[np.int64]
    feature_names: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    """A published file: its shape, the checksum of its content, and where it can be downloaded."""

    title: str
    n_rows: int
    n_columns: int
    sha256: str
    urls: tuple[str, ...]
    parse: Callable[[str], str] = str
    """Turns what is downloaded into lines of the published file."""


def _monks_lines(text: str) -> str:
    """UCI's lines ``class a1 .. a6 id`` as the file's ``a1,..,a6,class``."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return "".join(f"{','.join([*row[1:7], row[0]])}\n" for row in rows)


def _monks_urls(problem: int) -> tuple[str, ...]:
    return tuple(f"{_UCI}monks-{problem}.{part}" for part in ("test", "train"))


DATASETS: dict[str, _File] = {
    "monks-2": _File(
        "Monks2",
        601,
        7,
        "1ada00aa6ed36c6c532d06ab92b00963f5e42cb9105d9aee9172b831f375f358",
        _monks_urls(2),
        _monks_lines,
    ),
    "monks-3": _File(
        "Monks3",
        554,
        7,
        "df326bc54f0c520db80eb8ea8f92e5190a01560807e4b61a590fe68f5aa1ca7b",
        _monks_urls(3),
        _monks_lines,
    ),
    "breast-cancer": _File(
        "Breast Cancer",
        277,
        10,
        "24fee86d527ac06c7f1f282e28b436726aad48447540b69fb0356401a3dab8cc",
        (f"{_AUTHORS}4-breast-cancer.csv",),
    ),
    "hiv": _File(
        "HIV", 746, 9, "4d2fd54f99671bc1432f82be0e89b8c79e7ecbc2a21e47902390a0ffe066af20", (f"{_AUTHORS}5-hiv.csv",)
    ),
    "primary-tumor": _File(
        "Primary Tumor",
        132,
        18,
        "920fb64d9cba6dcb8bdb4bdd6eaec4834d8f864179bcb74840cbebe27d589891",
        (f"{_AUTHORS}6-primary-tumor.data-no_missing.csv",),
    ),
    "mushroom": _File(
        "Mushroom",
        5644,
        23,
        "5e4e06e158751790d993ae5c6bdcb32b97fb890ca52d90b51fd05eb1b63ca26d",
        (f"{_AUTHORS}7-mushroom.csv",),
    ),
}
"""The published files that cannot be generated."""

_GENERATED = {
    "monks-1": ("monks-1", "Monks1"),
    "monks-2-rule": ("monks-2", "Monks2, the 432 robots"),
    "monks-3-rule": ("monks-3", "Monks3, the 432 robots"),
}
_RELABELLED = {"breast-cancer-class": "breast-cancer", "primary-tumor-class": "primary-tumor"}
"""Files whose last column is not a class: the class stands first. In breast-cancer, the last column is a copy."""


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder named, or that of ANALOGICAL_DATA, or None."""
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


def missing_datasets(folder: Path | None) -> list[str]:
    """Names of the published files that are not in the folder."""
    return [name for name in DATASETS if folder is None or not (folder / f"{name}.csv").is_file()]


def how_to_get(names: list[str]) -> str:
    """One sentence on what is missing and how to get it."""
    files = ", ".join(f"{name}.csv" for name in names)
    return (
        f"Missing data: {files}. Name the folder that holds them with --data or {VARIABLE},"
        " or fetch them with --download."
    )


def load_dataset(name: str, folder: Path | None = None) -> Dataset | None:
    """One of the paper's tables, or None if its file is not there.

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
        # The values of a built-in table come in the order of their codes, the first row holding the first ones.
        columns = [[list(dict.fromkeys(column)).index(value) for value in column] for column in table.X.T.tolist()]
        codes = np.array(columns, dtype=np.int64).T
        return Dataset(name, title, codes, table.y.astype(np.int64), feature_names(len(columns)))
    if name in _RELABELLED:
        dataset = load_dataset(_RELABELLED[name], folder)
        return None if dataset is None else _relabel(dataset, name)
    if name not in DATASETS:
        known = ", ".join([*_GENERATED, *DATASETS, *_RELABELLED])
        raise InputError(f"There is no dataset {name!r}; choose from {known}.")
    if name in missing_datasets(folder) or folder is None:
        return None
    file = DATASETS[name]
    coded = [_codes(column) for column in zip(*_read_cells(folder / f"{name}.csv", file), strict=True)]
    return Dataset(name, file.title, np.stack(coded[:-1], axis=1), coded[-1], feature_names(len(coded) - 1))


def feature_names(n_features: int) -> tuple[str, ...]:
    """The paper's names of features: a1, a2, ..."""
    return tuple(f"a{i}" for i in range(1, n_features + 1))


def download_datasets(folder: Path, fetch: Callable[[str], bytes] | None = None) -> list[str]:
    """Fetch the files that are missing into the folder, checked against their checksums; their names.

    Nothing is written unless its content is exactly that of the published file.
    """
    fetch = fetch or _fetch
    folder.mkdir(parents=True, exist_ok=True)
    missing = missing_datasets(folder)
    for name in missing:
        file = DATASETS[name]
        text = "".join(file.parse(_text(fetch(url), url)) for url in file.urls)
        if _checksum(text) != file.sha256:
            raise InputError(
                f"What was downloaded for {name!r} from {file.urls[0]} is not the published file (its checksum"
                f" differs); nothing was kept. Get {name}.csv elsewhere and name its folder with --data."
            )
        (folder / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")
    return missing


def is_published(name: str, folder: Path) -> bool:
    """Whether the file in the folder has the content of the published one."""
    return _checksum((folder / f"{name}.csv").read_text(encoding="utf-8")) == DATASETS[name].sha256


def _fetch(url: str) -> bytes:
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=60) as answer:  # noqa: S310  the addresses are constants of this file
            content: bytes = answer.read()
            return content
    except (URLError, OSError) as error:
        raise InputError(
            f"{url} cannot be downloaded ({getattr(error, 'reason', error)}); try again later, or name a folder"
            " with the file by --data."
        ) from None


def _text(content: bytes, url: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{url} did not answer with text; nothing was kept. Try again later.") from None


def _checksum(text: str) -> str:
    """Checksum of the lines, whatever ends them."""
    lines = "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())
    return hashlib.sha256(lines.encode()).hexdigest()


def _read_cells(path: Path, file: _File) -> list[list[str]]:
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


def _relabel(dataset: Dataset, name: str) -> Dataset:
    """The first column as label; the last one becomes a feature, unless it is a copy of another."""
    names = dataset.feature_names[1:]
    codes = dataset.codes[:, 1:]
    if not any(np.array_equal(dataset.labels, column) for column in codes.T):
        codes = np.column_stack([codes, dataset.labels])
        names = (*names, "label")
    return replace(
        dataset,
        name=name,
        title=f"{dataset.title}, right label",
        codes=codes,
        labels=dataset.codes[:, 0],
        feature_names=names,
    )
