"""The result behind the page: which numbers it holds, and where they come from."""

import json
import math

import naive
import numpy as np
import polars as pl
import pytest

from analogical import InputError, audit, interactions, load_table, relevance, report, select, transitions
from analogical._report import middle_ranks
from analogical.rivals import METHODS

TITANIC = load_table("titanic").to_frame("polars")


@pytest.fixture(scope="module")
def titanic():
    return report(TITANIC, "survived", weights="count", protected="sex")


@pytest.fixture(scope="module")
def monks():
    return report(load_table("monks-1").to_frame("polars"), "class", weights="count")


def mushroom_like(rng, n_rows=400):
    """A label, a copy of what decides it, and columns without any effect."""
    decides = rng.integers(0, 2, n_rows)
    return pl.DataFrame(
        {
            "decides": decides,
            "copy": np.where(decides, "yes", "no"),
            "a": rng.integers(0, 3, n_rows),
            "b": rng.integers(0, 2, n_rows),
            "label": decides ^ (rng.random(n_rows) < 0.1),
        }
    )


def test_every_part_is_what_its_own_function_returns(titanic):
    options = {"weights": "count"}
    assert titanic.relevance == relevance(TITANIC, "survived", **options)
    assert titanic.interactions == interactions(TITANIC, "survived", **options)
    assert titanic.selection == select(TITANIC, "survived", **options)
    (found,) = titanic.audits
    assert found == audit(TITANIC, "survived", "sex", limit=4, **options)
    for panel in titanic.panels:
        listed = transitions(TITANIC, "survived", panel.feature, **options)
        assert sorted(t.pairs for t in panel.transitions) == sorted(t.pairs for t in listed.counts)[-12:]
        assert panel.n_transitions == len(listed)


def test_the_change_of_two_values_is_that_of_an_audit(titanic):
    change = titanic.panels[0].change
    found = titanic.audits[0].differences[0]
    assert (change.values, change.label) == (found.values, found.label)
    for name in ("difference", "difference_low", "difference_high", "crude", "gained", "lost", "pairs"):
        assert getattr(change, name) == getattr(found, name)
    assert change.n_rows == titanic.audits[0].n_compared == titanic.panels[0].n_compared == 2201


def test_of_three_values_the_change_with_the_largest_z_is_taken():
    rows = [("a", 0)] * 40 + [("b", 0)] * 40 + [("c", 0)] * 4
    labels = [0] * 36 + [1] * 4 + [0] * 8 + [1] * 32 + [1] * 4
    change = report(rows, labels, feature_names=["v", "x"]).panels[0].change
    assert (change.values, change.label) == (("a", "b"), 1)  # a to c moves 90 points, on 4 rows
    assert change.difference == pytest.approx(0.7)
    assert change.n_rows == 80


def test_without_matched_rows_a_change_is_crude():
    rows = [("a", "u"), ("b", "v"), ("a", "u"), ("b", "v")]
    found = report(rows, [0, 1, 0, 1], feature_names=["x", "copy"])
    change = found.panels[0].change
    assert not change.is_matched
    assert math.isnan(change.difference)
    assert (abs(change.crude), change.n_rows, change.pairs) == (1.0, 4, 0)
    assert found.panels[0].changed_pair is found.panels[0].kept_pair is None


def test_typical_pairs_are_of_the_most_frequent_changes(titanic):
    for panel in titanic.panels:
        pair, kept = panel.changed_pair, panel.kept_pair
        largest = max((t for t in panel.transitions if t.changed), key=lambda t: t.pairs)
        assert (pair.values, pair.labels) == (largest.values, largest.labels)
        assert kept.labels[0] == kept.labels[1]
        assert kept.values == pair.values


def test_a_typical_pair_lies_in_the_context_that_holds_most_of_them(titanic):
    pair = titanic.panels[0].changed_pair
    men = TITANIC.filter((pl.col("sex") == "male") & (pl.col("survived") == "no"))
    women = TITANIC.filter((pl.col("sex") == "female") & (pl.col("survived") == "yes"))
    both = men.join(women, on=["class", "age"], suffix="_2")
    best = both.with_columns(n=pl.col("count") * pl.col("count_2")).sort("n").row(-1, named=True)
    assert dict(pair.context) == {"class": best["class"], "age": best["age"]}
    assert pair.weight == best["n"]


def test_rows_of_values_add_up_to_the_table(titanic):
    for panel in titanic.panels:
        assert sum(entry.n_rows for entry in panel.values) == 2201
        assert all(sum(entry.by_class) == entry.n_rows for entry in panel.values)
    assert titanic.class_sizes.tolist() == [1490, 711]


def test_mutual_information_is_that_of_compare(titanic):
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = report(codes, [0, 0, 1, 1])
    assert found.information.tolist() == pytest.approx([math.log(2), 0.0])
    assert METHODS["mi"](codes, np.array([0, 0, 1, 1]), np.random.default_rng(0)).tolist() == found.information.tolist()
    assert [titanic.relevance.names[i] for i in np.argsort(-titanic.information)] == ["sex", "class", "age"]


def test_equal_scores_share_the_middle_of_their_places():
    assert middle_ranks(np.array([3.0, 1.0, 3.0, np.nan, 1.0, 1.0])).tolist() == [1.5, 4.0, 1.5, 6.0, 4.0, 4.0]


def test_an_interaction_explains_what_mutual_information_misses(monks):
    reasons = {item.feature: (item.reason, item.others) for item in monks.disagreements}
    assert reasons["head_shape"][0] == reasons["body_shape"][0] == "interaction"
    assert reasons["head_shape"][1][0] == "body_shape"
    assert reasons["jacket_color"] == ("passed", ("head_shape", "body_shape"))
    assert set(reasons) == {"head_shape", "body_shape", "jacket_color"}


