"""Figures: what is drawn, read off the axes."""

import dataclasses
import re
import sys
import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from analogical import (
    InputError,
    Study,
    audit,
    compare,
    evidence,
    interactions,
    load_table,
    redundancies,
    relevance,
    select,
    transitions,
)
from analogical.plot import plot_forest, save_figure
from analogical.plot.canvas import COLOURS, plain_text

ROWS = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def segments_of(ax):
    """Left and right end of every horizontal line."""
    return [tuple(lines.get_segments()[0][:, 0]) for lines in ax.collections]


def test_figures_join_pyplot_where_it_is_used_and_in_notebooks(monkeypatch):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    result = relevance(ROWS, [a for a, b, c in ROWS])
    assert result.plot().figure.number in plt.get_fignums()
    monkeypatch.setattr(mpl, "pyplot", plt)  # put back afterwards, with the module
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    assert not hasattr(result.plot().figure, "number")  # as on the command line
    assert "matplotlib.pyplot" not in sys.modules
    notebook = SimpleNamespace(get_ipython=lambda: None, version_info=(9, 0))
    monkeypatch.setitem(sys.modules, "IPython", notebook)  # imported, but not running
    assert not hasattr(result.plot().figure, "number")
    notebook.get_ipython = lambda: SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))
    assert result.plot().figure.number in plt.get_fignums()


def test_drawing_undoes_its_own_settings_only():
    import matplotlib as mpl

    before = mpl.rcParams["text.parse_math"], mpl.is_interactive()
    try:
        with plain_text():
            mpl.rcParams["interactive"] = True  # as backends do when the first figure is made
            assert not mpl.rcParams["text.parse_math"]
        assert (mpl.rcParams["text.parse_math"], mpl.is_interactive()) == (before[0], True)
    finally:
        mpl.rcParams["interactive"] = before[1]


def test_interactions_are_bars_in_points_with_intervals_and_p_values():
    rows = ROWS * 10
    result = interactions(rows, [a & b for a, b, c in rows], feature_names=["a", "b", "c"])
    ax = result.plot()
    assert names_of(ax) == ["a × b", "a × c", "b × c"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([100, 0, 0])  # twice the root of 1/4
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [COLOURS.effect, COLOURS.neutral, COLOURS.neutral]
    assert [segments_of(ax)[0][0], segments_of(ax)[0][1]] == pytest.approx(
        [200 * result.effect_low[0] ** 0.5, 200 * result.effect_high[0] ** 0.5]
    )
    assert texts_of(ax)[0] == "p < .001"
    assert ax.get_title(loc="left") == "Interactions for y"
    assert_readable(ax)


def test_interactions_show_the_index_where_nothing_else_is_known():
    ax = interactions(ROWS, [a ^ b for a, b, c in ROWS], given="all").plot()
    assert texts_of(ax) == ["index 1.00", "index 0.00", "index 0.00"]
    assert "–" in texts_of(interactions([(0, 0), (0, 1), (1, 0)], [0, 1, 1]).plot())
    copied = [(a, b, a) for a, b, c in ROWS * 5]
    assert "copy of x0" in texts_of(interactions(copied, [a ^ b for a, b, c in copied]).plot())


def test_both_names_of_a_pair_can_be_read():
    names = ["number_of_loans_before_2020", "date_of_the_first_screening"]
    ax = interactions([row[:2] for row in ROWS], [a ^ b for a, b, c in ROWS], feature_names=names).plot()
    assert names_of(ax) == ["number…_2020 × date_o…ening"]


def test_the_first_20_of_many_interactions_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 14))
    found = interactions(X, X[:, 2] ^ X[:, 9] ^ (rng.random(500) < 0.1))
    ax = found.plot()
    assert names_of(ax)[0] == "x2 × x9"
    assert len(names_of(ax)) == 20
    assert "and 71 more" in texts_of(ax)
    assert "and 88 more" in texts_of(found.plot(top=3))
    assert_readable(ax)


