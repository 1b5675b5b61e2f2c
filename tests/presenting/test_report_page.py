"""The page as data and as HTML: numbers equal the result's, nothing from the data is markup, nothing from outside."""

import html as html_library
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from analogical import MissingDependencyError, load_table, report
from analogical._report import Disagreement
from analogical.presenting.report import rendering
from analogical.presenting.report.page import page_of
from analogical.presenting.report.rendering import render
from analogical.presenting.report.sentences import describe_disagreement
from analogical.presenting.report.words import CLOSE, OPEN, unmarked

SECTIONS = ["answer", "data", "ranking", "features", "together", "set", "audit", "limits", "made"]
ODD = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}",
    "</script><b>",
    "שלום עולם",
    "a\u202eb",
    "\x1b[31mred\x00",
    "x" * 1000,
    OPEN + "mark" + CLOSE,
)
FORBIDDEN = "\x00\x1b\x9b\x07\x08\x7f\r\u202e\u2066\u200b\ufe0f\u3164\u2028" + OPEN + CLOSE


def odd_frame(words=ODD):
    """A table whose names, values and labels are odd words."""
    rng = np.random.default_rng(0)
    values = np.array([f"{word}{k}" for k, word in enumerate(words[:2])], dtype=object)
    columns = {f"{word} {k}": values[rng.integers(0, 2, 120)] for k, word in enumerate(words)}
    first, second = list(columns)[:2]
    label = np.where((columns[first] == values[0]) ^ (columns[second] == values[0]), words[0], words[1])
    return pl.DataFrame({**columns, words[0] + "label": label})


