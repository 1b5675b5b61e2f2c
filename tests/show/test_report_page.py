"""The page as data and as HTML: numbers equal the result's, nothing from the data is markup, nothing from outside."""

import html as html_library
import json
import math
import re
from dataclasses import asdict, replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from analogical import MissingDependencyError, load_table, report
from analogical.questions.report import Turn
from analogical.show.report import rendering
from analogical.show.report.page import page_of
from analogical.show.report.rendering import render
from analogical.show.report.summary import describe_turn
from analogical.show.words import number, percent

SECTIONS = [
    "answer",
    "ranking",
    "given",
    "same",
    "together",
    "features",
    "audit",
    "unclear",
    "data",
    "paper",
    "limits",
    "made",
]
ODD = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}",
    "</script><b>",
    "שלום עולם",
    "a\u202eb",
    "\x1b[31mred\x00",
    "x" * 1000,
)
FORBIDDEN = "\x00\x1b\x9b\x07\x08\x7f\r\u202e\u2066\u200b\ufe0f\u3164\u2028"


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
    "nothing to compare": lambda: report([(0, 0), (1, 1)], [0, 1], given="all"),
    "given nothing": lambda: report(TITANIC, "survived", weights="count", given=[]),
    "a copy": lambda: report([(a, a, b) for a in (0, 1) for b in (0, 1)] * 10, [0, 0, 1, 1] * 10),
    "many classes": lambda: report(np.column_stack([MANY % 5, MANY % 3]), MANY),
    "numbers and missing": lambda: report(NUMBERS, NUMBERS["x"].to_numpy() > 0),
    "weights": lambda: report(TITANIC, "survived", weights="count", protected=["sex", "class"]),
    "one feature": lambda: report([(0,), (1,), (0,), (1,)] * 9, [0, 1, 0, 0] * 9),
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
    for row, paper, i in zip(rows, page["paper"].rows, order, strict=True):
        if row["size"] is not None:
            assert row["size"] == 100 * math.sqrt(found.effect[i])
        else:
            assert np.isnan(found.effect[i]) or np.isnan(found.noise_rate[i])
        assert row["alone"] == (None if np.isnan(result.alone[i]) else 100 * math.sqrt(result.alone[i]))
        assert row["status_text"].startswith(found.status[i])
        assert row["has_effect"] == (found.status[i] == "effect")
        assert bool(row["direction"]) == (row["has_effect"] and found.points[i] is not None)
        assert paper[1].text == f"{found.ari[i]:.3f}"
    assert (dict(page["facts"])["Rows"], page["n_features"]) == (f"{found.n_rows:,}", len(found.names))
    assert sum(part["rows"] for part in page["classes"]) == found.n_rows
    for panel, shown in zip(result.panels, page["panels"], strict=True):
        assert [v["rows"] for v in shown["values"]] == [entry.n_rows for entry in panel.values]
        transitions = shown["transitions"].rows if shown["transitions"] else []
        assert [row[2].text for row in transitions] == [number(t.pairs) for t in panel.transitions]
        assert ("Rows compared" in dict(shown["numbers"])) == bool(found.compared[found.names.index(panel.feature)])
    if result.selection.features:
        assert page["given"]["table"].rows[-1][2].text == percent(result.selection.explained[-1])
    assert len(page["audits"]) == len(result.audits)
    assert len(page["limits"]) == 3


def test_bars_lie_on_the_scale(result):
    for row in page_of(result)["ranking"]["rows"]:
        for at in (row["bar"], row["alone_at"]):
            assert at is None or 0 <= at <= 100
        if row["whisker"]:
            assert 0 <= row["whisker"]["x"] <= row["whisker"]["x"] + row["whisker"]["width"] <= 100.01
            assert row["whisker"]["x"] - 0.02 <= row["bar"] <= row["whisker"]["end"] + 0.02