def test_a_card_shows_shares_and_rows():
    rows = [("off", "out"), ("on", "out"), ("off", "in"), ("on", "in"), ("on", "in")]
    labels = ["dark", "dark", "dark", "light", "dark"]
    result = interactions(rows, labels, feature_names=["switch", "fuse"])["switch", "fuse"]
    ax = result.plot()
    assert texts_of(ax) == ["0 %\n1 row", "0 %\n1 row", "0 %\n1 row", "50 %\n2 rows"]
    assert ax.get_title(loc="left") == "Share of y = light"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("switch", "fuse")
    assert texts_of(result.plot(label="dark"))[0] == "100 %\n1 row"
    with pytest.raises(InputError, match="There is no class 'red' in the result"):
        result.plot(label="red")
    turned = interactions([(value, "on") for value in "abc"] + [("a", "off")], [0, 1, 1, 0])["x0", "x1"].plot()
    assert (turned.get_xlabel(), turned.get_ylabel()) == ("x1", "x0")  # fewer values across, as in the printed table
    missing = interactions([("a", "x"), ("b", "x"), ("a", "y")], [0, 1, 1])["x0", "x1"]
    assert texts_of(missing.plot())[-1] == "no rows"


def test_only_the_most_frequent_values_fit_on_a_card():
    rng = np.random.default_rng(0)
    ax = interactions(rng.integers(0, [15, 2], size=(300, 2)), rng.integers(0, 2, 300))["x0", "x1"].plot()
    assert len(texts_of(ax)) == 24


# ---------------------------------------------------------------- one row per feature

HOSTILE = ["$x^2$", r"$\frac{$", "\x1b[31m", "a\nb", "x" * 1000, "", "_", "[red]"]


@cache
def wide(n_features, n_rows=200):
    """The label depends on the first two of many features, but for noise."""
    rng = np.random.default_rng(n_features)
    X = rng.integers(0, 3, (n_rows, n_features))
    y = (X[:, 0] + X[:, 1] >= 2) ^ (rng.random(n_rows) < 0.1)
    names = [f"number_of_loans_in_the_last_twelve_months_{i}" for i in range(n_features)]
    return relevance(X, y, feature_names=names)


@cache
def titanic(**options):
    return relevance(load_table("titanic").to_frame(), "survived", weights="count", **options)


def names_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def every_text(ax):
    return [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts, ax.title, ax._left_title, ax.xaxis.label]


def assert_readable(ax, most=20):
    """Not too many rows, a figure that fits a page, nothing cut off, and no formula made from a name."""
    assert len(ax.get_yticks()) <= most
    width, height = ax.figure.get_size_inches()
    assert 4 <= width <= 12
    assert 1.5 <= height <= 12.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters that the font lacks
        ax.figure.draw_without_rendering()
        page, drawn = ax.figure.bbox, ax.figure.get_tightbbox().transformed(ax.figure.dpi_scale_trans)
    assert drawn.x0 >= page.x0 - 1
    assert drawn.x1 <= page.x1 + 1
    assert drawn.y0 >= page.y0 - 1
    assert drawn.y1 <= page.y1 + 1
    assert not any(text.get_parse_math() or text.get_usetex() for text in every_text(ax) if text.get_text())
    assert len(ax.figure.legends) + (ax.get_legend() is not None) <= 1


def test_bars_are_the_effects_best_first_with_intervals_and_points():
    result = titanic()
    ax = result.plot()
    assert names_of(ax) == result.ranking()
    points = [
        100 * np.sqrt(effect[result.order()]) for effect in (result.effect, result.effect_low, result.effect_high)
    ]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], points[0])
    np.testing.assert_allclose(segments_of(ax), np.transpose(points[1:]))
    assert ax.get_title(loc="left") == "Effects on survived"
    assert " ".join(ax.get_xlabel().split()) == (
        "size in percentage points (root of the effect), with 95 % interval; right: size, and direction for yes"
    )
    assert texts_of(ax) == [
        "49   female: +49 (44 to 54)",
        "24   child: +19 (9.8 to 29)",
        "16   3rd: -14 (-19 to -8.8)",
    ]
    assert_readable(ax)


@pytest.mark.parametrize("n_features", [3, 20, 300])
def test_a_figure_fits_any_number_of_features(n_features):
    result = wide(n_features)
    ax = result.plot()
    assert_readable(ax)
    shown = names_of(ax)
    assert len(shown) == min(n_features, 20)
    assert len(set(shown)) == len(shown)  # cut in the middle, so that they differ
    assert all(len(name) <= 28 for name in shown)
    assert ("and 280 more" in texts_of(ax)) == (n_features == 300)
    assert names_of(result.plot(top=2)) == names_of(result.plot())[:2]


