"""What was typed to a table with its columns settled: which is the label, which are weights and which are left out."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analogical.datasets import WEIGHTS, load_table, table_names
from analogical.encoding.choosing import unknown_column
from analogical.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Source", "read_source", "refuse_role"]


@dataclass(frozen=True)
class Source:
    """What was read and how its columns are used."""

    title: str
    frame: "pl.DataFrame"
    label: str
    weights: str | None
    groups: str | None
    features: list[str] | None
    """Columns asked for; None for all."""
    notes: tuple[str, ...]
    """Choices that were made for the user, to be said next to the result."""

    @property
    def data(self) -> tuple[Any, str]:
        """Table and label, as every function of the library takes them."""
        return self.frame, self.label

    @property
    def options(self) -> dict[str, Any]:
        """Weights and features, as every function of the library takes them."""
        return {"weights": self.weights, "features": self.features}

    @property
    def grouped(self) -> dict[str, Any]:
        """The same with the groups, for the functions that test."""
        return {**self.options, "groups": self.groups}

    def to_dict(self) -> dict[str, Any]:
        """Title and notes, for JSON."""
        return {"title": self.title, "label": self.label, "notes": list(self.notes)}


def read_source(
    file: str,
    *,
    label: str | None = None,
    weights: str | None = None,
    groups: str | None = None,
    features: str | None = None,
    ignore: str | None = None,
    separator: str | None = None,
    header: bool = True,
) -> Source:
    """Read a table and settle the roles of its columns."""
    notes: list[str] = []
    left_out = _split(ignore)
    if features is not None and ignore is not None:
        raise InputError("--features and --ignore cannot be used together; give one of them.")
    if file in table_names() and not Path(file).exists():
        table = load_table(file)
        if weights not in (None, WEIGHTS) or WEIGHTS in left_out:
            raise InputError(
                f"The built-in table {file} is counted by its column {WEIGHTS!r}, which stays its weights."
            )
        frame, weights = table.to_frame("polars"), WEIGHTS
        title, default_label = f"built-in table {file}", table.label
    else:
        from analogical.files import read_file

        frame = read_file(file, separator, header)
        title = "standard input" if file == "-" else file
        default_label = frame.columns[-1]
        if label is None:
            notes.append(f"label: the last column, {default_label!r}; name another with --label")
    label = default_label if label is None else label
    named = [
        (label, "--label"),
        (weights, "--weights"),
        (groups, "--groups"),
        *((name, "--ignore") for name in left_out),
    ]
    for column, option in (*named, *((name, "--features") for name in _split(features))):
        if column is not None and column not in frame.columns:
            raise unknown_column(column, frame.columns, option)
    if label in left_out or label == weights:
        raise InputError(f"The column {label!r} is the label and cannot be ignored or hold the weights.")
    if weights in left_out:
        raise InputError(f"The column {weights!r} holds the weights and cannot also be ignored.")
    if left_out:
        frame = frame.drop(left_out)
        notes.append(f"ignored: {', '.join(left_out)}")
    if weights is not None:
        from analogical.files import as_numbers

        frame = frame.with_columns(as_numbers(frame[weights]))
    if groups is not None and groups in (label, weights, *left_out):
        raise InputError(
            f"The column {groups!r} holds the groups and cannot be the label, the weights or ignored, too."
        )
    return Source(title, frame, label, weights, groups, _split(features) or None, tuple(notes))


def refuse_role(column: str, source: Source, option: str) -> None:
    """A column cannot be the label or the weights and something else as well."""
    if column == source.label:
        raise InputError(f"{option} names {column!r}, which is the label; choose another column, or another --label.")
    if column == source.weights:
        raise InputError(f"{option} names {column!r}, which holds the weights; choose another column.")


def _split(names: str | None) -> list[str]:
    """Column names that were given with commas between them."""
    return [name.strip() for name in names.split(",")] if names else []
