"""Every note is one sentence that says what was done."""

import re
from pathlib import Path

import polars as pl
import pytest

import analogical
from analogical import relevance, report, select
from analogical._types import Note
from analogical.show.notes import NOTES, describe_notes, sum_up_notes, warnings_of
from analogical.show.report import page_of
from analogical.show.views import view_of

SENTENCES = [
    (
        Note("label-taken-out", ("y",)),
        "the column 'y' of X is the label or a recoding of it, so it is not a feature",
    ),
    (Note("weights-taken-out", ("n",)), "the column 'n' of X holds the weights, so it is not a feature"),
    (Note("groups-taken-out", ("g",)), "the column 'g' of X holds the groups, so it is not a feature"),
    (
        Note("groups-name-kept", ("g",)),
        "the column 'g' of X has the name of the groups but different values; it is kept as a feature",
    ),
    (
        Note("label-name-kept", ("y",)),
        "the column 'y' of X has the name of the label but different values; it is kept as a feature",
    ),
    (
        Note("weights-name-kept", ("n",)),
        "the column 'n' of X has the name of the weights but different values; it is kept as a feature",
    ),
    (
        Note("looks-like-groups", ("subject",), (316, 24)),
        "'subject' looks like a unit with repeated rows (316 values, about 24 rows each): if rows of one unit"
        " are not independent, give groups='subject' (--groups) to relevance, audit or report",
    ),
    (
        Note("looks-like-groups", ("lecturer",), (94, 1), words=("rank", "sex", "age", "language")),
        "'lecturer' looks like a unit with repeated rows (94 values, about 1 row each; rank, sex, age and language are"
        " constant within each): if rows of one unit are not independent, give groups='lecturer' (--groups) to"
        " relevance, audit or report",
    ),
    (
        Note("copies", (), (1000, 2000)),
        "1,000 of 2,000 rows examined are copies of another one in every column, more than chance explains: count"
        ' copies of one record once (duplicates="once", --duplicates once), or give the units that they belong to as'
        " groups (--groups)",
    ),
    (Note("collected"), "X is a lazy frame and was collected"),
    (Note("missing-value", ("a", "b"), (1200, 3)), "missing cells count as a separate value in a (1,200) and b (3)"),
    (
        Note("missing-value", tuple("abcdefgh"), tuple(range(8))),
        "missing cells count as a separate value in a (0), b (1), c (2), d (3), e (4), f (5) and 2 more",
    ),
    (Note("missing-dropped", ("a", "b"), (3, 1000)), "left out: 3 of 1,000 rows with missing cells in a and b"),
    (Note("label-missing", ("y",), (1,)), "left out: 1 row without a label"),
    (Note("label-missing", ("y",), (1500,)), "left out: 1,500 rows without a label"),
    (
        Note("label-binned", ("y",), (3,), ((2.5, 10),)),
        "the label 'y' was divided into 3 classes, with edges at 2.5 and 10",
    ),
    (
        Note("aligned", ("label",)),
        "the label was aligned with X by its index",
    ),
    (
        Note("numbers-and-words", ("income", "age"), (33, 6), words=("'none', 'refused'", "'n/k'")),
        "text, because there are words among the numbers: 'income' (33 % words: 'none', 'refused') and 'age' (6 %"
        " words: 'n/k'); if they mean missing, list them in --na",
    ),
    (
        Note("index-differs", ("weights",)),
        "the index of the weights differs from that of X; rows are matched by position",
    ),
]


@pytest.mark.parametrize(("note", "sentence"), SENTENCES, ids=lambda value: getattr(value, "kind", ""))
def test_sentences(note, sentence):
    assert describe_notes([note]) == (sentence,)


