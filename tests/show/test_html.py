"""HTML of results: one family, scoped, short, and harmless."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from analogical import AnalogicalSelector, evidence, load_table, redundancies
from analogical.show.html import STYLE, render_html
from analogical.show.views import Cell, Heading, Table, View, number_column, tabulate

HEADINGS = (Heading("name", is_text=True), Heading("share"))


def table(n_rows):
    return Table(HEADINGS, tuple((Cell(f"n{k}", "muted"), Cell("0.5", bar=0.5)) for k in range(n_rows)), note="A note.")


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_style_touches_nothing_outside_results():
    rules = re.sub(r"</?style>", "", STYLE).split("}")
    selectors = [selector for rule in rules[:-1] for selector in rule.split("{")[0].split(",")]
    assert all(selector.strip().startswith(".analogical-result") for selector in selectors)
    assert len(STYLE) < 2_000


def test_coloured_text_can_be_read_on_light_and_dark_pages():
    colours = re.findall(r"[; {]color: (#\w{6})", STYLE)
    assert len(colours) == 3
    assert min(contrast(colour, "#ffffff") for colour in colours) >= 4.5
    assert min(contrast(colour, "#111111") for colour in colours) >= 4


def test_numbers_stand_on_the_right_and_bars_follow_them():
    html = render_html(View("Head", tables=(table(1),)))
    assert '<p class="strong">Head</p>' in html
    assert '<th class="text">name</th><th>share</th>' in html
    assert '<td class="text muted">n0</td>' in html
    assert '<td>0.5<span class="bar" style="width:60px"><span style="width:30px"></span></span></td>' in html
    assert '<p class="muted">A note.</p>' in html
    unknown = render_html(View("", tables=(Table(HEADINGS, ((Cell("a"), Cell("-", bar=math.nan)),)),)))
    assert 'style="width:0px"' in unknown
    shaded = render_html(View("", tables=(Table(HEADINGS, ((Cell("a"), Cell("50.0 % of 8", shade=0.5)),)),)))
    assert '<td style="background:rgba(53,118,196,0.20)">50.0 % of 8</td>' in shaded


@pytest.mark.parametrize(("n_rows", "n_shown"), [(60, 60), (61, 50), (5000, 50)])
def test_long_tables_are_shortened(n_rows, n_shown):
    made = tabulate(range(n_rows), [number_column("n", str)])
    assert len(made.rows) == n_shown
    assert (f"... and {n_rows - n_shown:,} more; to_frame() and --json have all" == made.note) == (n_rows > 60)
    assert [row[0].text for row in tabulate(range(n_rows), [number_column("n", str)], most=2).rows] == ["0", "1"]


def test_many_examples_are_shortened():
    html = render_html(View("Head", examples=(table(1),) * 30))
    assert html.count("<table>") == 20
    assert "... and 10 more; to_frame() and --json have all" in html
    rows = [(a, b) for a in range(30) for b in range(2)]
    assert len(evidence(rows, [k % 2 for k in range(60)], 1, limit=None)._repr_html_()) < 20_000
    wide = pd.DataFrame(np.tile(np.random.default_rng(0).integers(0, 2, (40, 1)), (1, 100)).astype(str))
    assert len(redundancies(wide)._repr_html_()) < 20_000


def test_the_answer_comes_first_and_explanations_unfold():
    html = render_html(View("Head", lines=("in <short>",), explanation=("all & more",), notes=("done",)))
    assert "Head</p><p>in &lt;short&gt;</p><details><summary>details</summary><ul><li>all &amp; more</li>" in html
    assert "<li>done</li></ul></details>" in html


@pytest.mark.parametrize("strategy", ["together", "ranking"])
def test_a_fitted_selector_shows_its_result_below_scikit_learn_s_diagram(strategy):
    monks = load_table("monks-1").to_frame("pandas")
    X, y = monks.drop(columns=["class", "count"]), monks["class"].astype(int)
    selector = AnalogicalSelector(k=2, strategy=strategy)
    plain = selector._repr_mimebundle_()
    assert "analogical-result" not in plain["text/html"]
    selector.fit(X, y)
    found = selector.selection_ if strategy == "together" else selector.relevance_
    bundle = selector._repr_mimebundle_()
    assert bundle["text/html"].endswith(found._repr_html_())
    assert "sk-" in bundle["text/html"]
    assert bundle["text/plain"] == plain["text/plain"] == repr(selector)
    with config_context(display="text"):
        assert "text/html" not in selector._repr_mimebundle_()