def test_bars_are_in_proportion_to_effects():
    rows = page_of(made("weights"))["ranking"]["rows"]
    per_point = [row["bar"] / row["size"] for row in rows]
    assert per_point == pytest.approx([100 / 60] * 3, rel=0.01)
    assert [row["alone_at"] / row["alone"] for row in rows] == pytest.approx(per_point, rel=0.01)


def test_the_pairs_that_were_tested_and_shown_are_counted():
    found = made("weights")
    pairs, columns = found.interactions, found.relevance.feature_columns
    acting = replace(pairs, status=("effect",) * len(pairs))
    together = page_of(replace(found, interactions=acting, together=found.together[:1]))["together"]
    assert together["intro"].endswith("The 1 strongest of 3 pairs are shown.")
    tested = "of features that have an effect or are in the deciding set"
    assert together["tested"] == f"Tested: the 3 pairs {tested}."
    many = replace(found.relevance, feature_columns=tuple(replace(column, n_values=33) for column in columns))
    some = replace(found, interactions=replace(pairs, n_possible=10), together=(), relevance=many)
    assert page_of(some)["together"] == {
        "intro": "No interaction is significant.",
        "cards": [],
        "tested": f"Tested: 3 of 10 pairs {tested}, 3 features with more than 32 values left out.",
    }


def test_shares_of_a_card_are_counts_of_rows():
    found = made("weights")
    card, pair = page_of(found)["together"]["cards"][0], found.together[0]
    cells = {(c.text, round(10 * c.shade)) for row in card["table"].rows for c in row[1:] if c.shade is not None}
    shares, rows = pair.shares("yes"), pair.counts.sum(axis=2)
    expected = {
        (f"{percent(shares[u, v])} of {rows[u, v]:,}", round(10 * shares[u, v]))
        for u in range(pair.counts.shape[0])
        for v in range(pair.counts.shape[1])
        if pair.counts[u, v].sum()
    }
    assert cells == expected


def test_the_content_is_plain_data(result):
    page = page_of(result)
    assert page == page_of(result)
    json.dumps(page, default=asdict)  # tables are those of views


def test_the_page_shows_what_the_content_says(result):
    page, text = page_of(result), words_of(result.html)
    for sentence in (
        page["verdict"],
        *page["answer"]["reasons"],
        *page["limits"],
        page["ranking"]["about"],
        page["given"]["intro"],
    ):
        assert " ".join(sentence.split()) in text
    for row in page["ranking"]["rows"][:20]:
        assert row["size_text"] in text
        assert row["status_text"] in text
    for panel in page["panels"]:
        assert " ".join(panel["line"].split()) in text


def test_the_page_has_its_sections_in_order(result):
    anchors = [a["id"] for tag, a in Elements(result.html).tags if tag == "section"]
    left_out = set() if result.audits else {"audit"}
    has_groups = result.relevance.settings.n_groups is not None
    left_out |= set() if result.interactions is not None or has_groups else {"together"}
    left_out |= {name for name in ("same", "unclear") if not page_of(result)[name]}
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


def test_many_features_stay_legible():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 310))
    found = report(codes, codes[:, 0], confidence=0.9)
    page = page_of(found)
    assert len(page["ranking"]["rows"]) == len(page["paper"].rows) == 300
    assert page["ranking"]["left_out"] == "10 more features in the JSON below."
    assert page["ranking"]["show"] == "Show the best 300"
    assert "The best 20 of 310 features." in words_of(render(page, "x"))


def test_six_hundred_columns_take_less_than_a_megabyte():
    numbers = np.random.default_rng(0).normal(size=(120, 600)).round(3)
    names = [f"sensor_{k:03d}_reading" for k in range(600)]
    frame = pl.DataFrame(numbers, schema=names).with_columns(label=pl.Series(numbers[:, 0] + numbers[:, 1] > 0))
    assert len(report(frame, "label").html.encode()) < 1_000_000