@pytest.mark.parametrize(
    ("note", "start"),
    [
        (Note("binned", ("age",), (5,), ((1, 2, 3, 4),)), "numbers in 5 bins: age (edges in"),
        (Note("binned", ("age", "pay"), (5, 5), ((), ())), "numbers in 5 bins each: age and pay (edges in"),
        (Note("binned", ("age", "pay"), (5, 4), ((), ())), "numbers in bins: age (5) and pay (4) (edges in"),
        (Note("binned-time", ("day",), (1,), ((),)), "dates in 1 bin: day (edges in"),
        (Note("set-aside", ("id",)), "set aside as identifiers: id; keep it"),
        (Note("set-aside", ("id", "name")), "set aside as identifiers: id and name; keep them"),
        (Note("leak", ("copy",), (100,)), "'copy' alone predicts 100 % of the labels: is it known before the label?"),
        (
            Note("leak", ("a", "b"), (99, 95)),
            "these columns each predict nearly all labels alone: a (99 %) and b (95 %). Are they known before",
        ),
    ],
)
def test_sentences_that_say_how_to_go_on(note, start):
    (sentence,) = describe_notes([note])
    assert sentence.startswith(start)
    assert "\n" not in sentence
    advice = {"binned": "bins=None", "binned-time": "bins=None", "set-aside": 'ids="keep"', "leak": "If not, leave"}
    assert advice[note.kind] in sentence


def test_every_kind_of_note_has_a_sentence():
    unused = {"label-equals-column"}
    for kind in set(NOTES) - unused:
        n = {"missing-dropped": 2, "looks-like-groups": 2, "copies": 2, "label-clipped": 2}.get(kind, 1)
        (sentence,) = describe_notes([Note(kind, ("column",), (1,) * n, ((1,) * n,), ("word",))])
        assert len(sentence) > 15


def test_every_note_that_is_made_has_words():
    texts = [path.read_text(encoding="utf-8") for path in Path(analogical.__file__).parent.rglob("*.py")]
    made = {kind for text in texts for kind in re.findall(r'Note\(\s*"([a-z0-9-]+)"', text)}
    assert {"leak", "set-aside", "encoding"} <= made <= NOTES.keys()


def test_a_few_words_sum_up_notes_and_count_the_others():
    notes = [
        Note("binned", ("a", "b"), (5, 5)),
        Note("binned-time", ("day",), (5,)),
        Note("missing-value", ("c",), (7,)),
        Note("collected"),
        Note("aligned", ("label",)),
    ]
    assert sum_up_notes(notes) == ("3 columns binned", "1 with missing cells", "2 more notes")
    assert sum_up_notes(notes[:2]) == ("3 columns binned",)
    assert sum_up_notes([*notes[2:3], Note("separator", words=("tab",))]) == (
        "separator detected",
        "1 column with missing cells",
    )
    assert sum_up_notes([]) == ()


def test_a_column_with_two_merged_spellings_is_one_column():
    note = Note("folded", ("answer", "answer"), words=("'No', 'no'", "'Yes', 'yes'"))
    assert sum_up_notes([note]) == ("1 column with merged spellings",)


def test_control_characters_are_not_alive():
    for kind in ("set-aside", "label-taken-out", "missing-value", "leak", "binned"):
        (sentence,) = describe_notes([Note(kind, ("a\x1b[31m\n",), (1,), ((1,),))])
        assert sentence.isprintable()


def test_notes_that_cast_doubt_are_lines_beside_the_answer_and_on_the_page():
    frame = pl.DataFrame({"a": [k % 7 for k in range(210)], "b": [k % 30 for k in range(210)], "y": [0, 1, 1] * 70})
    ranked = relevance(pl.concat([frame, frame]), "y")
    (doubt,) = warnings_of(ranked.notes)
    assert doubt.startswith("210 of 420 rows examined are copies of another one in every column")
    for result in (ranked, select(pl.concat([frame, frame]), "y")):
        assert view_of(result).lines[-1] == doubt
    assert page_of(report(pl.concat([frame, frame]), "y"))["reasons"][-1] == doubt
