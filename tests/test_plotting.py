"""Figures of pairs: what is drawn, read off the axes."""

import numpy as np
import pytest

from analogical import InputError, interactions, squares
from analogical.plotting import plot_interactions, plot_squares, save_figure

ROWS = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def test_a_heat_map_shows_the_effect_of_every_pair(tmp_path):
    rows = ROWS * 10
    ax = plot_interactions(interactions(rows, [a & b for a, b, c in rows], feature_names=["a", "b", "c"]))
    assert sorted(texts_of(ax)) == [".00", ".00", ".25"]
    assert ax.get_title(loc="left") == "effect of pairs on y"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert len(ax.patches) == 1  # the pair that is told from noise
    (frame,) = ax.patches
    assert frame.get_xy() == (-0.46, 0.54)
    save_figure(ax.figure, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5_000


def test_a_heat_map_shows_the_index_where_no_effect_is_known():
    ax = plot_interactions(interactions(ROWS, [a ^ b for a, b, c in ROWS]))
    assert ax.get_title(loc="left") == "index of pairs on y"
    assert sorted(texts_of(ax)) == [".00", ".00", "1.00"]
    assert not ax.patches
    assert "–" in texts_of(plot_interactions(interactions([(0, 0), (0, 1), (1, 0)], [0, 1, 1])))


def test_a_network_shows_the_strongest_pairs(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 14))
    result = interactions(X, X[:, 2] ^ X[:, 9] ^ (rng.random(500) < 0.1))
    ax = plot_interactions(result)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(lines) == 20
    solid = [line for line in lines if line.get_linestyle() == "-"]
    assert len(solid) == 1
    assert solid[0].get_linewidth() == max(line.get_linewidth() for line in lines) == pytest.approx(5.8)
    assert "the 20 strongest of 91 pairs; solid: told from noise (1), dotted: not" in texts_of(ax)
    assert {"x2", "x9"} <= set(texts_of(ax))
    save_figure(ax.figure, tmp_path / "network.svg")


def test_a_card_shows_shares_and_rows():
    rows = [("off", "out"), ("on", "out"), ("off", "in"), ("on", "in"), ("on", "in")]
    labels = ["dark", "dark", "dark", "light", "dark"]
    result = squares(rows, labels, 0, 1, feature_names=["switch", "fuse"])
    ax = plot_squares(result)
    assert texts_of(ax) == ["0 %\n1 row", "0 %\n1 row", "0 %\n1 row", "50 %\n2 rows"]
    assert ax.get_title(loc="left") == "share of y = light"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("switch", "fuse")
    assert texts_of(plot_squares(result, "dark"))[0] == "100 %\n1 row"
    with pytest.raises(InputError, match="There is no class 'red' in the result"):
        plot_squares(result, "red")
    missing = squares([("a", "x"), ("b", "x"), ("a", "y")], [0, 1, 1], 0, 1)
    assert texts_of(plot_squares(missing))[-1] == "no rows"


def test_figures_are_drawn_where_they_are_asked_for():
    from matplotlib.figure import Figure

    one, two = Figure().subplots(1, 2)
    result = interactions(ROWS, [a ^ b for a, b, c in ROWS])
    assert plot_interactions(result, ax=one) is one
    assert plot_squares(squares(ROWS, [a ^ b for a, b, c in ROWS], 0, 1), ax=two) is two


def test_only_the_most_frequent_values_fit_on_a_card():
    rng = np.random.default_rng(0)
    ax = plot_squares(squares(rng.integers(0, [15, 2], size=(300, 2)), rng.integers(0, 2, 300), 0, 1))
    assert len(texts_of(ax)) == 24
