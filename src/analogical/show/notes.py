"""Notes on what was done to a table before it was counted, each as a sentence, and all of them in a few words.

Sentences begin with our own words or with a quoted name, so that a page can capitalise them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from analogical._types import Note, NoteKind
from analogical.show.words import counted, list_all, list_first, quoted, verb

__all__ = [
    "describe_notes",
    "leaks_of",
    "sum_up_notes",
    "warnings_of",
]

WARNINGS: tuple[NoteKind, ...] = ("header-has-numbers",)
"""Notes that are shown in full beside the answer."""


def describe_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, one sentence each."""
    return tuple(_describe(note) for note in notes)


def sum_up_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, in a few words each: "read as Latin-1", "1 column set aside", "3 binned"."""
    short_texts: list[str] = []
    n_columns: Counter[str] = Counter()
    n_more = 0
    for note in notes:
        words = NOTES[note.kind]
        if words.of_columns:
            n_columns[words.of_columns] += len(set(note.columns))
        elif words.short:
            short_texts.append(words.short)
        else:
            n_more += note.kind not in WARNINGS
    columns = [
        f"{n:,} {what}" if k else f"{counted(n, 'column')} {what}" for k, (what, n) in enumerate(n_columns.items())
    ]
    return (*dict.fromkeys(short_texts), *columns, *([counted(n_more, "more note")] if n_more else []))


def warnings_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """Notes that cast doubt on the whole answer, one sentence each."""
    sentences = describe_notes([note for note in notes if note.kind in WARNINGS])
    return tuple(f"{text[0].upper()}{text[1:]}." for text in sentences)


def leaks_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """Columns that predict nearly all labels alone."""
    return tuple(name for note in notes if note.kind == "leak" for name in note.columns)


def _describe(note: Note) -> str:
    sentence = NOTES[note.kind].sentence
    return sentence(note) if callable(sentence) else sentence.format(**_parts(note))


def _parts(note: Note) -> dict[str, Any]:
    """The parts of a note that its sentence may name; a note has only some of them."""
    n, m, *_ = (*note.counts, 0, 0)
    return {
        "names": list_first(note.columns),
        "quoted": ", ".join(map(quoted, note.columns)),
        "first": note.columns[0] if note.columns else "",
        "them": verb(note.columns, "it", "them"),
        "n": n,
        "m": m,
        "counts": _with_details(note.columns, note.counts),
        "word": "".join(note.words[:1]),
        "words": _with_details(note.columns, note.words),
        "spellings": list_first([f"{text} of {name}" for name, text in zip(note.columns, note.words, strict=False)], 3),
    }


def _with_details(names: Sequence[str], details: Sequence[Any]) -> str:
    """Names with a number or a word each: age (5) and pay (1,200)."""
    both = zip(names, details, strict=False)
    return list_first(
        [f"{name} ({detail:,})" if isinstance(detail, int) else f"{name} ({detail})" for name, detail in both]
    )


def _describe_leak(note: Note) -> str:
    if len(note.columns) == 1:
        start = f"{quoted(note.columns[0])} alone predicts {note.counts[0]} % of the labels: is it"
    else:
        shares = [f"{name} ({share} %)" for name, share in zip(note.columns, note.counts, strict=True)]
        start = f"these columns each predict nearly all labels alone: {list_all(shares)}. Are they"
    them = verb(note.columns, "it", "them")
    return f"{start} known before the label? If not, leave {them} out with ignore (--ignore)"


def _describe_bins(note: Note) -> str:
    what = "dates" if note.kind == "binned-time" else "numbers"
    start = f"{what} in bins: {_with_details(note.columns, note.counts)}"
    if len(set(note.counts)) == 1:
        each = " each" if len(note.columns) > 1 else ""
        start = f"{what} in {counted(note.counts[0], 'bin')}{each}: {list_first(note.columns)}"
    return f"{start} (edges in to_dict() and --json; no bins with bins=None, --bins none)"


def _describe_numbers(note: Note) -> str:
    how = ", ".join(note.words)
    if len(note.columns) == 1:
        return f"{note.columns[0]}: {counted(note.counts[0], 'cell')} read as numbers ({how})"
    return f"cells read as numbers ({how}): {_with_details(note.columns, note.counts)}"


def _describe_missing_words(note: Note) -> str:
    if note.kind == "read-as-missing":
        return f"read as missing: {_with_details([*map(repr, note.words)], note.counts)}; override with --na"
    places = [f"{word!r} in {name}" for word, name in zip(note.words, note.columns, strict=True)]
    return f"read as missing beside numbers or dates: {_with_details(places, note.counts)}"


def _describe_mixtures(note: Note) -> str:
    cells = [
        f"{quoted(name)} ({share} % words: {words})"
        for name, share, words in zip(note.columns, note.counts, note.words, strict=True)
    ]
    return (
        f"text, because there are words among the numbers: {list_first(cells)}; if they mean missing, list them in --na"
    )


class NoteWords(NamedTuple):
    """A kind of note in words."""

    sentence: str | Callable[[Note], str]
    """A function of the note, or a format string with its :func:`_parts` in braces."""
    short: str = ""
    """A few words; notes without them are only counted."""
    of_columns: str = ""
    """The same, to follow the number of columns."""


_KEPT = "the column {{quoted}} of X has the name of the {} but different values; it is kept as a feature"
NOTES: dict[NoteKind, NoteWords] = {
    "label-taken-out": NoteWords("the column {quoted} of X is the label or a recoding of it, so it is not a feature"),
    "weights-taken-out": NoteWords("the column {quoted} of X holds the weights, so it is not a feature"),
    "groups-taken-out": NoteWords("the column {quoted} of X holds the groups, so it is not a feature"),
    "label-name-kept": NoteWords(_KEPT.format("label")),
    "weights-name-kept": NoteWords(_KEPT.format("weights")),
    "groups-name-kept": NoteWords(_KEPT.format("groups")),
    "looks-like-groups": NoteWords(
        "{quoted} looks like a unit with repeated rows ({n:,} values, about {m:,} rows each): if rows of one unit"
        " are not independent, give groups={quoted} (--groups) to relevance, audit or report",
        "rows may repeat units",
    ),
    "leak": NoteWords(_describe_leak, of_columns="that may leak the label"),
    "collected": NoteWords("X is a lazy frame and was collected"),
    "aligned": NoteWords("the {first} was aligned with X by its index"),
    "index-differs": NoteWords("the index of the {first} differs from that of X; rows are matched by position"),
    "missing-value": NoteWords("missing cells count as a separate value in {counts}", of_columns="with missing cells"),
    "missing-dropped": NoteWords(
        lambda note: (
            f"left out: {note.counts[0]:,} of {counted(note.counts[1], 'row')} with missing cells in"
            f" {list_first(note.columns)}"
        ),
        "rows with missing cells left out",
    ),
    "label-missing": NoteWords(
        lambda note: f"left out: {counted(note.counts[0], 'row')} without a label", "rows without a label left out"
    ),
    "label-binned": NoteWords(
        lambda note: (
            f"the label {quoted(note.columns[0])} was divided into {note.counts[0]} bins, with edges at"
            f" {list_all(note.edges[0])}"
        ),
        "label binned",
    ),
    "binned": NoteWords(_describe_bins, of_columns="binned"),
    "binned-time": NoteWords(_describe_bins, of_columns="binned"),
    "edges-of-sample": NoteWords(
        "very many distinct values, so bins are those of a sample, to about 0.01 % of the rows: {names}",
        of_columns="with bins of a sample",
    ),
    "many-texts": NoteWords(
        "more than 100,000 distinct texts, set aside as identifiers: {names}; cast {them} to numbers or dates if they"
        ' are, or keep {them} with ids="keep" (--ids keep)',
    ),
    "date-parts": NoteWords(
        "parts of dates as features: {names} (none with date_parts=False, --no-date-parts)", of_columns="from dates"
    ),
    "set-aside": NoteWords(
        'set aside as identifiers: {names}; keep {them} with ids="keep" (--ids keep)', of_columns="set aside"
    ),
    "folded": NoteWords(
        "merged values that differ only in case or spaces: {spellings}; keep them apart with fold_case=False"
        " (--no-fold-case)",
        of_columns="with merged spellings",
    ),
    "may-fold": NoteWords("fold_case=True (--fold-case) would merge: {spellings}", of_columns="with several spellings"),
    "encoding": NoteWords("read as {word} text", "encoding detected"),
    "not-utf-8": NoteWords(
        "not UTF-8 (byte {n:,}), so read as Latin-1 text; save it as UTF-8 if letters look wrong", "read as Latin-1"
    ),
    "blank-lines": NoteWords(lambda note: f"skipped {counted(note.counts[0], 'blank line')}", "blank lines skipped"),
    "separator": NoteWords("detected separator: {word} (override with --separator)", "separator detected"),
    "first-line-is-data": NoteWords("the first line is data, because --names was given"),
    "header-has-numbers": NoteWords(
        "the first line, used as column names, contains numbers; if it is data, use --no-header"
    ),
    "empty-column": NoteWords(
        "left out the last column, which is empty: lines end with a separator", "empty last column left out"
    ),
    "first-sheet": NoteWords("read the first sheet of the workbook", "first sheet"),
    "spaces-stripped": NoteWords("spaces around values were stripped", "spaces stripped"),
    "unnamed-columns": NoteWords("columns without a name: {names}", of_columns="without a name"),
    "numbered-names": NoteWords("repeated column names were numbered: {names}", "repeated names numbered"),
    "read-as-missing": NoteWords(_describe_missing_words, "words read as missing"),
    "words-read-as-missing": NoteWords(_describe_missing_words, "words read as missing"),
    "numbers-and-words": NoteWords(_describe_mixtures, of_columns="with words among numbers"),
    "decimal-commas": NoteWords("decimal commas in {names}", of_columns="with decimal commas"),
    "read-as-numbers": NoteWords(_describe_numbers, of_columns="read as numbers"),
    "read-as-dates": NoteWords("read as dates: {words}", of_columns="read as dates"),
}
"""Every kind of note in words."""
