"""Notes on what was done to a table before it was counted, each as a sentence, and all of them in a few words.

Sentences begin with our own words or with a quoted name, so that a page can capitalise them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from analogical._types import Note
from analogical.show.words import counted, list_all, list_first, quoted, three_digits, verb


def describe_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, one sentence each."""
    sentences = []
    for note in notes:
        sentence, _ = NOTES[note.kind]
        sentences.append(sentence(note) if callable(sentence) else sentence.format(**_parts(note)))
    return tuple(sentences)


def sum_up_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """What was done to a table, in a few words each: "read as Latin-1", "1 column set aside", "3 binned"."""
    others: dict[str, None] = {}
    n_columns: Counter[str] = Counter()
    n_more = 0
    for note in notes:
        _, words = NOTES[note.kind]
        if words.startswith("# "):
            n_columns[words[2:]] += len(set(note.columns))
        elif words:
            others[words.format(**_parts(note))] = None
        else:
            n_more += note.kind != "header-has-numbers"
    columns = [
        f"{n:,} {what}" if k else f"{counted(n, 'column')} {what}" for k, (what, n) in enumerate(n_columns.items())
    ]
    return (*others, *columns, *([counted(n_more, "more note")] if n_more else []))


def warnings_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """Notes that cast doubt on the whole answer, one sentence each; they are shown in full beside it."""
    sentences = describe_notes([note for note in notes if note.kind in DOUBTS])
    return tuple(f"{text[0].upper()}{text[1:]}." for text in sentences)


DOUBTS = ("header-has-numbers", "copies", "looks-like-groups")
"""Kinds of notes that cast doubt on the whole answer."""


def leaks_of(notes: Sequence[Note]) -> tuple[str, ...]:
    """Columns that predict nearly all labels alone."""
    return tuple(name for note in notes if note.kind == "leak" for name in note.columns)


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
        "n_rows": counted(n, "row"),
        "m_rows": counted(m, "row"),
        "n_lines": counted(n, "blank line"),
        "edges": list_all(note.edges[0]) if note.edges else "",
        "order": ",".join(note.words),
        "words_in_order": list(note.words),
        "counts": _with_details(note.columns, note.counts),
        "word": "".join(note.words[:1]),
        "words": _with_details(note.columns, note.words),
        "spellings": list_first([f"{text} of {name}" for name, text in zip(note.columns, note.words, strict=False)], 3),
    }


def _with_details(names: Sequence[str], details: Sequence[Any]) -> str:
    """Names with a number or a word each: age (5) and pay (1,200)."""
    texts = (f"{detail:,}" if isinstance(detail, int) else detail for detail in details)
    return list_first([f"{name} ({text})" for name, text in zip(names, texts, strict=False)])


def _describe_leak(note: Note) -> str:
    if len(note.columns) == 1:
        start = f"{quoted(note.columns[0])} alone predicts {note.counts[0]} % of the labels: is it"
    else:
        shares = [f"{name} ({share} %)" for name, share in zip(note.columns, note.counts, strict=True)]
        start = f"these columns each predict nearly all labels alone: {list_all(shares)}. Are they"
    them = verb(note.columns, "it", "them")
    return f"{start} known before the label? If not, leave {them} out with ignore (--ignore)"


def _describe_clipped(note: Note) -> str:
    (low, high), n, n_rows = note.edges[0], *note.counts
    return (
        f"{n:,} of {n_rows:,} numbers of the label {quoted(note.columns[0])} are outside of {three_digits(low)} to"
        f' {three_digits(high)} and count as the nearer bound; scale="number" (--scale number) keeps them,'
        ' scale="ranks" or "log" compares them otherwise'
    )


def _describe_screen(note: Note) -> str:
    n_features, *n_tried = note.counts
    sizes = zip(("two", "three"), n_tried, strict=False)
    limits = [f"sets of {size} among {n:,}" for size, n in sizes if n < n_features]
    return (
        f"the search for the deciding set tried {list_all(limits)} of {n_features:,} features, those that predict the"
        " label best alone"
    )


def _describe_units(note: Note) -> str:
    name, n_units, n_rows = quoted(note.columns[0]), f"{note.counts[0]:,} values", counted(note.counts[1], "row")
    within = f"; {list_first(note.words, 3)} {verb(note.words, 'is', 'are')} constant within each" if note.words else ""
    return (
        f"{name} looks like a unit with repeated rows ({n_units}, about {n_rows} each{within}): if rows of one"
        f" unit are not independent, give groups={name} (--groups) to relevance, audit or report"
    )


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


def _not_a_feature(role: str) -> tuple[str, str]:
    return f"the column {{quoted}} of X {role}, so it is not a feature", ""


def _kept(role: str) -> tuple[str, str]:
    return f"the column {{quoted}} of X has the name of the {role} but different values; it is kept as a feature", ""


