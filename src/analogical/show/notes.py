"""What was done to a table before it was counted, one sentence for each note."""

from collections.abc import Callable, Sequence

from analogical._types import Note, NoteKind
from analogical.show.words import counted, listed, quoted, some_of, verb

__all__ = ["describe_notes"]


def describe_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, one sentence each."""
    return tuple(_describe(note) for note in notes)


def _describe(note: Note) -> str:
    if note.kind in _WITH_COUNTS:
        return _WITH_COUNTS[note.kind](note)
    return _SENTENCES[note.kind].format(", ".join(map(quoted, note.columns)))


_SENTENCES: dict[NoteKind, str] = {
    "label-taken-out": "the column {} of X holds the label, or a recoding of it, so it is not a feature",
    "weights-taken-out": "the column {} of X holds the weights, so it is not a feature",
    "weights-look-like-survey": "the weights {} look like survey weights, not like counts of rows: intervals and p"
    " take every unit of weight as one independent row, and are then far too sure",
    "groups-taken-out": "the column {} of X holds the groups, so it is not a feature",
    "groups-name-kept": "the column {} of X has the name of the groups but other values; it is kept as a feature",
    "label-name-kept": "the column {} of X has the name of the label but other values; it is kept as a feature",
    "weights-name-kept": "the column {} of X has the name of the weights but other values; it is kept as a feature",
    "collected": "X is a lazy frame, which was collected",
}


def _describe_leak(note: Note) -> str:
    told = listed([f"{name} ({share} %)" for name, share in zip(note.columns, note.counts, strict=True)])
    return (
        f"{told} alone {verb(note.columns, 'tells', 'tell')} the label in that share of the rows: the answer, or a leak"
        " of the label? Ignore what is only known after the label"
    )


def _describe_units(note: Note) -> str:
    (name,), (n_values, rows_each) = note.columns, note.counts
    return (
        f"{quoted(name)} looks like an identifier of repeated rows ({n_values:,} values, about {rows_each:,} rows"
        f" each): use groups={quoted(name)} (--groups) if rows with the same value depend on each other"
    )


def _describe_missing_value(note: Note) -> str:
    cells = [f"{name} ({n:,})" for name, n in zip(note.columns, note.counts, strict=True)]
    return f"missing cells are a value of their own in {some_of(cells)}"


def _describe_missing_dropped(note: Note) -> str:
    dropped, total = note.counts
    return f"left out: {dropped:,} of {counted(total, 'row')} with missing cells in {some_of(note.columns)}"


def _describe_bins(note: Note) -> str:
    what = "dates" if note.kind == "binned-time" else "numbers"
    if len(set(note.counts)) == 1:
        n = note.counts[0]
        each = " each" if len(note.columns) > 1 else ""
        found = f"{some_of(note.columns)}: {what} in {counted(n, 'bin')}{each}"
    else:
        cells = [f"{name} ({n})" for name, n in zip(note.columns, note.counts, strict=True)]
        found = f"{what} in bins: {some_of(cells)}"
    return f"{found}; edges in --json and to_dict(), every value its own category with bins=None (--bins none)"


def _describe_steps(note: Note) -> str:
    return f"{_describe_bins(note)}; edges are near, in steps of a ten-thousandth of the rows"


def _describe_not_sized(note: Note) -> str:
    return (
        f"the size of the effect of {some_of(note.columns)} is not known: too many contexts differ to bring them"
        " together; give fewer features than all"
    )


def _describe_ids(note: Note) -> str:
    has = verb(note.columns, "has", "have")
    return (
        f"set aside: {some_of(note.columns)} {has} another value in nearly every row, as an id has;"
        ' keep with ids="keep" (--ids keep)'
    )


def _describe_label_missing(note: Note) -> str:
    (n,) = note.counts
    return f"left out: {counted(n, 'row')} without a label"


def _describe_label_bins(note: Note) -> str:
    (n,), (edges,) = note.counts, note.edges
    return f"the label {quoted(note.columns[0])} is in {n} bins, which begin at {listed(edges)} after the first"


def _describe_aligned(note: Note) -> str:
    return f"the {note.columns[0]} had the rows of X in another order, and was put into the order of X by its index"


def _describe_index(note: Note) -> str:
    return f"the index of the {note.columns[0]} is not that of X, so rows are matched by position"


_WITH_COUNTS: dict[NoteKind, Callable[[Note], str]] = {
    "looks-like-groups": _describe_units,
    "leak": _describe_leak,
    "missing-value": _describe_missing_value,
    "missing-dropped": _describe_missing_dropped,
    "binned": _describe_bins,
    "binned-time": _describe_bins,
    "binned-in-steps": _describe_steps,
    "not-sized": _describe_not_sized,
    "set-aside": _describe_ids,
    "label-missing": _describe_label_missing,
    "label-binned": _describe_label_bins,
    "aligned": _describe_aligned,
    "index-differs": _describe_index,
}