def test_what_one_feature_at_a_time_would_have_said_is_told():
    found = report(load_table("monks-1").to_frame("polars"), "class", weights="count")
    lists = {group["title"]: group["items"] for group in page_of(found)["unclear"]}
    assert lists["Different alone: what a univariate filter would show"][0] == (
        "head_shape: Not significant alone (0 points): its effect depends on body_shape and jacket_color."
    )


def test_features_without_an_effect_are_named_once_with_why():
    page = page_of(report(load_table("monks-1").to_frame("polars"), "class", weights="count"))
    text = " ".join(item for group in page["unclear"][:-1] for item in group["items"])
    assert [text.count(name) for name in ("is_smiling", "holding", "has_tie")] == [1, 1, 1]
    one = page_of(made("numbers and missing"))["unclear"]
    assert {"title": "Constant: one value only", "items": ["one."]} in one


def test_what_is_unclear_is_said_with_p_and_what_is_possible():
    page = page_of(made("no effect"))
    unclear = next(group for group in page["unclear"] if group["title"].startswith("Unclear"))
    assert re.fullmatch(r"x\d: p = \.\d{3}, the interval ends at [\d.]+ points\.", unclear["items"][0])


def test_an_audit_shows_crude_beside_matched():
    found = report(load_table("berkeley").to_frame("polars"), "admitted", weights="count", protected="gender")
    audit = page_of(found)["audits"][0]
    (row,), (chart,) = audit["table"].rows, audit["charts"]
    titles = [heading.title for heading in audit["table"].headings]
    texts = dict(zip(titles, (cell.text for cell in row), strict=True))
    assert (texts["points for 'yes'"], texts["crude"], texts["p"]) == ("+1.8", "-14.2", ".228")
    assert chart["crude"] < 50 < chart["at"]
    assert chart["low"] < 50 < chart["at"] < chart["high"]
    assert "not causes" in words_of(found.html)


def test_rows_without_numbers_are_not_numbered():
    found = made("weights")
    panel = found.panels[0]
    pair = replace(panel.changed_pair, rows=None, index=())
    pages = [page_of(replace(found, panels=(replace(panel, changed_pair=p),))) for p in (panel.changed_pair, pair)]
    numbers = [page["panels"][0]["cards"][0]["rows"] for page in pages]
    assert numbers == [[f"row {name}" for name in panel.changed_pair.index], ["one row", "another row"]]
    assert ["another row" in render(page, "x") for page in pages] == [False, True]


def test_the_answer_is_said_with_its_reasons():
    said = {name: page_of(made(name))["answer"] for name in TABLES}
    assert (said["weights"]["word"], said["weights"]["reasons"]) == ("Yes", ["3 features have a significant effect."])
    assert said["nothing to compare"]["word"] == "No"
    assert said["nothing to compare"]["reasons"][0].startswith("No two rows can be compared for any feature.")
    assert said["a copy"]["word"] == "Partly"
    assert "carries the same information as another feature; no test can distinguish them." in " ".join(
        said["a copy"]["reasons"]
    )


def test_the_verdict_names_a_direction_only_if_it_is_clear():
    found = made("weights")
    said = "3 of 3 features have a significant effect on 'survived'. The largest is that of sex"
    assert page_of(found)["verdict"] == (
        f"{said}: 'yes' is 49 points more frequent with female than with male (+44 to +54)."
    )
    points = tuple(replace(p, low=-1.0) if p.value == "female" else p for p in found.relevance.points)
    unsure = replace(found, relevance=replace(found.relevance, points=points))
    assert page_of(unsure)["verdict"] == f"{said}."
    assert page_of(unsure)["panels"][0]["line"] == (
        "Among rows that agree on class and age, it has an effect, but the direction depends on other features."
    )
    assert page_of(unsure)["ranking"]["rows"][0]["direction"] == "mixed: the direction depends on other features"
    assert page_of(made("no effect"))["verdict"].startswith("None of 4 features has a significant")