NOTES: dict[str, tuple[str | Callable[[Note], str], str]] = {
    "label-taken-out": _not_a_feature("is the label or a recoding of it"),
    "weights-taken-out": _not_a_feature("holds the weights"),
    "groups-taken-out": _not_a_feature("holds the groups"),
    "label-name-kept": _kept("label"),
    "weights-name-kept": _kept("weights"),
    "groups-name-kept": _kept("groups"),
    "copies": (
        "{n:,} of {m_rows} examined are copies of another one in every column, more than chance explains: count copies"
        ' of one record once (duplicates="once", --duplicates once), or give the units that they belong to as groups'
        " (--groups)",
        "copied rows",
    ),
    "looks-like-groups": (_describe_units, "rows may repeat units"),
    "leak": (_describe_leak, "# that may leak the label"),
    "screened": (_describe_screen, "some sets of features not tried"),
    "collected": ("X is a lazy frame and was collected", ""),
    "aligned": ("the {first} was aligned with X by its index", ""),
    "index-differs": ("the index of the {first} differs from that of X; rows are matched by position", ""),
    "missing-value": ("missing cells count as a separate value in {counts}", "# with missing cells"),
    "missing-dropped": (
        "left out: {n:,} of {m_rows} with missing cells in {names}",
        "rows with missing cells left out",
    ),
    "label-missing": ("left out: {n_rows} without a label", "rows without a label left out"),
    "label-binned": ("the label {quoted} was divided into {n} classes, with edges at {edges}", "label in classes"),
    "label-clipped": (_describe_clipped, "{n:,} far numbers of the label bounded"),
    "label-means": (
        "the label {quoted} has {n:,} distinct numbers in many rows, so each row counts with the mean of its bin ({m:,}"
        " bins of about equally many rows)",
        "",
    ),
    "label-may-be-ordered": (
        "the label {quoted} may have an order; to compare places in it, give ordered={words_in_order} (--ordered"
        " {order})",
        "label may have an order",
    ),
    "binned": (_describe_bins, "# binned"),
    "binned-time": (_describe_bins, "# binned"),
    "edges-of-sample": (
        "very many distinct values, so bins are those of a sample, to about 0.01 % of the rows: {names}",
        "# with bins of a sample",
    ),
    "many-texts": (
        "more than 100,000 distinct texts, set aside as identifiers: {names}; cast {them} to numbers or dates if they"
        ' are, or keep {them} with ids="keep" (--ids keep)',
        "# with very many texts set aside",
    ),
    "date-parts": (
        "parts of dates as features: {names} (none with date_parts=False, --no-date-parts)",
        "# from dates",
    ),
    "set-aside": ('set aside as identifiers: {names}; keep {them} with ids="keep" (--ids keep)', "# set aside"),
    "folded": (
        "merged values that differ only in case or spaces: {spellings}; keep them apart with fold_case=False"
        " (--no-fold-case)",
        "# with merged spellings",
    ),
    "may-fold": ("fold_case=True (--fold-case) would merge: {spellings}", "# with several spellings"),
    "encoding": ("read as {word} text", "encoding detected"),
    "not-utf-8": (
        "not UTF-8 (byte {n:,}), so read as Latin-1 text; save it as UTF-8 if letters look wrong",
        "read as Latin-1",
    ),
    "blank-lines": ("skipped {n_lines}", "blank lines skipped"),
    "separator": ("detected separator: {word} (override with --separator)", "separator detected"),
    "first-line-is-data": ("the first line is data, because --names was given", ""),
    "header-has-numbers": (
        "the first line, used as column names, contains numbers; if it is data, use --no-header",
        "",
    ),
    "empty-column": (
        "left out the last column, which is empty: lines end with a separator",
        "empty last column left out",
    ),
    "first-sheet": ("read the first sheet of the workbook", "first sheet"),
    "spaces-stripped": ("spaces around values were stripped", "spaces stripped"),
    "unnamed-columns": ("columns without a name: {names}", "# without a name"),
    "numbered-names": ("repeated column names were numbered: {names}", "repeated names numbered"),
    "read-as-missing": (_describe_missing_words, "words read as missing"),
    "words-read-as-missing": (_describe_missing_words, "words read as missing"),
    "numbers-and-words": (_describe_mixtures, "# with words among numbers"),
    "decimal-commas": ("decimal commas in {names}", "# with decimal commas"),
    "read-as-numbers": (_describe_numbers, "# read as numbers"),
    "read-as-dates": ("read as dates: {words}", "# read as dates"),
}
"""Every kind of note: a sentence, or a format string with its :func:`_parts`; and a few words for the line about the
table, which follow the number of columns if they begin with "#". Notes without such words are only counted."""