def test_colours_say_what_is_significant():
    result = wide(20)
    ax = result.plot()
    expected = [COLOURS.effect if result.status[i] == "effect" else COLOURS.neutral for i in result.order()]
    assert {COLOURS.effect, COLOURS.neutral} <= set(expected)
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == expected
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["significant", "not significant"]


def test_what_has_no_size_or_direction_is_said_beside_the_bar():
    monks = load_table("monks-1").to_frame("pandas").drop(columns="count")
    monks["copy"], monks["one"] = monks["jacket_color"], 1
    said = dict(zip(*(f(relevance(monks, "class").plot()) for f in (names_of, texts_of)), strict=True))
    assert said["head_shape"] == "71   mixed direction"
    assert said["copy"] == "same as jacket_color"
    assert said["one"] == "–"
    paper = relevance(monks.drop(columns=["copy", "one"]), "class", given="all").plot()
    said = dict(zip(names_of(paper), texts_of(paper), strict=True))
    assert said["head_shape"] == "71"


def test_a_wide_interval_does_not_make_all_bars_tiny():
    result = titanic()
    wide_one = dataclasses.replace(result, effect=result.effect / 4, effect_high=np.array([0.9, 0.9, 0.9]))
    ax = wide_one.plot()
    assert ax.get_xlim() == pytest.approx((0, 100 * result.effect.max() ** 0.5 * 1.03))  # twice the largest bar
    assert max(right for _, right in segments_of(ax)) <= ax.get_xlim()[1]
    caps = [line.get_xdata() for line in ax.lines if line.get_marker() == "|"]
    assert [len(ends) for ends in caps] == [1, 1, 1]  # the other end is beyond the axis
    tiny = dataclasses.replace(result, effect=result.effect / 1e4, effect_high=result.effect_high / 1e4)
    assert tiny.plot().get_xlim() == pytest.approx((0, 10.3))


@pytest.mark.parametrize(
    ("unit", "scale", "said", "beside"),
    [
        (12_400, "number", "the unit of price", r"[\d,]{6,}   b: -[\d,]{6,} \(-[\d,]{6,} to -[\d,]{6,}\)"),
        (0.0031, "number", "the unit of price", r"0\.00\d+   b: -0\.00\d+ \(-0\.00\d+ to -0\.00\d+\)"),
        (1.0, "log", "per cent", r"\d\d   b: -\d\d \(-\d\d to -\d\d\)"),
        (1.0, "ranks", "ranks", r"\d\d   b: -\d\d \(-\d\d to -\d\d\)"),
    ],
)
def test_sizes_of_a_number_are_in_its_unit(unit, scale, said, beside):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.choice(["a", "b"], 400, p=[0.6, 0.4]), "z": rng.integers(0, 3, 400)})
    prices = pd.Series(unit * (5 + (frame["x"] == "a") + 0.3 * rng.normal(size=400)), name="price")
    result = relevance(frame, prices, scale=scale)
    ax = result.plot()
    assert ax.get_xlabel().replace("\n", " ").startswith(f"size in {said} (root of the effect)")
    assert re.fullmatch(beside, texts_of(ax)[0])
    sizes = np.sqrt(result.effect[result.order()])
    lengths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(lengths, 100 * np.expm1(sizes) if scale == "log" else sizes)
    assert 0.25 < lengths[0] / ax.get_xlim()[1] < 1
    assert_readable(ax)


