"""Reads the table named on the command line, and the roles of its columns: label, weights, groups, features."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from analogical._types import Note
from analogical.columns.choosing import Names, unknown_column
from analogical.columns.reading import NamedLists
from analogical.datasets import WEIGHTS, load_table, table_names
from analogical.errors import InputError
from analogical.io.formats import NA, TextFormat, refuse_text_options
from analogical.show.notes import describe_notes, sum_up_notes, warnings_of
from analogical.show.words import quoted

if TYPE_CHECKING:
    from analogical.columns.rules import ColumnOptions

__all__ = ["Source", "read_source", "refuse_role", "refuse_to_overwrite", "split_names"]

LABELS = ("class", "label", "target", "y", "outcome")
"""Names by which a first column is recognised as the likely label."""


class Choice(NamedTuple):
    """Something that was chosen for the user."""

    sentence: str
    short: str = ""
    """The same in a few words; empty if the sentence is enough."""


@dataclass(frozen=True)
class Source:
    """A table that was read, and how its columns are used."""

    title: str
    frame: Any
    """A dataframe, or a table that DuckDB or Spark holds."""
    label: str
    options: "ColumnOptions"
    """Column options, as every function of the library takes them."""
    file_notes: tuple[Note, ...] = ()
    """How the file was read."""
    choices: tuple[Choice, ...] = ()

    @property
    def data(self) -> tuple[Any, str]:
        """Table and label, as every function of the library takes them."""
        return self.frame, self.label

    @property
    def notes(self) -> tuple[str, ...]:
        """What was detected or chosen for the user, a sentence each."""
        return (*describe_notes(self.file_notes), *(choice.sentence for choice in self.choices))

    @property
    def about(self) -> tuple[str, ...]:
        """The same in a few words."""
        return (*(choice.short for choice in self.choices if choice.short), *sum_up_notes(self.file_notes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes that cast doubt on the whole answer."""
        return warnings_of(self.file_notes)

    def without_label(self) -> "ColumnOptions":
        """The options for functions without a label, which leave that column out."""
        if "features" in self.options:
            return self.options
        return {**self.options, "ignore": [*(self.options.get("ignore") or ()), self.label]}

    def to_dict(self) -> dict[str, Any]:
        """Title, label and notes, for JSON."""
        return {"title": self.title, "label": self.label, "notes": list(self.notes)}


def read_source(
    file: str,
    *,
    label: str | None = None,
    weights: str | None = None,
    groups: str | None = None,
    features: str | None = None,
    ignore: str | None = None,
    na: str | None = None,
    bins: Sequence[str] | None = None,
    separator: str | None = None,
    header: bool = True,
    names: str | None = None,
    engine: Literal["auto", "memory", "duckdb", "spark"] = "memory",
    master: str | None = None,
    **cells: Any,
) -> Source:
    """Read a table and assign the roles of its columns; a table in DuckDB or on Spark stays there.

    The arguments are the options of the command line; ``cells`` are those that the library takes unchanged.
    """
    if features is not None and ignore is not None:
        raise InputError("--features and --ignore cannot be used together; give one of them.")
    text_format = TextFormat(
        separator,
        header,
        None if names is None else tuple(split_names(names)),
        NA if na is None else tuple(split_names(na)),
    )
    opened = _open(file, text_format, engine, master)
    if opened.weights is not None:
        _refuse_other_weights(file, opened.weights, weights, ignore)
    roles = _find_roles(
        opened.frame,
        label=label or opened.label or opened.frame.columns[-1],
        weights=opened.weights or weights,
        groups=groups,
    )
    kept = None if features is None else _columns(features, opened.frame, roles, "--features")
    left_out = None if ignore is None else _columns(ignore, opened.frame, roles, "--ignore")
    is_label_chosen = label is None and opened.label is None
    choices = (
        *([_describe_label(opened.frame.columns)] if is_label_chosen else []),
        *([Choice(f"ignored: {', '.join(left_out)}")] if left_out is not None else []),
    )
    chosen = {"groups": roles.get("groups"), "features": kept, "ignore": left_out}
    options = {
        **cells,
        "weights": roles.get("weights"),
        **{name: columns for name, columns in chosen.items() if columns is not None},
        **({"bins": _parse_bins(bins)} if bins else {}),
    }
    return Source(opened.title, opened.frame, roles["label"], cast("ColumnOptions", options), opened.notes, choices)


# ---------------------------------------------------------------- opening a table


class _Opened(NamedTuple):
    """A table whose columns have no roles yet, except those of a built-in table."""

    title: str
    frame: Any
    notes: tuple[Note, ...] = ()
    label: str | None = None
    weights: str | None = None