class Elements(HTMLParser):
    """All tags with their attributes, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts = [], []
        self.is_script = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.is_script = tag == "script"
        if self.is_script:
            self.scripts.append("")

    def handle_endtag(self, tag):  # noqa: ARG002
        self.is_script = False

    def handle_data(self, data):
        if self.is_script:
            self.scripts[-1] += data


def words_of(text):
    """What a reader sees."""
    text = re.sub(r"(?s)<(style|script).*?</\1>", " ", text)
    return " ".join(html_library.unescape(re.sub(r"<[^>]+>", "", text)).split())


RNG = np.random.default_rng(0)
NOISE, WIDE, MANY = RNG.integers(0, 2, (200, 4)), RNG.integers(0, 3, (80, 25)), RNG.integers(0, 15, 400)
NUMBERS = pl.DataFrame(
    {
        "x": RNG.normal(size=300),
        "n": RNG.integers(0, 1000, 300),
        "c": RNG.choice(["a", "b", None], 300),
        "id": [f"id{k}" for k in range(300)],
        "one": ["same"] * 300,
    }
)
TITANIC = load_table("titanic").to_frame("polars")
TABLES = {
    "no effect": lambda: report(NOISE, np.random.default_rng(1).integers(0, 2, 200)),
    "no pairs": lambda: report(WIDE, WIDE[:, 0] == WIDE[:, 1]),
    "nothing to compare": lambda: report([(0, 0), (1, 1)], [0, 1], radius=1),
    "many classes": lambda: report(np.column_stack([MANY % 5, MANY % 3]), MANY),
    "numbers and missing": lambda: report(NUMBERS, NUMBERS["x"].to_numpy() > 0),
    "weights": lambda: report(TITANIC, "survived", weights="count", protected=["sex", "class"]),
    "one feature": lambda: report([(0,), (1,), (0,), (1,)] * 9, [0, 1, 0, 0] * 9),
    "noise free": lambda: report([(a, b) for a in (0, 1) for b in (0, 1)], [0, 1, 1, 0], noise_free=True),
    "groups": lambda: report(NOISE[:60, :2], NOISE[:60, 0], groups=np.arange(60) // 3),
    "odd words": lambda: report(odd_frame(), ODD[0] + "label", title=ODD[0]),
}


@cache
def made(name):
    return TABLES[name]()


@pytest.fixture(params=TABLES)
def result(request):
    return made(request.param)


def test_numbers_on_the_page_are_those_of_the_result(result):
    page, found = page_of(result), result.relevance
    order = found.order()
    rows = page["ranking"]["rows"]
    assert [row["rank"] for row in rows] == list(range(1, len(order) + 1))
    for row, i in zip(rows, order, strict=True):
        assert row["score"] == (None if np.isnan(found.score[i]) else found.score[i])
        assert (row["pairs"], row["status"]) == (found.pairs[i], found.status[i])
        assert row["is_told"] == (found.status[i] == "effect")
        assert row["information"] == result.information[i]
    assert (page["n_rows"], page["n_features"]) == (found.n_rows, len(found.names))
    assert sum(part["rows"] for part in page["classes"]) == found.n_rows
    for panel, shown in zip(result.panels, page["panels"], strict=True):
        assert [v["rows"] for v in shown["values"]] == [entry.n_rows for entry in panel.values]
        assert [t["pairs"] for t in shown["transitions"]] == [t.pairs for t in panel.transitions]
        assert shown["coverage"]["share"] == panel.n_compared / found.n_rows
    assert [row["gain"] for row in page["selection"]["rows"]] == result.selection.gain.tolist()
    assert len(page["audits"]) == len(result.audits)
    assert len(page["limits"]) == 3


def test_bars_lie_on_the_scale(result):
    ranking = page_of(result)["ranking"]
    for row in ranking["rows"]:
        for part in (row["bar"], row["whisker"]):
            if part:
                assert 0 <= part["x"] <= part["x"] + part["width"] <= 100.01
        if row["score"] is not None and row["score"] >= 0:
            assert row["bar"]["x"] == pytest.approx(ranking["zero"], abs=0.02)


def test_bar_lengths_are_in_proportion_to_scores():
    rows = page_of(made("weights"))["ranking"]["rows"]
    per_unit = [row["bar"]["width"] / row["score"] for row in rows]
    assert per_unit == pytest.approx([per_unit[0]] * 3, rel=0.01)
    assert [row["whisker"]["x"] / row["bar"]["x"] if row["bar"]["x"] else 0 for row in rows] == [0, 0, 0]


def test_a_score_below_zero_has_a_bar_to_the_left():
    found = made("weights")
    scores = found.relevance.score.copy()
    scores[0] = -0.02
    ranking = page_of(replace(found, relevance=replace(found.relevance, score=scores)))["ranking"]
    row = ranking["rows"][-1]
    assert row["bar"]["x"] + row["bar"]["width"] == pytest.approx(ranking["zero"], abs=0.02)
    assert row["score_text"] == "−0.020"


def test_shares_of_a_card_are_counts_of_rows():
    found = made("weights")
    card, squares = page_of(found)["together"]["cards"][0], found.squares[0]
    cells = {(c["share"], c["rows"]) for row in card["cells"] for c in row if c["rows"]}
    expected = {
        (int(squares.counts[u, v, 1]) / int(squares.counts[u, v].sum()), int(squares.counts[u, v].sum()))
        for u in range(squares.counts.shape[0])
        for v in range(squares.counts.shape[1])
        if squares.counts[u, v].sum()
    }
    assert cells == expected


def test_the_content_is_plain_data(result):
    page = page_of(result)
    assert page == page_of(result)
    json.dumps(page, allow_nan=False)
    assert all(text.count(OPEN) == text.count(CLOSE) for text in strings(page))


def strings(content):
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for item in content.values():
            yield from strings(item)
    elif isinstance(content, list | tuple):
        for item in content:
            yield from strings(item)


def test_the_page_shows_what_the_content_says(result):
    page, text = page_of(result), words_of(result.html)
    for sentence in (page["verdict"], *page["answer"]["reasons"], *page["limits"], page["ranking"]["about"]):
        assert " ".join(unmarked(sentence).split()) in text
    for row in page["ranking"]["rows"][:20]:
        assert row["score_text"] in text
        assert row["status_text"] in text
    for panel in page["panels"]:
        assert " ".join(unmarked(panel["line"]).split()) in text


def test_the_page_has_its_sections_in_order(result):
    anchors = [a["id"] for tag, a in Elements(result.html).tags if tag == "section"]
    left_out = set() if result.audits else {"audit"}
    left_out |= set() if result.interactions is not None else {"together"}
    assert anchors == [name for name in SECTIONS if name not in left_out]
    assert [anchor for anchor, _ in page_of(result)["contents"]] == anchors


def test_headings_go_down_one_level_at_a_time(result):
    levels = [int(tag[1]) for tag, _ in Elements(result.html).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_refers_to_nothing_outside(result):
    page = Elements(result.html)
    ids = {a["id"] for _, a in page.tags if "id" in a}
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "video", "audio")
        assert not {"src", "srcset", "action", "style", "xlink:href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        if "href" in attributes:
            assert attributes["href"].startswith("#")
            assert attributes["href"][1:] in ids
    assert not re.search(r"https?://", re.sub(r"(?s)<script.*?</script>", "", result.html))
    assert "@import" not in result.html
    assert "url(" not in result.html


def test_ids_are_unique(result):
    ids = [a["id"] for _, a in Elements(result.html).tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_json_inside_is_the_result(result):
    page = Elements(result.html)
    assert len(page.scripts) == 2
    assert json.loads(page.scripts[0]) == result.to_dict()
    assert "<" not in page.scripts[0]


def test_words_of_the_data_are_never_markup():
    text = made("odd words").html
    page = Elements(text)
    assert len(page.scripts) == 2
    assert not [tag for tag, attributes in page.tags if tag == "img" or "onerror" in attributes]
    assert not set(text) & set(FORBIDDEN)
    assert "<script>alert(1)</script>" not in text
    assert "{{" in text  # shown as it is, not computed
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "x" * 200 not in re.sub(r"(?s)<script.*?</script>", "", text).replace("x" * 197 + "...", "")
    assert "שלום עולם" in text
    assert re.search(r"<bdi>שלום עולם[^<]*</bdi>", text)


def test_a_page_is_the_same_every_time():
    frame = odd_frame()
    assert report(frame, ODD[0] + "label").html == report(frame, ODD[0] + "label").html


def test_fifty_features_take_less_than_a_megabyte():
    rng = np.random.default_rng(0)
    words = np.array([f"a value of some length {k}" for k in range(8)])
    frame = pl.DataFrame({f"feature number {k}": words[rng.integers(0, 2 + k % 6, 300)] for k in range(50)})
    frame = frame.with_columns(label=pl.col("feature number 0") == pl.col("feature number 1"))
    found = report(frame, "label")
    assert len(found.panels) == 20
    assert len(found.html.encode()) < 1_000_000


def test_five_hundred_features_stay_legible():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 510))
    found = report(codes, codes[:, 0], confidence=0.9)
    page = page_of(found)
    assert len(page["ranking"]["rows"]) == 500
    assert page["ranking"]["left_out"] == "10 features more, with lower scores, in the JSON below."
    assert "The best 20 of 510 features." in words_of(render(page, "x"))
    assert "Pairs among the 12 best features were looked at: 66 of 129,795." in words_of(render(page, "x"))


def test_disagreements_are_named_with_both_places():
    found = report(load_table("monks-1").to_frame("polars"), "class", weights="count")
    box = page_of(found)["disagreements"]
    head = next(item for item in box["items"] if unmarked(item["feature"]) == "head_shape")
    assert (head["ours"], head["theirs"], head["is_higher"]) == ("1–2", "2–6", True)
    assert unmarked(head["text"]) == (
        "An interaction: what it does depends on body_shape and jacket_color, which no feature shows alone."
    )
    assert "head_shape ↑ 1–2 here, 2–6 by mutual information" in words_of(found.html)


def test_an_audit_shows_crude_beside_matched():
    found = report(load_table("berkeley").to_frame("polars"), "admitted", weights="count", protected="gender")
    (row,) = page_of(found)["audits"][0]["rows"]
    assert (row["difference_text"], row["crude_text"], row["p_text"]) == ("+1.8", "−14.2", ".228")
    assert row["crude_at"] < 50 < row["at"]
    assert "not proof of cause" in words_of(found.html)


def test_the_answer_is_said_with_its_reasons():
    said = {name: page_of(found)["answer"] for name, found in ((name, made(name)) for name in TABLES)}
    assert said["weights"]["word"] == "Yes"
    assert said["nothing to compare"]["word"] == "No"
    assert said["no pairs"]["word"] == "Partly"
    assert any("had to look further" in reason for reason in said["no pairs"]["reasons"])


def test_the_verdict_names_a_change_only_if_its_direction_is_clear():
    assert "'yes' is 49.2 points more frequent for female than for male (+44.3 to +54.1), over 2,201 rows." in unmarked(
        page_of(made("weights"))["verdict"]
    )
    found = made("weights")
    unsure = replace(found.panels[0], change=replace(found.panels[0].change, difference_low=-0.1))
    said = unmarked(page_of(replace(found, panels=(unsure, *found.panels[1:])))["verdict"])
    assert said == "3 of 3 features go with the label beyond noise, all else equal: sex, age and class."
    assert unmarked(page_of(made("no effect"))["verdict"]).startswith("No feature is told from noise among 4 features.")


def test_changes_without_a_direction_are_said_so():
    found = report(load_table("monks-1").to_frame("polars"), "class", weights="count")
    lines = {unmarked(panel["name"]): unmarked(panel["line"]) for panel in page_of(found)["panels"]}
    assert lines["head_shape"] == (
        "octagon → round: '1' is gained in 36 pairs and lost in 36, over 288 rows: which way it goes depends on the"
        " other features."
    )
    assert lines["holding"] == "balloon → flag: '1' does not change in any of 144 pairs, over 288 rows."
    assert lines["jacket_color"] == "blue → red: '1' is 66.7 points more frequent (+57.8 to +75.6), over 216 rows."


@pytest.mark.parametrize(
    ("reason", "others", "said"),
    [
        ("interaction", ("a", "b"), "An interaction: what it does depends on a and b, which no feature shows alone."),
        ("determined", ("a",), "Redundant: a determines it, so no two rows differ on it alone."),
        ("carried", ("a",), "Redundant: what it tells alone, a tells as well."),
        ("carried", tuple("abcde"), "Redundant: what it tells alone is told by a, b, c and 2 more together."),
        (
            "never-compared",
            (),
            "Values never compared: 0 of 6 value pairs; no two rows differ on it alone, while mutual",
        ),
        ("passed", ("a",), "a stands above it because of interactions."),
        ("adds", ("a", "b"), "It adds to a and b what those do not tell."),
        ("shared", (), "3rd → 1st: the label moves by 37.2 points over all rows, and by 30.5 all else equal; other"),
        ("unmasked", (), "all else equal; other features mask part of it."),
        ("unexplained", (), "None of the reasons that were looked for; where intervals overlap, the order is not"),
    ],
)
def test_every_reason_has_words(reason, others, said):
    item = Disagreement("class", 3.0, 2.0, reason, others)
    assert said in unmarked(describe_disagreement(made("weights"), item))


def test_values_that_were_never_compared_are_named():
    rows = [("a", 0), ("b", 0), ("c", 1), ("d", 1), ("a", 0), ("d", 2)]
    found = report(rows, [0, 1, 0, 1, 0, 0], radius=1, feature_names=["letter", "digit"])
    item = Disagreement("letter", 1.0, 2.0, "never-compared")
    assert "4 of 6 value pairs, such as a with d, while" in unmarked(describe_disagreement(found, item))
    coverage = next(p for p in page_of(found)["panels"] if unmarked(p["name"]) == "letter")["coverage"]["said"]
    assert unmarked(coverage[-1]).startswith("Never compared: a with d, ")


def test_every_doubt_has_words():
    copies = [(a, a, b) for a in (0, 1) for b in (0, 1)] * 10
    reasons = page_of(report(copies, [a ^ b for a, _, b in copies], radius=1))["answer"]["reasons"]
    assert any("are determined by other columns, so no two rows differ on one of them alone" in r for r in reasons)
    few = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 2)]
    reasons = page_of(report(few, [0, 1, 0, 1], radius=1))["answer"]["reasons"]
    assert any("no pair of rows to compare: there are not enough rows" in r for r in reasons)
    assert any("nothing shows how much of that is noise" in r for r in reasons)
    leak = [(a, b) for a in (0, 1, 2) for b in (0, 1)] * 20
    reasons = page_of(report(leak, [a for a, _ in leak]))["answer"]["reasons"]
    assert any("alone tells the label nearly always: the answer, or a leak of it?" in unmarked(r) for r in reasons)


def test_without_jinja_the_message_says_what_to_install(monkeypatch, run, tmp_path):
    monkeypatch.setattr(rendering, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r'needs jinja2.*pip install "analogical\[report\]"'):
        _ = made("weights").html
    code, out, err = run("report", "titanic", "--out", tmp_path / "x.html")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "The page needs jinja2, which is not installed." in err