def test_a_copy_is_named_as_redundant():
    found = report(mushroom_like(np.random.default_rng(0)), "label")
    reasons = {item.feature: item for item in found.disagreements}
    assert reasons["copy"].reason == "determined"
    assert reasons["copy"].others == ("decides",)
    assert "redundant" in found.doubts()
    assert found.answer == "partly"


def test_a_difference_that_others_account_for_is_shared(titanic):
    item = next(item for item in titanic.disagreements if item.feature == "class")
    assert (item.rank, item.information_rank, item.reason) == (3.0, 2.0, "shared")


def test_columns_without_an_effect_do_not_disagree():
    rng = np.random.default_rng(1)
    found = report(rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300))
    assert found.disagreements == ()
    assert "effect" not in found.relevance.status


def test_a_table_without_any_pair_cannot_answer():
    found = report([(0, 0), (1, 1)], [0, 1], radius=1)
    assert found.answer == "no"


@pytest.mark.parametrize("doubt", ["looked-further", "few-compared"])
def test_wide_tables_answer_partly(doubt):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (150, 12))
    found = report(codes, codes[:, 0] == codes[:, 1])
    assert found.answer == "partly"
    assert doubt in found.doubts()


def test_doubts_name_leaks_and_unknown_noise():
    rows = [(a, b, 2 * a + b) for a in (0, 1) for b in (0, 1)] * 20
    labels = [c for _, _, c in rows]
    assert "leak" in report(rows, labels).doubts()
    odd = [(0, 0), (0, 1), (1, 0)]
    assert "noise-unknown" in report(odd, [0, 1, 0], radius=1).doubts()


def test_compared_rows_and_transitions_equal_brute_force():
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    found = report(rows, labels, radius=1)
    for panel in found.panels:
        i = found.relevance.names.index(panel.feature)
        pairs = naive.naive_pairs(rows.tolist(), labels, i)
        assert sum(t.pairs for t in panel.transitions) == len(pairs)
        assert sum(t.pairs for t in panel.transitions if t.changed) == sum(labels[r] != labels[s] for r, s in pairs)
        assert panel.n_compared == len({row for pair in pairs for row in pair})


def test_records_have_ranks_and_to_dict_is_json(titanic):
    assert [(r["name"], r["rank"], r["information_rank"]) for r in titanic] == [
        ("sex", 1, 1.0),
        ("age", 2, 3.0),
        ("class", 3, 2.0),
    ]
    assert titanic["age"]["rank"] == 2
    content = json.loads(json.dumps(titanic.to_dict(), allow_nan=False))
    assert content == titanic.to_dict()
    assert content["relevance"] == titanic.relevance.to_dict()
    assert content["panels"][0]["change"]["pairs"] == 138516


def test_the_same_table_gives_the_same_page(titanic):
    again = report(TITANIC, "survived", weights="count", protected="sex")
    assert again == titanic
    assert again.html == titanic.html


def test_weights_give_the_page_of_the_repeated_rows():
    small = TITANIC.with_columns(count=pl.col("count") // 20).filter(pl.col("count") > 0)
    repeated = small.select(pl.exclude("count").repeat_by("count")).explode(pl.all())
    weighted, plain = report(small, "survived", weights="count"), report(repeated, "survived")
    assert [panel.change for panel in weighted.panels] == [panel.change for panel in plain.panels]
    assert [panel.values for panel in weighted.panels] == [panel.values for panel in plain.panels]
    assert weighted.records() == plain.records()


def test_the_call_is_written_down():
    rows = pl.DataFrame({"a": [0, 1] * 8, "b": [0, 0, 1, 1] * 4, "y": [0, 1] * 8, "w": [1] * 16})
    found = report(rows, "y", weights="w", protected=["a"], top=1, bins=None, confidence=0.9)
    assert found.command == "report(X, 'y', weights='w', protected=['a'], bins=None, confidence=0.9, top=1)"
    assert report(rows.select("a", "b"), rows["y"], weights=rows["w"]).command == "report(X, y, weights=weights)"
    assert len(found.panels) == 1


def test_groups_are_kept_to_what_can_use_them():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 3))
    found = report(codes, codes[:, 0] ^ (rng.random(60) < 0.1), groups=np.arange(60) // 2)
    assert found.relevance.settings.n_groups == 30


def test_one_feature_and_many_values_make_a_page():
    found = report([(0,), (1,), (0,), (1,)], [0, 1, 0, 1])
    assert found.interactions is None
    assert found.squares == ()
    many = [(f"v{k}", k % 2) for k in range(100)] * 2
    panel = report(many, [k % 3 == 0 for k in range(200)], ids="keep").panels
    assert all(len(p.values) <= 12 for p in panel)
    assert next(p for p in panel if p.n_values == 100).transitions == ()


def test_what_cannot_be_reported_is_refused():
    with pytest.raises(
        InputError, match=r"confidence must be a number between 0 and 1 for a report, such as 0.95, got"
    ):
        report([(0,), (1,)], [0, 1], confidence=None)
    with pytest.raises(InputError, match="top must be a whole number from 1"):
        report([(0,), (1,)], [0, 1], top=0)
    with pytest.raises(InputError, match="nowhere"):
        report(TITANIC, "survived", weights="count", protected=["nowhere"])


def test_save_writes_the_page_and_says_where(tmp_path, titanic):
    path = titanic.save(tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    assert path.read_text(encoding="utf-8") == titanic.html