def test_names_of_the_data_never_become_formulas(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 8)), rng.integers(0, 2, 60)
    result = relevance(X, y, feature_names=HOSTILE)
    own = Figure().subplots()
    own.set_title("$before$", loc="left")
    own.set_yticks([0, 1], ["$a$", "$b$"])
    for ax in (result.plot(), result.plot(own)):
        assert set(names_of(ax)) == {
            "$x^2$",
            r"$\frac{$",
            r"\x1b[31m",
            r"a\nb",
            "x" * 14 + "…" + "x" * 13,
            "",
            "_",
            "[red]",
        }
        assert not any(text.get_parse_math() for text in every_text(ax) if text.get_text())
        save_figure(ax.figure, tmp_path / "odd.png")
    table = [(value, k) for value in HOSTILE for k in (0, 1)] * 3
    labels = [f"${k % 3}$" for k in range(len(table))]
    odd = {"feature_names": ["$f$", "$g$"]}
    for ax in (
        audit(table, labels, 0, **odd).plot(),
        transitions(table, labels, 0, **odd).plot(),
        plot_forest(audit(table, labels, 0, **odd), audit(table, labels, 1, **odd)),
        evidence(table, labels, 0, **odd).plot(),
        redundancies([(*row, row[0]) for row in table], feature_names=["$f$", "$g$", "$h$"]).plot(),
        interactions(table, labels, **odd).plot(),
        compare(table, labels, methods=["ari"], **odd).plot(),
        select(table, labels, 2, **odd).plot(),
    ):
        assert_readable(ax, most=40)
    save_figure(ax.figure, tmp_path / "odd.svg")


