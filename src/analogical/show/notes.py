"""What was done to a table before it was counted, one sentence for each note, and a few words for all of them.

Sentences begin with our own words or with a name in quotes, so that a page may begin them with a capital.
"""

from collections.abc import Callable, Sequence

from analogical._types import Note, NoteKind
from analogical.show.words import counted, listed, quoted, some_of, verb

__all__ = [
    "ASK_FOR_MORE",
    "describe_notes",
    "drawn_note",
    "ignored_note",
    "label_note",
    "leaks_of",
    "memory_note",
    "no_room_note",
    "sum_up_notes",
    "warnings_of",
    "written_note",
]

ASK_FOR_MORE = "Details: --explain."
WARNINGS: tuple[NoteKind, ...] = ("header-has-numbers",)
"""Notes that are shown in full beside the answer."""


def describe_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, one sentence each."""
    return tuple(_describe(note) for note in notes)


def sum_up_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, in a few words each."""
    columns: dict[str, list[str]] = {}
    for note in notes:
        if note.kind in _SHORT:
            columns.setdefault(_SHORT[note.kind], []).extend(note.columns)
    said = [text.format(counted(len(names), "column")) for text, names in columns.items()]
    rest = len([note for note in notes if note.kind not in (*_SHORT, *WARNINGS)])
    return (*said, counted(rest, "more note")) if rest else tuple(said)


def warnings_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """What makes the whole answer doubtful, one sentence each."""
    said = describe_notes([note for note in notes if note.kind in WARNINGS])
    return tuple(f"{text[0].upper()}{text[1:]}." for text in said)


def leaks_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """Columns that predict nearly all labels alone."""
    return tuple(name for note in notes if note.kind == "leak" for name in note.columns)


def label_note(name: str, likely: str | None = None) -> str:
    """That no label was named on the command line, and which other column may be meant."""
    other = "" if likely is None else f"; is it {likely!r}, the first column?"
    return f"label: the last column, {name!r} (override with --label{other})"


def ignored_note(names: Sequence[str]) -> str:
    """Which columns were left out on the command line."""
    return f"ignored: {', '.join(names)}"


def memory_note(needed: int, free: int) -> str:
    """That a table takes more memory than is free, in bytes."""
    return (
        f"about {needed / 1e9:,.0f} GB of memory are needed and {free / 1e9:,.0f} GB are free; consider Spark (--engine"
        " spark --master URL)"
    )


def drawn_note(path: object) -> str:
    """Where a figure was drawn to."""
    return f"drawn to {path}"


def written_note(path: object, n_bytes: int) -> str:
    """Where a page was written to."""
    return f"written to {path} ({n_bytes / 1000:,.0f} kB)"


def no_room_note(titles: Sequence[str]) -> str:
    """Which columns a narrow terminal has no room for."""
    return f"Not shown at this width: {', '.join(titles)}; widen the terminal."


def _describe(note: Note) -> str:
    if note.kind in _WITH_COUNTS:
        return _WITH_COUNTS[note.kind](note)
    return _SENTENCES[note.kind].format(", ".join(map(quoted, note.columns)))


_SENTENCES: dict[NoteKind, str] = {
    "label-taken-out": "the column {} of X is the label or a recoding of it, so it is not a feature",
    "weights-taken-out": "the column {} of X holds the weights, so it is not a feature",
    "groups-taken-out": "the column {} of X holds the groups, so it is not a feature",
    "groups-name-kept": "the column {} of X has the name of the groups but different values; it is kept as a feature",
    "label-name-kept": "the column {} of X has the name of the label but different values; it is kept as a feature",
    "weights-name-kept": "the column {} of X has the name of the weights but different values; it is kept as a feature",
    "collected": "X is a lazy frame and was collected",
    "first-line-is-data": "the first line is data, because --names was given",
    "header-has-numbers": "the first line, used as column names, contains numbers; if it is data, use --no-header",
    "empty-column": "left out the last column, which is empty: lines end with a separator",
    "first-sheet": "read the first sheet of the workbook",
    "spaces-stripped": "spaces around values were stripped",
}


