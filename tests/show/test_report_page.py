"""The page as data and as HTML: numbers equal the result's, nothing from the data is markup, nothing from outside."""

import html as html_library
import json
import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from analogical import MissingDependencyError, load_table, report
from analogical.show import report as page_maker
from analogical.show.report import page_of
from analogical.show.views import View, view_of
from analogical.show.words import Measure, number, p_value, percent, three_digits

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
PRICES = NUMBERS.select("c", "n", price=np.exp(8 + RNG.normal(size=300) + (NUMBERS["n"].to_numpy() > 500)))
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
    "monks": lambda: report(load_table("monks-1").to_frame("polars"), "class", weights="count"),
    "odd words": lambda: report(odd_frame(), ODD[0] + "label", title=ODD[0]),
    "a number": lambda: report(PRICES, "price", scale="number"),
    "logarithms": lambda: report(PRICES, "price", scale="log"),
    "ranks": lambda: report(PRICES, "price", scale="ranks", given=["c"]),
    "classes in order": lambda: report(PRICES, MANY[:300] % 3, ordered=[2, 0, 1]),
}
OF_NUMBERS = ("a number", "logarithms", "ranks", "classes in order")


@cache
def made(name):
    return TABLES[name]()


@pytest.fixture(params=TABLES)
def result(request):
    return made(request.param)


@pytest.fixture(params=[name for name in TABLES if name not in OF_NUMBERS])
def of_classes(request):
    return made(request.param)


def views(found):
    """The views of each section that is shown."""
    return {anchor: made for anchor, made in page_of(found)["views"].items() if made}


def texts(table):
    """The rows of a table as dictionaries of texts."""
    titles = [heading.title for heading in table.headings]
    return [dict(zip(titles, (cell.text for cell in row), strict=True)) for row in table.rows]


def lists(view):
    """The lists of a view: their sentences by title."""
    return {table.title: [row[0].text for row in table.rows] for table in view.tables if not table.has_head}


def charts(table):
    """The marks of each row."""
    (place,) = (k for k, heading in enumerate(table.headings) if heading.axis)
    return table.headings[place].axis, [row[place].chart for row in table.rows]