def test_near_copies_are_drawn_with_what_they_leave_open():
    rng = np.random.default_rng(0)
    minutes = rng.gamma(20, 10, 1_000)
    found = redundancies(np.column_stack([minutes, (0.045 * minutes).round(1)]), feature_names=["minutes", "charge"])
    ax = found.plot()
    (near,) = found.near_copies
    assert names_of(ax) == ["charge"]
    assert texts_of(ax) == [f"minutes leaves {100 * near.left:.1f} % open"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([100 * (1 - near.left)])
    assert "of near-copies: share of the entropy that is not left open" in " ".join(ax.get_xlabel().split())
    assert_readable(ax)


def test_a_selection_shows_what_each_feature_added():
    found = select(load_table("monks-1").to_frame().drop(columns="count"), "class", 5)
    ax = found.plot()
    first, second, *rest = names_of(ax)
    assert (first, second, rest) == ("jacket_color", "body_shape × head_shape", list(found.features[3:]))
    explained, adds = found.explained[[0, 2, 3, 4]], [found.adds[0], found.adds[1:3].sum(), *found.adds[3:]]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(np.maximum(100 * np.array(adds), 0.0).tolist())
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [
        COLOURS.effect,
        COLOURS.changed,
        COLOURS.neutral,
        COLOURS.neutral,
    ]
    assert texts_of(ax) == [f"{100 * share:.1f} %" for share in explained]
    assert_readable(ax)


def test_an_empty_selection_says_so():
    rng = np.random.default_rng(3)
    found = select(rng.integers(0, 2, (100, 3)), rng.integers(0, 2, 100))
    assert found.features == ()
    ax = found.plot()
    assert texts_of(ax) == ["No feature was selected."]
    assert_readable(ax)


# ---------------------------------------------------------------- one feature


def test_an_audit_of_two_values_shows_matched_crude_and_contexts():
    result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    (found,) = result.differences
    ax = result.plot()
    assert names_of(ax) == ["adjusted", "crude (all rows)", *(f"department={d}" for d in "CDFAEB")]
    matched, crude = (line for line in ax.lines if len(line.get_xdata()) == 1)
    assert (matched.get_xdata()[0], crude.get_xdata()[0]) == (100 * found.difference, 100 * found.crude)
    assert matched.get_markerfacecolor() == COLOURS.neutral
    contexts = ax.collections[-1]
    assert contexts.get_offsets()[:, 0].tolist() == [100 * c.difference for c in result.contexts]
    assert result.contexts[3].context == (("department", "A"),)
    assert (result.contexts[3].rows, result.contexts[3].with_label) == ((825, 108), (512, 89))
    assert " ".join(ax.get_xlabel().split()) == (
        "difference in the share of yes between female and male, in percentage points, with 95 % interval"
    )
    assert texts_of(ax)[:3] == ["+1.8 (-1.1 to 4.7)", "-14.2", "-2.9  593 vs. 325 rows"]
    assert ax.get_title(loc="left") == "admitted by gender, given department"
    assert_readable(ax)


def test_contexts_of_an_audit_are_those_of_the_rows():
    frame = load_table("titanic").to_frame("pandas")
    result = audit(frame, "survived", "class", given="all", weights="count")
    for found in result.contexts:
        rows = frame
        for name, value in found.context:
            rows = rows[rows[name] == value]
        for side, value in enumerate(found.values):
            mine = rows[rows["class"] == value]
            assert found.rows[side] == mine["count"].sum()
            assert found.with_label[side] == mine.loc[mine["survived"] == found.label, "count"].sum()
        assert found.pairs == found.rows[0] * found.rows[1] > 0
    sums = {}
    for found in result.contexts:
        sums[found.values[1]] = sums.get(found.values[1], 0) + found.pairs
    assert sums == {d.values[1]: d.pairs for d in result.differences}
    assert result.to_dict()["contexts"][0]["context"] == dict(result.contexts[0].context)


def test_an_audit_of_many_values_shows_the_largest_and_one_on_request():
    result = audit(load_table("titanic").to_frame(), "survived", "class", weights="count")
    ax = result.plot()
    assert names_of(ax) == ["1st", "3rd", "2nd"]
    assert "crew" in ax.get_xlabel()
    assert_readable(ax)
    one = result.plot(value="2nd")
    assert names_of(one)[:2] == ["adjusted", "crude (all rows)"]
    assert one.get_title(loc="left") == "survived by class: 2nd"
    with pytest.raises(InputError, match="There is no value '4th' in the result"):
        result.plot(value="4th")
    with pytest.raises(InputError, match="There is no label 'maybe' in the result"):
        result.plot(label="maybe")
    rng = np.random.default_rng(1)
    many = audit(rng.integers(0, 40, (2000, 1)), rng.integers(0, 3, 2000), 0)
    ax = many.plot()
    assert_readable(ax)
    assert "and 97 more" in texts_of(ax)
    assert ": " in names_of(ax)[0]
    with pytest.raises(InputError, match="No two rows could be compared, so there is no difference to draw for 'x0'"):
        audit([(0, 0), (1, 1)], [0, 1], 0, given="all").plot()


def test_long_values_and_many_contexts_fit_an_audit():
    rng = np.random.default_rng(2)
    words = [f"a rather long value of a column, number {k}" for k in range(30)]
    rows = [(words[a], words[b], words[c]) for a, b, c in rng.integers(0, [2, 30, 30], (3000, 3))]
    names = ["the feature that is audited, with a long name", "education of the person", "status of the person"]
    result = audit(rows, rng.choice(words[:2], 3000), 0, given="all", feature_names=names)
    ax = result.plot()
    assert_readable(ax)
    assert len(names_of(ax)) == 20
    assert any(text.startswith("and ") and text.endswith(" more") for text in texts_of(ax))
    several = audit(rows, rng.choice(words[:5], 3000), 1, given=names[:1], feature_names=names)
    assert_readable(several.plot())
    found = transitions([row[:1] for row in rows] + [(words[9],)], [*rng.choice(words[:2], 3000), words[0]], 0)
    ax = found.plot()
    assert_readable(ax)
    assert len(set(names_of(ax))) == 3


def test_a_forest_plot_has_every_value_against_the_reference():
    study = Study(load_table("titanic").to_frame(), "survived", weights="count")
    audits = [audit(study, feature=name) for name in ("class", "sex")]
    ax = plot_forest(*audits)
    assert names_of(ax) == [
        "class (reference: crew)",
        "   1st",
        "   3rd",
        "   2nd",
        "sex (reference: male)",
        "   female",
    ]
    drawn = [d for found in audits for d in sorted(found.differences, key=lambda d: -d.difference)]
    expected = [(100 * d.difference_low, 100 * d.difference_high) for d in drawn]
    np.testing.assert_allclose(segments_of(ax), expected)
    marks = {shape: [line.get_xdata()[0] for line in ax.lines if line.get_marker() == shape] for shape in "sD"}
    assert marks == {"s": [100 * d.difference for d in drawn], "D": [100 * d.crude for d in drawn]}
    assert {line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "s"} == {COLOURS.effect}
    assert texts_of(ax)[1] == "+10.3 (3.5 to 17.1)   p = .001"
    assert texts_of(ax)[0] == ""
    assert ax.get_title(loc="left") == "survived = yes: adjusted differences"
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold", "normal", "normal", "normal", "bold", "normal"]
    assert_readable(ax)


def test_a_forest_plot_of_very_many_values_shows_the_largest_differences():
    rng = np.random.default_rng(1)
    rows, labels = rng.integers(0, 40, (2000, 2)), rng.integers(0, 2, 2000)
    audits = [audit(rows, labels, feature, given=[]) for feature in (0, 1)]
    ax = plot_forest(*audits)
    assert len(names_of(ax)) == 40
    assert "and 40 more" in texts_of(ax)  # 2 names and 78 differences
    sizes = sorted((abs(d.difference) for found in audits for d in found.differences), reverse=True)
    drawn = [abs(line.get_xdata()[0]) / 100 for line in ax.lines if line.get_marker() == "s"]
    assert sorted(drawn, reverse=True) == pytest.approx(sizes[:38])
    lonely = audit([(0, 0), (1, 1)], [0, 1], 0, given="all")
    assert names_of(plot_forest(lonely, audits[0]))[0].startswith("x0")
    with pytest.raises(InputError, match="There is no difference to draw for 'x0': no two rows could be compared"):
        plot_forest(lonely)
    with pytest.raises(InputError, match="There is no difference to draw: no two rows"):
        plot_forest()


def test_evidence_is_one_line_per_pair():
    result = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=12)
    ax = result.plot()
    assert len(names_of(ax)) == 12
    assert names_of(ax)[0] == "1st, adult"
    assert "male: no" in texts_of(ax)
    assert texts_of(ax).count("16,520 pairs") == 1
    changed = [pair.changed for pair in result.pairs]
    assert {True, False} == set(changed)
    assert [line.get_color() for line in ax.lines] == [COLOURS.changed if c else COLOURS.neutral for c in changed]
    assert " ".join(ax.get_xlabel().split()) == (
        "labels differ in 58 % of 138,516 pairs of rows that agree on class and age and differ on sex"
    )
    assert_readable(ax)
    assert names_of(evidence(ROWS, [a for a, b, c in ROWS], 0, given=[]).plot())[0] == "any two rows"
    with pytest.raises(InputError, match="There are no pairs of rows to draw for 'x0'"):
        evidence([(0, 0), (1, 1)], [0, 1], 0, given="all").plot()


