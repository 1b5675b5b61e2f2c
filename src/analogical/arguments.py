"""Arguments of public functions: a table or a study, the label, features, and ``given``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analogical._checks import check_choice
from analogical.columns.encode import encode_features, encode_table
from analogical.columns.rules import ColumnOptions, rules_of
from analogical.errors import InputError
from analogical.outside import encode_outside, is_outside
from analogical.study import Asked, Study
from analogical.table_counts import Duplicates

__all__ = ["asked_about", "check_given", "study_of"]


def study_of(
    verb: Callable[..., Any],
    X: Any,
    y: Any,
    columns: ColumnOptions,
    *,
    without: Sequence[str] = (),
    keep: Sequence[Any] = (),
    duplicates: Duplicates | None = None,
    n_jobs: int | None = None,
    needs_rows: bool = False,
    needs_label: bool = True,
) -> Study:
    """The study that a public function was given, or the study of its table and label.

    Parameters
    ----------
    without : sequence of str
        Column options that the function does not have.
    keep : sequence
        Features that are never set aside, because the function is asked about them.
    duplicates : {"count", "once"}, optional
        None if the function has no such option and counts every row.
    needs_rows : bool
        Whether to refuse a table whose rows did not come here, because the function compares whole rows.
    needs_label : bool
        Whether there must be a label; otherwise the study has none.
    """
    if isinstance(X, Study):
        rules_of(columns, verb, without)
        beside = {"duplicates": duplicates not in (None, "count"), "n_jobs": n_jobs is not None}
        _refuse_beside_study(verb.__name__, y, [*columns, *(name for name, is_given in beside.items() if is_given)])
        if duplicates is None and X.duplicates == "once":
            raise InputError(
                f'{verb.__name__} needs every row, and this Study has duplicates="once"; make one without it.'
            )
        return X
    rules = rules_of(columns, verb, without)
    counted: Duplicates = "count" if duplicates is None else duplicates
    if is_outside(X):
        table = encode_outside(X, y, rules, keep=keep, duplicates=counted, needs_label=needs_label)
    else:
        table = encode_table(X, y, rules, keep=keep) if needs_label else encode_features(X, rules)
    if needs_rows and table.source is not None:
        raise InputError(
            f"{verb.__name__} compares whole rows, and this table is too large to collect its rows; give"
            f" {verb.__name__} a sample of them as a dataframe."
        )
    return Study.of_table(table, duplicates=counted, n_jobs=n_jobs)


def _refuse_beside_study(verb: str, y: Any, options: Sequence[str]) -> None:
    """Refuse a label or options beside a study, which has its own."""
    if y is not None:
        raise InputError(f"A Study has its label; leave y out of {verb}, and pass other arguments by name.")
    if options:
        raise InputError(f"A Study has its options already; give {' and '.join(options)} to Study, not to {verb}.")


def asked_about(verb: Callable[..., Any], X: Any, y: Any, **features: Any) -> tuple[Any, ...]:
    """The label and the features that a public function is asked about.

    A study has its own label, so a feature takes the place of ``y``: ``evidence(study, "age")``.
    """
    given = [value for value in (y, *features.values()) if value is not None]
    if isinstance(X, Study):
        if len(given) > len(features):
            _refuse_beside_study(verb.__name__, y, [])
        y = None
    else:
        given = given[y is not None :]
    if len(given) < len(features):
        verb_name, names = verb.__name__, ", ".join(features)
        raise InputError(
            f"{verb_name} needs {' and '.join(features)}: {verb_name}(X, y, {names}) or {verb_name}(study, {names})."
        )
    return y, *given


def check_given(given: Any) -> Asked:
    """The argument ``given`` as "auto", "all" or a tuple of features."""
    if isinstance(given, str):
        check_choice("given", given, ("auto", "all"))
        return "all" if given == "all" else "auto"
    if not isinstance(given, Sequence | np.ndarray | set | frozenset):
        raise InputError(f'given must be "auto", "all" or a list of features, got {given!r}.')
    return tuple(given)