def test_numbers_on_the_page_are_those_of_the_result(of_classes):
    result = of_classes
    page, found, parts = page_of(result), result.relevance, views(result)
    order = found.order()
    (ranking,), (paper,) = parts["ranking"][0].tables, parts["paper"][0].details
    _, marks = charts(ranking)
    top = float(ranking.headings[1].axis[-1].split()[0])
    assert len(ranking.rows) == len(order)
    for row, of_paper, drawn, i in zip(texts(ranking), texts(paper), marks, order, strict=True):
        assert row["points"] == Measure().text(Measure().size(found.effect[i]))
        assert row["alone"] == Measure().text(Measure().size(result.alone[i]))
        assert row["p adj."] == p_value(found.p_adjusted[i])
        assert row["status"] == found.status[i]
        assert of_paper["ARI"] == f"{found.ari[i]:.3f}"
        expected = [
            Measure().size(x[i]) / top for x in (found.effect, found.effect_low, found.effect_high, result.alone)
        ]
        assert [math.nan if place is None else place for place in drawn] == pytest.approx([0, *expected], nan_ok=True)
    facts = dict(re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", result.html.replace("</div>", "\n")))
    assert facts["Features"] == f"{len(found.names):,}"
    assert f"<dt>Rows</dt><dd>{found.n_rows:,}</dd>" in result.html
    assert sum(part.rows for part in page["classes"]) == found.n_rows
    assert sum(part.share for part in page["classes"]) == pytest.approx(1)
    for panel, view in zip(result.panels, parts["features"], strict=True):
        values, transitions = view.details
        assert [row["Rows"] for row in texts(values)] == [f"{sum(counts):,}" for counts in panel.counts]
        for row, counts in zip(texts(values), panel.counts, strict=True):
            shares = [percent(n / sum(counts)) for n in counts[: len(result.shown_classes)]]
            assert list(row.values())[-len(shares) :] == shares
        assert [row["pairs"] for row in texts(transitions)] == [number(t.pairs) for t in panel.transitions]
        assert bool(view.explanation) == bool(found.compared[found.names.index(panel.feature)])
    if result.selection.features:
        last = texts(parts["given"][0].tables[0])[-1]
        assert last["explained"] == percent(result.selection.explained[-1])
    audits = parts["audit"] if result.audits else ()
    assert [view.headline for view in audits] == [view_of(audit).headline for audit in result.audits]


@pytest.mark.parametrize(("name", "score"), [("a number", float), ("logarithms", np.log), ("ranks", None)])
def test_a_panel_shows_how_a_number_is_spread_over_the_rows_of_a_value(name, score):
    found = made(name)
    prices, values = PRICES["price"].to_numpy(), PRICES["c"].to_list()
    if score is None:  # the share of the rows below, in per cent
        ranked = np.sort(prices)
        score = lambda price: 100 * (np.searchsorted(ranked, price) + 0.5) / 300  # noqa: E731
    (panel,) = (panel for panel in found.panels if panel.feature == "c")
    (view,) = (view for view in views(found)["features"] if view.title == "c")
    assert [heading.title for heading in view.details[0].headings][-1] == "Middle half"
    axis, marks = charts(view.details[0])
    every = [spread for panel in found.panels for spread in panel.spreads] + [found.spread]
    ends = [pick(s.quantiles[k] for s in every) for pick, k in ((min, 0), (max, -1))]
    assert axis == tuple(map(three_digits, ends))
    low, high = map(score, ends)
    for value, spread, mark, row in zip(panel.values, panel.spreads, marks, texts(view.details[0]), strict=True):
        own = np.sort(prices[[known == value for known in values]])
        assert row["Rows"] == f"{len(own)}"
        assert spread.mean == pytest.approx(np.mean([score(price) for price in own]), rel=1e-9)
        expected = [own[math.ceil(share * len(own)) - 1] for share in (0.1, 0.25, 0.5, 0.75, 0.9)]
        assert spread.quantiles == tuple(expected)
        places = [(score(q) - low) / (high - low) for q in spread.quantiles]
        of_mean = (spread.mean - low) / (high - low)
        assert mark == pytest.approx((places[1], places[3], places[0], places[4], of_mean))
        assert row["Middle half"] == f"{three_digits(spread.quantiles[1])} to {three_digits(spread.quantiles[3])}"
    assert found.spread.mean == pytest.approx(np.mean([score(price) for price in prices]), rel=1e-9)


def test_the_page_speaks_of_a_number_in_its_unit():
    text = words_of(made("a number").html)
    assert "Classes" not in text
    assert "points" not in " ".join(page_of(made("a number"))["reasons"])
    assert "difference between two values of the feature in the mean of the label, in its unit" in text
    assert re.search(r"'price' is [\d,]+ higher with [\d,]+ to \d+ than with \d+ to \d+ \(\+[\d,]+ to \+[\d,]+\)", text)
    assert re.search(r"'price' is \d+ % higher", words_of(made("logarithms").html))
    assert re.search(r"'price' is \d+ ranks higher", words_of(made("ranks").html))
    assert "Geometric mean" in words_of(made("logarithms").html)
    assert re.search(r"Crude difference: [+-]\d+ ranks\.", words_of(made("ranks").html))
    audited = words_of(report(PRICES, "price", scale="number", protected=["c"]).html)
    assert "Difference from the reference in the mean of the label, in its unit." in audited


def test_bars_lie_on_the_scale(result):
    axis, marks = charts(views(result)["ranking"][0].tables[0])
    assert axis[0] == "0"
    middle, end = (float(text.split()[0].replace(",", "")) for text in axis[1:])
    assert middle * 2 == end
    for zero, at, low, high, other in marks:
        assert zero == 0
        for place in (at, high, other):
            assert place is None or 0 <= place <= 1
        assert low is None or low - 1e-9 <= at <= high + 1e-9


def test_every_mark_is_drawn_within_its_chart(result):
    for tag, attributes in Elements(result.html).tags:
        if tag == "rect":
            x, width = float(attributes.get("x", 0)), float(attributes["width"])
            assert -0.4 <= x <= x + width <= 101
    ends = re.findall(r'class="whisker" d="M([\d.]+) 9.4h([\d.]+)v', result.html)
    assert all(0 <= float(low) <= float(low) + float(length) <= 100.01 for low, length in ends)


def test_pairs_that_act_together_have_a_table_of_shares():
    found = made("weights")
    first, *cards = views(found)["together"]
    assert first.headline == view_of(found.interactions).headline
    assert first.tables == view_of(found.interactions).tables
    assert first.lines[-1] == (
        "Tested: features that have an effect or are in the deciding set, with at most 32 values."
    )
    assert len(cards) == len(found.together)
    some = replace(found, together=())
    assert views(some)["together"] == [first]


def test_shares_of_a_card_are_counts_of_rows():
    found = made("weights")
    card, squares = views(found)["together"][1], found.together[0]
    (table,) = card.tables
    cells = {(c.text, round(10 * c.shade)) for row in table.rows for c in row[1:] if c.shade is not None}
    shares, rows = squares.shares("yes"), squares.counts.sum(axis=2)
    expected = {
        (f"{percent(shares[u, v])} of {rows[u, v]:,}", round(10 * shares[u, v]))
        for u in range(squares.counts.shape[0])
        for v in range(squares.counts.shape[1])
        if squares.counts[u, v].sum()
    }
    assert cells == expected
    assert table.title == "Share of 'yes' over all rows"


def test_the_content_is_a_list_of_views(result):
    for section in page_of(result)["views"].values():
        assert all(isinstance(view, View) for view in section)
        assert all(len(view.lines) <= 3 for view in section)


def test_the_page_shows_what_the_views_say(result):
    page, text = page_of(result), words_of(result.html)
    said = [page["verdict"], *page["reasons"]]
    for section in page["views"].values():
        for view in section:
            said += [view.title, view.headline, *view.lines, *view.explanation]
            for table in (*view.tables, *view.details, *view.examples):
                said += [table.title, table.note]
                said += [cell.text for row in table.rows[:20] for cell in row if len(cell.text) < 60]
    assert [sentence for sentence in said if " ".join(sentence.split()) not in text] == []


def test_the_page_has_its_sections_in_order(result):
    anchors = [a["id"] for tag, a in Elements(result.html).tags if tag == "section"]
    left_out = set() if result.audits else {"audit"}
    has_groups = result.relevance.settings.n_groups is not None
    left_out |= set() if result.interactions is not None or has_groups else {"together"}
    left_out |= {name for name in ("same", "unclear", "paper") if name not in views(result)}
    assert anchors == [name for name in SECTIONS if name not in left_out]
    links = re.findall(r'<li><a href="#(\w+)">', result.html)
    assert links == anchors


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
    parts = views(found)
    (ranking,), (paper,) = parts["ranking"][0].tables, parts["paper"][0].details
    assert (len(ranking.rows), len(paper.rows)) == (300, 50)
    assert ranking.note == "... and 10 more; to_frame() and --json have all"
    assert "The best 20 of 310 features." in words_of(found.html)
    assert "... and 10 more; the JSON below has all" in words_of(found.html)
    assert "to_frame()" not in words_of(re.sub(r"(?s)<section id=.data.*?</section>", "", found.html))


def test_six_hundred_columns_take_less_than_a_megabyte():
    numbers = np.random.default_rng(0).normal(size=(120, 600)).round(3)
    names = [f"sensor_{k:03d}_reading" for k in range(600)]
    frame = pl.DataFrame(numbers, schema=names).with_columns(label=pl.Series(numbers[:, 0] + numbers[:, 1] > 0))
    assert len(report(frame, "label").html.encode()) < 1_000_000


def alone_of(found):
    """What the page says about features with another status alone."""
    return lists(views(found)["unclear"][0])["Different alone: what a univariate filter would show"]


def test_what_one_feature_at_a_time_would_have_said_is_told():
    assert alone_of(made("monks"))[0] == (
        "head_shape: Not significant alone (0 points): its effect depends on body_shape and jacket_color."
    )
    rng = np.random.default_rng(0)
    rain = rng.integers(0, 2, 1000)
    codes = np.column_stack([rain, rain ^ (rng.random(1000) < 0.2)])
    found = report(codes, rain ^ (rng.random(1000) < 0.1), feature_names=["rain", "umbrella"])
    (said,) = alone_of(found)
    assert re.fullmatch(
        r"umbrella: \d+ points alone; among rows that agree on rain, no( significant)? effect remains.", said
    )


def test_what_others_hide_is_told():
    """The treated are ill more often, and get well more often: over all rows the two cancel."""
    cells = [(0, 0, 40, 160), (0, 1, 10, 90), (1, 0, 60, 40), (1, 1, 80, 120)]  # ill, treated, rows with 0 and with 1
    rows = [(ill, treated) for ill, treated, *n in cells for _ in range(sum(n))]
    labels = [label for *_, zeros, ones in cells for label in [0] * zeros + [1] * ones]
    found = report(rows, labels, feature_names=["ill", "treated"])
    assert alone_of(found) == [
        "treated: Not significant alone (0 points); among rows that agree on ill, the effect is 15 points."
    ]


def test_features_without_an_effect_are_named_once_with_why():
    said = lists(views(made("monks"))["unclear"][0])[""]
    (sentence,) = (text for text in said if text.startswith("none: not significant, and the interval ends at or below"))
    assert [sentence.count(name) for name in ("is_smiling", "holding", "has_tie")] == [1, 1, 1]
    said = lists(views(made("numbers and missing"))["unclear"][0])[""]
    assert "constant: one value only (one)." in said


def test_what_is_unclear_is_said():
    said = lists(views(made("no effect"))["unclear"][0])[""]
    assert any(text.startswith("unclear: not significant, but an effect of 14 points or more is not") for text in said)


def test_an_audit_shows_crude_beside_adjusted():
    found = report(load_table("berkeley").to_frame("polars"), "admitted", weights="count", protected="gender")
    (view,) = views(found)["audit"]
    ((row,), (axis, (marks,))) = texts(view.tables[0]), charts(view.tables[0])
    assert view.title == "gender"
    assert (row["points for 'yes'"], row["crude"], row["p"]) == ("+1.8", "-14.2", ".228")
    assert axis == ("−20", "0", "+20")
    assert marks.other < marks.zero == 0.5 < marks.at
    assert marks.low < 0.5 < marks.at < marks.high
    assert "not causes" in words_of(found.html)


def test_rows_without_numbers_are_not_numbered():
    found = made("weights")
    panel = found.panels[0]
    named = panel.examples[0]
    pairs = [named, replace(named, rows=None, index=())]
    pages = [replace(found, panels=(replace(panel, examples=(pair,)),)) for pair in pairs]
    heads = [[h.title for h in views(p)["features"][0].examples[0].headings] for p in pages]
    assert heads == [["", *(f"row {name}" for name in named.index)], ["", "one row", "another row"]]
    assert ["another row" in page.html for page in pages] == [False, True]


def test_example_rows_show_the_values_the_labels_and_what_they_share():
    changed, kept = views(made("weights"))["features"][0].examples
    assert (changed.title, kept.title) == ("Changed: the labels differ", "Unchanged: the labels are the same")
    assert [[cell.text for cell in row] for row in changed.rows] == [
        ["sex", "male", "female"],
        ["survived", "no", "yes"],
        ["class", "3rd", "3rd"],
        ["age", "adult", "adult"],
    ]
    assert re.fullmatch(r"These two rows represent [\d,]+ pairs\.", changed.note)


def test_the_answer_is_said_with_its_reasons():
    said = {name: page_of(made(name)) for name in TABLES}
    badges = {name: re.findall(r'"badge (\w+)">(\w+)<', made(name).html) for name in TABLES}
    assert said["weights"]["reasons"] == ["3 features have a significant effect."]
    assert badges["weights"] == [("yes", "Yes")]
    assert badges["nothing to compare"] == [("no", "No")]
    assert said["nothing to compare"]["reasons"][0].startswith("No two rows can be compared for any feature.")
    assert badges["a copy"] == [("partly", "Partly")]
    assert "carries the same information as another feature; no test can distinguish them." in " ".join(
        said["a copy"]["reasons"]
    )


def test_the_verdict_names_a_direction_only_if_it_is_clear():
    found = made("weights")
    said = "3 of 3 features have a significant effect on 'survived'. The largest is that of sex"
    assert page_of(found)["verdict"] == (
        f"{said}: 'yes' is 49 points more frequent with female than with male (+44 to +54)."
    )
    directions = tuple(replace(d, low=-1.0) if d.value == "female" else d for d in found.relevance.direction)
    unsure = replace(found, relevance=replace(found.relevance, direction=directions))
    assert page_of(unsure)["verdict"] == f"{said}."
    parts = views(unsure)
    assert parts["features"][0].headline == (
        "Among rows that agree on class and age, it has an effect, but the direction depends on other features."
    )
    assert texts(parts["ranking"][0].tables[0])[0]["share of 'yes'"] == "mixed"
    assert parts["ranking"][0].lines[-1] == "mixed: the direction depends on other features (sex)."
    assert page_of(made("no effect"))["verdict"].startswith("None of 4 features has a significant")


def test_lines_say_what_is_given_and_what_all_rows_show():
    lines = {view.title: view.headline for view in views(made("weights"))["features"]}
    assert lines["class"] == (
        "Among rows that agree on sex and age, 'yes' is 14 points less frequent with 3rd than with crew (-19 to -8.8)."
        " Crude difference: +1.3 points."
    )
    alone = {view.title: view.headline for view in views(made("given nothing"))["features"]}
    assert alone["sex"].startswith("Among all rows, 'yes' is 52 points more frequent with female than with male (")
    copies = [view.headline for view in views(made("a copy"))["features"]]
    assert sum(line.startswith("It carries the same information as x") for line in copies) == 1


def test_a_panel_says_how_many_rows_and_pairs_are_compared():
    found = made("weights")
    n_pairs = found.relevance["sex"]["compared"]
    assert views(found)["features"][0].explanation == (f"Compared: 2,201 rows (100.0 % of all) in {n_pairs:,} pairs.",)


def test_what_is_given_is_said():
    said = {name: views(made(name))["ranking"][0].lines[0] for name in TABLES}
    assert said["weights"] == "Given the deciding set: sex, class and age. It explains 29.0 % of the label."
    assert said["a copy"].startswith("Given the deciding set: x0. It explains")
    assert said["given nothing"].startswith("Given nothing (univariate): all rows are compared")
    assert said["nothing to compare"].startswith("Given all other features")
    assert said["no effect"].startswith("Given nothing: no set of features predicts the label")
    assert "<dt>Given</dt><dd>nothing</dd>" in made("given nothing").html
    assert "The deciding set would be:" in words_of(made("given nothing").html)
    assert "The deciding set would be:" not in words_of(made("weights").html)


def test_copies_are_named_with_what_they_copy():
    parts = views(made("a copy"))
    assert "same as x0" in [cell.text for row in parts["ranking"][0].tables[0].rows for cell in row]
    assert parts["features"][-1].about == ("same as x0",)
    assert any("same information as x0" in cell.text for row in parts["same"][0].tables[0].rows for cell in row)
    assert "same" not in views(made("weights"))


def test_every_doubt_has_words():
    found = made("weights")
    few = [replace(panel, n_compared=n) for panel, n in zip(found.panels, (220, 300, 1000), strict=True)]
    unclear = replace(found.relevance, status=("effect", "unclear", "unclear"))
    reasons = page_of(replace(found, panels=tuple(few), relevance=unclear))["reasons"]
    assert reasons == [
        "1 feature has a significant effect.",
        "sex and age are unclear: not significant, but not ruled out.",
        "Many rows have no partner: 10.0 % to 45.4 % of all rows are compared, depending on the feature.",
    ]
    leak = [(a, b) for a in (0, 1, 2) for b in (0, 1)] * 20
    reasons = page_of(report(leak, [a for a, _ in leak]))["reasons"]
    assert any("alone predicts nearly all labels: is it known before the label?" in r for r in reasons)


def test_without_jinja_the_message_says_what_to_install(monkeypatch, run, tmp_path):
    monkeypatch.setattr(page_maker, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r'needs jinja2.*pip install "analogical\[report\]"'):
        _ = made("weights").html
    code, out, err = run("report", "titanic", "--out", tmp_path / "x.html")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "The page needs jinja2, which is not installed." in err