def _describe_leak(note: Note) -> str:
    if len(note.columns) == 1:
        start = f"{quoted(note.columns[0])} alone predicts {note.counts[0]} % of the labels: is it"
    else:
        shares = [f"{name} ({share} %)" for name, share in zip(note.columns, note.counts, strict=True)]
        start = f"these columns each predict nearly all labels alone: {listed(shares)}. Are they"
    return (
        f"{start} known before the label? If not, leave {verb(note.columns, 'it', 'them')} out with ignore (--ignore)"
    )


def _describe_units(note: Note) -> str:
    (name,), (n_values, rows_each) = note.columns, note.counts
    return (
        f"{quoted(name)} looks like a unit with repeated rows ({n_values:,} values, about {rows_each:,} rows each):"
        f" use groups={quoted(name)} (--groups) if rows of one unit are not independent"
    )


def _describe_missing_value(note: Note) -> str:
    cells = [f"{name} ({n:,})" for name, n in zip(note.columns, note.counts, strict=True)]
    return f"missing cells count as a separate value in {some_of(cells)}"


def _describe_missing_dropped(note: Note) -> str:
    dropped, total = note.counts
    return f"left out: {dropped:,} of {counted(total, 'row')} with missing cells in {some_of(note.columns)}"


def _describe_bins(note: Note) -> str:
    what = "dates" if note.kind == "binned-time" else "numbers"
    if len(set(note.counts)) == 1:
        n = note.counts[0]
        each = " each" if len(note.columns) > 1 else ""
        start = f"{what} in {counted(n, 'bin')}{each}: {some_of(note.columns)}"
    else:
        cells = [f"{name} ({n})" for name, n in zip(note.columns, note.counts, strict=True)]
        start = f"{what} in bins: {some_of(cells)}"
    return f"{start} (edges in to_dict() and --json; no bins with bins=None, --bins none)"


def _describe_steps(note: Note) -> str:
    return f"{_describe_bins(note)}; edges are approximate, to 0.01 % of the rows"


def _describe_date_parts(note: Note) -> str:
    return f"parts of dates as features: {some_of(note.columns)} (none with date_parts=False, --no-date-parts)"


def _describe_ids(note: Note) -> str:
    return (
        f'set aside as identifiers: {some_of(note.columns)}; keep {verb(note.columns, "it", "them")} with ids="keep"'
        " (--ids keep)"
    )


def _describe_folded(note: Note) -> str:
    return (
        f"merged values that differ only in case or spaces: {_spellings(note)}; keep them apart with fold_case=False"
        " (--no-fold-case)"
    )


def _describe_may_fold(note: Note) -> str:
    return f"fold_case=True (--fold-case) would merge: {_spellings(note)}"


def _spellings(note: Note) -> str:
    return some_of([f"{words} of {name}" for name, words in zip(note.columns, note.words, strict=True)], 3)


def _describe_label_missing(note: Note) -> str:
    (n,) = note.counts
    return f"left out: {counted(n, 'row')} without a label"


def _describe_label_bins(note: Note) -> str:
    (n,), (edges,) = note.counts, note.edges
    return f"the label {quoted(note.columns[0])} was divided into {n} bins, with edges at {listed(edges)}"


def _describe_aligned(note: Note) -> str:
    return f"the {note.columns[0]} was aligned with X by its index"


def _describe_index(note: Note) -> str:
    return f"the index of the {note.columns[0]} differs from that of X; rows are matched by position"


def _describe_encoding(note: Note) -> str:
    return f"read as {note.words[0]} text"


def _describe_not_utf_8(note: Note) -> str:
    return f"not UTF-8 (byte {note.counts[0]:,}), so read as Latin-1 text; save it as UTF-8 if letters look wrong"


def _describe_blank_lines(note: Note) -> str:
    return f"skipped {counted(note.counts[0], 'blank line')}"


def _describe_separator(note: Note) -> str:
    return f"detected separator: {note.words[0]} (override with --separator)"


def _describe_unnamed(note: Note) -> str:
    return f"columns without a name: {some_of(note.columns)}"


def _describe_numbered(note: Note) -> str:
    return f"repeated column names were numbered: {some_of(note.columns)}"