def test_lines_say_what_is_given_and_what_all_rows_show():
    lines = {panel["name"]: panel["line"] for panel in page_of(made("weights"))["panels"]}
    assert lines["class"] == (
        "Among rows that agree on sex and age, 'yes' is 14 points less frequent with 3rd than with crew (-18 to -9.7)."
        " Crude difference: +1.3."
    )
    alone = {panel["name"]: panel["line"] for panel in page_of(made("given nothing"))["panels"]}
    assert alone["sex"].startswith("Among all rows, 'yes' is 52 points more frequent with female than with male (")
    copies = [panel["line"] for panel in page_of(made("a copy"))["panels"]]
    assert sum(line.startswith("It carries the same information as x") for line in copies) == 1


def test_what_is_given_is_said():
    said = {name: page_of(made(name))["given"]["intro"] for name in TABLES}
    assert said["weights"] == "Given the deciding set: sex, class and age. It explains 23.3 % of the label."
    assert said["a copy"].startswith("Given the deciding set: x0. It explains")
    assert said["given nothing"].startswith("Given nothing (univariate): all rows are compared")
    assert said["nothing to compare"].startswith("Given all other features")
    assert said["no effect"].startswith("Given nothing: no set of features predicts the label")
    settings = dict(page_of(made("given nothing"))["settings"])
    assert settings["Given"] == "nothing"


def test_copies_are_named_with_what_they_copy():
    same = page_of(made("a copy"))["same"]
    assert same["copies"][0] == "x1 carries the same information as x0."
    assert page_of(made("weights"))["same"] is None


def test_stand_ins_are_named():
    found = made("weights")
    stand_ins = tuple(("age", "class") if name == "sex" else () for name in found.relevance.names)
    doubted = replace(found, relevance=replace(found.relevance, stand_ins=stand_ins))
    assert doubted.doubts() == ("stand-ins",)
    assert page_of(doubted)["same"]["stand_ins"][0] == ("sex could be replaced by age or class.")
    assert "Other features could replace sex" in page_of(doubted)["answer"]["reasons"][1]


@pytest.mark.parametrize(
    ("reason", "others", "said"),
    [
        ("explained", ("age",), "23 points alone; among rows that agree on age, no significant effect remains."),
        ("together", ("a", "b"), "Not significant alone (23 points): its effect depends on a and b."),
        (
            "hidden",
            tuple("abcdefg"),
            "Not significant alone (23 points); among rows that agree on a, b, c, d, e, f and g, the effect is"
            " 16 points.",
        ),
    ],
)
def test_every_reason_has_words(reason, others, said):
    assert describe_turn(made("weights"), Turn("class", reason, others)) == said


def test_every_doubt_has_words():
    found = made("weights")
    few = [replace(panel, n_compared=n) for panel, n in zip(found.panels, (220, 300, 1000), strict=True)]
    unclear = replace(found.relevance, status=("effect", "unclear", "unclear"))
    reasons = page_of(replace(found, panels=tuple(few), relevance=unclear))["answer"]["reasons"]
    assert reasons == [
        "1 feature has a significant effect.",
        "sex and age are unclear: not significant, but not ruled out.",
        "Many rows have no partner: 10.0 % to 45.4 % of all rows are compared, depending on the feature.",
    ]
    leak = [(a, b) for a in (0, 1, 2) for b in (0, 1)] * 20
    reasons = page_of(report(leak, [a for a, _ in leak]))["answer"]["reasons"]
    assert any("alone predicts nearly all labels: is it known before the label?" in r for r in reasons)


def test_without_jinja_the_message_says_what_to_install(monkeypatch, run, tmp_path):
    monkeypatch.setattr(rendering, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r'needs jinja2.*pip install "analogical\[report\]"'):
        _ = made("weights").html
    code, out, err = run("report", "titanic", "--out", tmp_path / "x.html")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "The page needs jinja2, which is not installed." in err
