"""Reads the table named on the command line, and the roles of its columns: label, weights, groups, features."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from analogical._types import Note
from analogical.datasets import WEIGHTS, load_table, table_names
from analogical.errors import InputError
from analogical.io.formats import NA, TextFormat, refuse_text_options
from analogical.show.notes import describe_notes, sum_up_notes, warnings_of
from analogical.show.words import quoted
from analogical.table.choosing import Names, unknown_column
from analogical.table.reading import NamedLists

if TYPE_CHECKING:
    from analogical.table.rules import ColumnOptions

__all__ = ["Source", "read_source", "refuse_role", "refuse_to_overwrite", "split_names"]

LABELS = ("class", "label", "target", "y", "outcome")
"""Names by which a first column is recognised as the likely label."""


@dataclass(frozen=True)
class Source:
    """A table that was read, and how its columns are used."""

    title: str
    frame: Any
    """A dataframe, or a table that DuckDB or Spark holds."""
    label: str
    options: "ColumnOptions"
    """Column options, as every function of the library takes them."""
    notes: tuple[str, ...]
    """What was detected or chosen for the user, shown with the result."""
    about: tuple[str, ...] = ()
    """The same in a few words."""
    warnings: tuple[str, ...] = ()
    """Those that cast doubt on the whole answer."""

    @property
    def data(self) -> tuple[Any, str]:
        """Table and label, as every function of the library takes them."""
        return self.frame, self.label

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
    """Read a table and assign the roles of its columns; a table in DuckDB or on Spark stays there."""
    if features is not None and ignore is not None:
        raise InputError("--features and --ignore cannot be used together; give one of them.")
    text_format = TextFormat(
        separator,
        header,
        None if names is None else tuple(split_names(names)),
        NA if na is None else tuple(split_names(na)),
    )
    if master is not None and engine != "spark":
        raise InputError(f"--master {master} applies to Spark only; add --engine spark.")
    if _is_built_in(file):
        if engine not in ("auto", "memory"):
            raise InputError(f"The built-in table {file} is counted in memory; leave out --engine {engine}.")
        opened = _built_in(file, text_format, weights, ignore)
        weights = WEIGHTS
    elif engine == "spark":
        opened = _on_spark(file, master or "local[*]", text_format)
    else:
        opened = _from_file(file, text_format, engine)
    frame, notes = opened.frame, list(opened.notes)
    about = opened.about
    if label is None and opened.label is None:
        likely = _likely_label(frame.columns)
        other = "" if likely is None else f"; is it {likely!r}, the first column?"
        notes.append(f"label: the last column, {frame.columns[-1]!r} (override with --label{other})")
        about = ("label: last column" if likely is None else f"label: last column, or {quoted(likely)}?", *about)
    named = {"label": label or opened.label or frame.columns[-1], "weights": weights, "groups": groups}
    roles = {role: _column(column, frame, f"--{role}") for role, column in named.items() if column is not None}
    _refuse_two_roles(roles)
    options = {**cells, "weights": None, **roles}
    del options["label"]
    if features is not None:
        options["features"] = _columns(features, frame, roles, "--features")
    if ignore is not None:
        left_out = _columns(ignore, frame, roles, "--ignore")
        notes.append(f"ignored: {', '.join(left_out)}")
        options["ignore"] = left_out
    if bins:
        options["bins"] = _parse_bins(bins)
    return Source(
        opened.title, frame, roles["label"], cast("ColumnOptions", options), tuple(notes), about, opened.warnings
    )


class _Opened(NamedTuple):
    """A table whose columns have no roles yet."""

    title: str
    frame: Any
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    label: str | None = None
    """None if unknown: the last column is used."""


def _from_file(file: str, text_format: TextFormat, engine: Literal["auto", "memory", "duckdb"]) -> _Opened:
    """A table in a file or on standard input."""
    from analogical.io.files import open_file

    read = open_file(file, **vars(text_format), engine=engine)
    return _opened("standard input" if file == "-" else file, read.frame, read.notes)


def _opened(title: str, frame: Any, notes: Sequence[Note]) -> _Opened:
    """A table with its notes as sentences and in a few words."""
    return _Opened(title, frame, describe_notes(notes), sum_up_notes(notes), warnings_of(notes))


def _likely_label(columns: Sequence[str]) -> str | None:
    """The first column, if it is named like a label and the last column is not."""
    first, last = columns[0].lower(), columns[-1].lower()
    return columns[0] if first in LABELS and last not in LABELS else None


def _on_spark(file: str, master: str, text_format: TextFormat) -> _Opened:
    """A table on a Spark cluster."""
    from analogical.io.files import quiet_stderr
    from analogical.spark.files import read_spark_file
    from analogical.spark.session import open_session

    if file == "-":
        raise InputError("--engine spark cannot read standard input; give a path that all workers can read.")
    with quiet_stderr():  # Java would write its logs to the stderr that it starts with
        session = open_session(master)
    read = read_spark_file(session, file, text_format)
    return _opened(f"{file} on {master}", read.frame, read.notes)


def _is_built_in(file: str) -> bool:
    try:
        return file in table_names() and not Path(file).exists()
    except OSError:
        return False


def _built_in(file: str, text_format: TextFormat, weights: str | None, ignore: str | None) -> _Opened:
    """A built-in table, as lists: no dataframe library is loaded."""
    refuse_text_options(text_format, f"the built-in table {file}")
    table = load_table(file)
    if weights not in (None, WEIGHTS) or (ignore is not None and WEIGHTS in split_names(ignore)):
        raise InputError(
            f"The column {WEIGHTS!r} of the built-in table {file} holds its weights; leave it out of --ignore, and do"
            " not name other --weights."
        )
    return _Opened(f"built-in table {file}", NamedLists(table.columns()), label=table.label)


def _column(given: str, frame: Any, option: str) -> str:
    """The name of a column of the table."""
    if given not in frame.columns:
        raise unknown_column(given, frame.columns, option)
    return given


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
        places = [_place(word, names, option)] if word.isdecimal() else names.find_all(word, option)
        found += [frame.columns[place] for place in places if frame.columns[place] not in roles.values()]
    return list(dict.fromkeys(found))


def _place(word: str, names: Names, option: str) -> int:
    place = names.find(word)
    if place is None:
        raise unknown_column(word, names.texts, option)
    return place


def _refuse_two_roles(roles: dict[str, str]) -> None:
    """Refuse a column with two roles, such as label and weights."""
    for role, column in roles.items():
        for other, its_column in roles.items():
            if role != other and column == its_column:
                raise InputError(
                    f"The column {column!r} cannot be both the {role} and the {other}; choose another one."
                )


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