def test_redundancies_are_shares_of_rows_that_could_have_contradicted():
    towns = [("Ulm", "DE", 1), ("Bonn", "DE", 2), ("Lyon", "FR", 2), ("Nice", "FR", 1)] * 5
    rows = [(town, country, town.upper(), size, "EU") for town, country, size in towns]
    ax = redundancies(rows, feature_names=["town", "country", "TOWN", "size", "union"]).plot()
    assert names_of(ax) == ["union", "TOWN", "country", "size", "town"]
    assert [bar.get_width() for bar in ax.patches] == [0, 100, 80, 80, 80]
    assert texts_of(ax) == ["one value", "= town", "by town", "by town", "by country and size"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["constant", "same information", "determined"]
    assert_readable(ax)
    assert texts_of(redundancies(ROWS).plot()) == ["No redundant column."]


def test_transitions_are_shares_of_the_pairs_of_each_change():
    result = transitions(load_table("titanic").to_frame(), "survived", "class", weights="count")
    ax = result.plot()
    totals = {}
    for transition in result.counts:
        totals[transition.values] = totals.get(transition.values, 0) + transition.pairs
    assert texts_of(ax) == [f"{n:,} pairs" for n in sorted(totals.values(), reverse=True)]
    n = len(totals)
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(3, n)
    np.testing.assert_allclose(widths.sum(axis=0), 100)
    first = max(totals, key=totals.get)
    changed = sum(t.pairs for t in result.counts if t.values == first and t.changed)
    assert widths[:2, 0].sum() == pytest.approx(100 * changed / totals[first])
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches][::n] == [COLOURS.changed, "#f0c690", COLOURS.neutral]
    assert_readable(ax)
    with pytest.raises(InputError, match="No two rows were compared for 'x0', so it has no transitions to draw"):
        transitions([(0, 0), (1, 1)], [0, 1], 0, given="all").plot()


# ---------------------------------------------------------------- several methods