def _describe_read_as_missing(note: Note) -> str:
    words = [f"{word!r} ({n:,})" for word, n in zip(note.words, note.counts, strict=True)]
    return f"read as missing: {some_of(words)}; override with --na"


def _describe_decimal_commas(note: Note) -> str:
    return f"decimal commas in {some_of(note.columns)}"


def _describe_read_as_numbers(note: Note) -> str:
    how = ", ".join(note.words)
    if len(note.columns) == 1:
        return f"{note.columns[0]}: {counted(note.counts[0], 'cell')} read as numbers ({how})"
    cells = [f"{name} ({n:,})" for name, n in zip(note.columns, note.counts, strict=True)]
    return f"cells read as numbers ({how}): {some_of(cells)}"


def _describe_read_as_dates(note: Note) -> str:
    return f"read as dates: {some_of([f'{name} ({how})' for name, how in zip(note.columns, note.words, strict=True)])}"


def _describe_words(note: Note) -> str:
    cells = zip(note.words, note.columns, note.counts, strict=True)
    return f"read as missing beside numbers or dates: {some_of([f'{w!r} in {name} ({n:,})' for w, name, n in cells])}"


def _describe_mixtures(note: Note) -> str:
    cells = [
        f"{quoted(name)} ({share} % words: {words})"
        for name, share, words in zip(note.columns, note.counts, note.words, strict=True)
    ]
    return f"text, because words stand among the numbers: {some_of(cells)}; if they mean missing, list them in --na"


_WITH_COUNTS: dict[NoteKind, Callable[[Note], str]] = {
    "looks-like-groups": _describe_units,
    "leak": _describe_leak,
    "missing-value": _describe_missing_value,
    "missing-dropped": _describe_missing_dropped,
    "binned": _describe_bins,
    "binned-time": _describe_bins,
    "binned-in-steps": _describe_steps,
    "date-parts": _describe_date_parts,
    "set-aside": _describe_ids,
    "folded": _describe_folded,
    "may-fold": _describe_may_fold,
    "label-missing": _describe_label_missing,
    "label-binned": _describe_label_bins,
    "aligned": _describe_aligned,
    "index-differs": _describe_index,
    "encoding": _describe_encoding,
    "not-utf-8": _describe_not_utf_8,
    "blank-lines": _describe_blank_lines,
    "separator": _describe_separator,
    "unnamed-columns": _describe_unnamed,
    "numbered-names": _describe_numbered,
    "read-as-missing": _describe_read_as_missing,
    "decimal-commas": _describe_decimal_commas,
    "read-as-numbers": _describe_read_as_numbers,
    "read-as-dates": _describe_read_as_dates,
    "words-read-as-missing": _describe_words,
    "numbers-and-words": _describe_mixtures,
}

_SHORT: dict[NoteKind, str] = {
    "binned": "{} binned",
    "blank-lines": "blank lines skipped",
    "decimal-commas": "decimal commas in {}",
    "binned-in-steps": "{} binned",
    "binned-time": "{} binned",
    "empty-column": "empty last column left out",
    "encoding": "encoding detected",
    "first-sheet": "first sheet",
    "folded": "spellings merged in {}",
    "label-binned": "label binned",
    "label-missing": "rows without a label left out",
    "date-parts": "parts of dates: {}",
    "leak": "{} may leak the label",
    "looks-like-groups": "rows may repeat units",
    "may-fold": "several spellings in {}",
    "missing-dropped": "rows with missing cells left out",
    "missing-value": "missing cells in {}",
    "not-utf-8": "read as Latin-1",
    "numbered-names": "repeated names numbered",
    "numbers-and-words": "words among numbers in {}",
    "read-as-dates": "dates in {}",
    "read-as-missing": "words read as missing",
    "read-as-numbers": "numbers read in {}",
    "separator": "separator detected",
    "set-aside": "identifiers set aside: {}",
    "spaces-stripped": "spaces stripped",
    "unnamed-columns": "{} without a name",
    "words-read-as-missing": "words read as missing",
}
"""The notes that a short line names, in a few words; others are counted."""