def _open(
    file: str, text_format: TextFormat, engine: Literal["auto", "memory", "duckdb", "spark"], master: str | None
) -> _Opened:
    """A built-in table, a file, or standard input."""
    if master is not None and engine != "spark":
        raise InputError(f"--master {master} applies to Spark only; add --engine spark.")
    if _is_built_in(file):
        if engine not in ("auto", "memory"):
            raise InputError(f"The built-in table {file} is counted in memory; leave out --engine {engine}.")
        refuse_text_options(text_format, f"the built-in table {file}")
        table = load_table(file)
        frame = NamedLists(table.columns())  # no dataframe library is loaded
        return _Opened(f"built-in table {file}", frame, label=table.label, weights=WEIGHTS)
    if engine == "spark":
        return _on_spark(file, master or "local[*]", text_format)
    if engine == "duckdb":
        from analogical.outside.duck import hold_parquet

        refuse_text_options(text_format, f"{file!r} in DuckDB")
        return _Opened(file, hold_parquet(file))
    from analogical.io.files import open_file

    read = open_file(file, **vars(text_format), lazy=False if engine == "memory" else None)
    return _Opened("standard input" if file == "-" else file, read.frame, read.notes)


def _is_built_in(file: str) -> bool:
    try:
        return file in table_names() and not Path(file).exists()
    except OSError:
        return False


def _on_spark(file: str, master: str, text_format: TextFormat) -> _Opened:
    """A table on a Spark cluster."""
    from analogical.io.files import quiet_stderr
    from analogical.outside.spark import open_session, read_parquet

    if file == "-":
        raise InputError("--engine spark cannot read standard input; give a path that all workers can read.")
    refuse_text_options(text_format, f"{file!r} on Spark")
    with quiet_stderr():  # Java would write its logs to the stderr that it starts with
        session = open_session(master)
    return _Opened(f"{file} on {master}", read_parquet(session, file))


# ---------------------------------------------------------------- the roles of the columns


def _refuse_other_weights(file: str, its_weights: str, weights: str | None, ignore: str | None) -> None:
    """Refuse to weight a built-in table by another column, or to leave its weights out."""
    if weights not in (None, its_weights) or (ignore is not None and its_weights in split_names(ignore)):
        raise InputError(
            f"The column {its_weights!r} of the built-in table {file} holds its weights; leave it out of --ignore, and"
            " do not name other --weights."
        )


def _describe_label(columns: Sequence[str]) -> Choice:
    """The last column is the label; the first one may be meant, if it is named like a label."""
    first, last = columns[0], columns[-1]
    is_first_likely = first.lower() in LABELS and last.lower() not in LABELS
    return Choice(
        f"label: the last column, {last!r} (override with --label"
        f"{f'; is it {first!r}, the first column?' if is_first_likely else ''})",
        f"label: last column{f', or {quoted(first)}?' if is_first_likely else ''}",
    )


def _find_roles(frame: Any, **named: str | None) -> dict[str, str]:
    """The column of each role that was named; an error if there is no such column, or if it has two roles."""
    roles = {role: column for role, column in named.items() if column is not None}
    for role, column in roles.items():
        if column not in frame.columns:
            raise unknown_column(column, frame.columns, f"--{role}")
    for role, column in roles.items():
        for other, its_column in roles.items():
            if role != other and column == its_column:
                raise InputError(
                    f"The column {column!r} cannot be both the {role} and the {other}; choose another one."
                )
    return roles


def _columns(given: str, frame: Any, roles: dict[str, str], option: str) -> list[str]:
    """Columns and parts of dates that match names and patterns, except columns with a role."""
    names = Names(frame.columns)
    found: list[str] = []
    for word in [given] if given in frame.columns else split_names(given):
        for role, column in roles.items():
            if word == column:
                raise InputError(f"{option} names {word!r}, which is the {role}; leave it out of {option}.")
        if names.find_part(word) is not None:
            found.append(word)
            continue
        places = [names.find_one(word, option)] if word.isdecimal() else names.find_all(word, option)
        found += [frame.columns[place] for place in places if frame.columns[place] not in roles.values()]
    return list(dict.fromkeys(found))


def refuse_role(column: str, source: Source, option: str) -> None:
    """Refuse the label or the weights as the column of another option."""
    if column == source.label:
        raise InputError(f"{option} names {column!r}, which is the label; choose another column, or another --label.")
    if column == source.options["weights"]:
        raise InputError(f"{option} names {column!r}, which holds the weights; choose another column.")


def refuse_to_overwrite(file: str, targets: Mapping[str, str | None]) -> None:
    """Refuse to write a result over the table that is read."""
    for option, target in targets.items():
        try:
            is_same = target is not None and Path(target).exists() and Path(target).samefile(file)
        except (OSError, ValueError):
            continue
        if is_same:
            raise InputError(f"--{option} {target} is the table that is read, which would be lost; name another file.")


def split_names(names: str) -> list[str]:
    """Names separated by commas; a name that contains a comma is in double quotes."""
    return [name.strip() for name in next(csv.reader([names], skipinitialspace=True), [])]


# ---------------------------------------------------------------- the rules of bins


def _parse_bins(given: Sequence[str]) -> Any:
    """One rule for all columns, or a rule per named column, and * for the others."""
    rules: dict[str, Any] = {}
    for text in given:
        name, _, rule = text.rpartition("=")
        rules[name or "*"] = _parse_rule(rule)
    return rules["*"] if list(rules) == ["*"] else rules


def _parse_rule(rule: str) -> Any:
    if rule.lower() == "none":
        return None
    if "," in rule:
        return [_number(edge) for edge in rule.split(",") if edge.strip()]
    return int(rule) if rule.isdecimal() else rule


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()