@pytest.mark.parametrize("n_features", [3, 57, 300])
def test_methods_are_drawn_in_one_order(n_features):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (150, n_features))
    found = compare(X, X[:, 0] == X[:, 1], methods=["mi", "chi2", "forest"])
    ax = found.plot()
    assert_readable(ax)
    order = found.order()[:20]
    assert names_of(ax) == [found.names[i] for i in order]
    n = len(order)
    for column, method in enumerate(("mi", "chi2", "forest")):
        bars = ax.patches[column * n : (column + 1) * n]
        scores = np.maximum(found.scores[method], 0)
        np.testing.assert_allclose([bar.get_width() for bar in bars], 0.72 * scores[order] / scores.max(), atol=1e-12)
        assert {bar.get_x() for bar in bars} == {column}
        for bar, i in zip(bars, order, strict=True):
            best = found.ranks[method][i] == 1 and scores[i] > 0
            assert to_hex(bar.get_facecolor()) == (COLOURS.changed if best else COLOURS.effect)
    assert ax.get_title(loc="left") == "Relevance for y by 3 methods"
    assert texts_of(ax)[:2] == ["1", "2"]


def test_audits_evidence_and_transitions_of_numbers_are_in_their_unit():
    rng = np.random.default_rng(0)
    rows = [("mf"[k % 2], k // 2 % 3) for k in range(120)]
    pay = [1000.0 * job + (50 if sex == "f" else 300) + round(rng.normal(0, 40)) for sex, job in rows]
    options = {"feature_names": ["sex", "job"], "given": ["job"], "scale": "number"}
    found = audit(rows, pay, "sex", **options)
    ax = found.plot()
    (one,) = found.differences
    assert ax.get_xlabel() == "difference in the mean of y between f and m, with 95 % interval"
    assert tuple(ax.collections[0].get_segments()[0][:, 0]) == pytest.approx((one.difference_low, one.difference_high))
    assert texts_of(ax)[0].startswith(f"{one.difference:.0f} (")
    assert texts_of(ax)[2].endswith("20 vs. 20 rows")
    assert plot_forest(found).get_xlabel() == "difference in the mean of y, with 95 % interval"
    ax = evidence(rows, pay, "sex", limit=2, **options).plot()
    assert "(root mean square) in 1,200 pairs" in " ".join(ax.get_xlabel().split())
    ax = transitions(rows, pay, "sex", **options).plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([one.pair_difference])
    assert texts_of(ax) == [f"{one.pair_difference:.0f}   1,200 pairs"]
    ratio = audit(rows, pay, "sex", **{**options, "scale": "log"})
    axis = " ".join(ratio.plot().get_xlabel().split())
    assert axis.startswith("difference in the mean logarithm of y between f and m, in per cent")
    low = 100 * (np.exp(ratio.differences[0].difference_low) - 1)
    assert ratio.plot().collections[0].get_segments()[0][0, 0] == pytest.approx(low)


def test_a_method_without_evidence_has_dashes():
    ax = compare([(0, 0), (1, 1)] * 5, [0, 1] * 5, methods=["ari"]).plot()
    assert texts_of(ax) == ["–", "–"]
    assert not ax.patches
    assert ax.get_title(loc="left") == "Relevance for y by ARI"


def test_a_number_of_rows_that_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="top must be a whole number from 1 to 20, got 21"):
        titanic().plot(top=21)


def test_every_figure_is_drawn_where_it_is_asked_for():
    titanic_frame = load_table("titanic").to_frame()
    results = [
        titanic(),
        audit(titanic_frame, "survived", "class", weights="count"),
        transitions(titanic_frame, "survived", "class", weights="count"),
        compare(titanic_frame, "survived", weights="count", methods=["mi"]),
        select(titanic_frame, "survived", weights="count"),
        evidence(titanic_frame, "survived", "sex", weights="count"),
        redundancies(titanic_frame, ignore=["count"]),
        interactions(ROWS, [a ^ b for a, b, c in ROWS]),
        interactions(ROWS, [a ^ b for a, b, c in ROWS])["x0", "x1"],
    ]
    for result, ax in zip(results, Figure().subplots(len(results)), strict=True):
        assert result.plot(ax) is ax
