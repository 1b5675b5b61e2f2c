"""The result behind the page: which numbers it holds, and where they come from."""

import json
import math
from dataclasses import replace

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest

from analogical import (
    InputError,
    Study,
    audit,
    interactions,
    load_table,
    relevance,
    report,
    select,
    study,
    transitions,
)

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


@pytest.mark.parametrize("given", ["auto", "all", ["age"], []], ids=str)
def test_every_part_is_what_its_own_function_returns(given):
    options = {"weights": "count", "given": given}
    page = report(TITANIC, "survived", protected="sex", **options)
    assert page.relevance == relevance(TITANIC, "survived", **options)
    assert page.interactions == interactions(TITANIC, "survived", **options)
    assert page.selection == select(TITANIC, "survived", weights="count")
    (found,) = page.audits
    assert found == audit(TITANIC, "survived", "sex", limit=4, **options)
    for panel in page.panels:
        listed = transitions(TITANIC, "survived", panel.feature, **options)
        assert sorted(t.pairs for t in panel.transitions) == sorted(t.pairs for t in listed.counts)[-12:]
        assert panel.n_transitions == len(listed)
        assert listed.n_pairs == page.relevance[panel.feature]["compared"]


def test_all_parts_speak_of_the_same_deciding_set(monks):
    assert monks.selection.features == monks.relevance.deciding == monks.interactions.deciding
    assert set(monks.relevance.deciding) == {"jacket_color", "head_shape", "body_shape"}
    assert next((s.first, s.second) for s in monks.together) == ("head_shape", "body_shape")


def test_the_table_is_studied_once(monkeypatch):
    """The deciding set is searched once, and the paper's pairs are counted once."""
    asked = []
    for owner, name in ((study, "Decider"), (study, "count_pairs")):
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, real=real, name=name, **k: (asked.append(name), real(*a, **k))[1])
    report(TITANIC, "survived", weights="count", protected="sex")
    assert sorted(asked) == ["Decider", "count_pairs"]


def test_the_points_of_two_values_are_those_of_an_audit(titanic):
    direction, panel = titanic.relevance.direction[titanic.relevance.names.index("sex")], titanic.panels[0]
    found = titanic.audits[0].differences[0]
    assert (direction.against, direction.value, direction.label) == (*found.values, found.label)
    assert direction.difference == pytest.approx(100 * found.difference)
    assert panel.crude == pytest.approx(100 * found.crude)
    assert titanic.audits[0].n_compared == panel.n_compared == 2201


def test_a_copy_has_no_rows_to_show():
    found = report(mushroom_like(np.random.default_rng(0)), "label")
    panel = next(panel for panel in found.panels if found.relevance[panel.feature]["status"] == "same")
    assert math.isnan(panel.crude)
    assert (panel.n_compared, panel.transitions, panel.examples) == (0, (), ())


def test_typical_pairs_are_of_the_most_frequent_changes(titanic):
    for panel in titanic.panels:
        pair, kept = panel.examples
        largest = max((t for t in panel.transitions if t.changed), key=lambda t: t.pairs)
        assert (pair.values, pair.labels) == (largest.values, largest.labels)
        assert kept.labels[0] == kept.labels[1]
        assert kept.values == pair.values


def test_a_typical_pair_lies_in_the_context_that_holds_most_of_them(titanic):
    pair = titanic.panels[0].examples[0]
    men = TITANIC.filter((pl.col("sex") == "male") & (pl.col("survived") == "no"))
    women = TITANIC.filter((pl.col("sex") == "female") & (pl.col("survived") == "yes"))
    both = men.join(women, on=["class", "age"], suffix="_2")
    best = both.with_columns(n=pl.col("count") * pl.col("count_2")).sort("n").row(-1, named=True)
    assert dict(pair.context) == {"class": best["class"], "age": best["age"]}
    assert pair.weight == best["n"]


def test_rows_of_values_add_up_to_the_table(titanic):
    for panel in titanic.panels:
        by_value = TITANIC.group_by(panel.feature, "survived").agg(pl.col("count").sum()).rows()
        n = {(value, label): rows for value, label, rows in by_value}
        assert panel.counts == tuple((n.get((v, "no"), 0), n.get((v, "yes"), 0), 0) for v in panel.values)
        assert sum(map(sum, panel.counts)) == 2201
    assert titanic.class_sizes.tolist() == [1490, 711]


def test_numbers_0_and_1_have_the_panels_of_two_classes(titanic):
    """Shares of the second class are means, in percentage points."""
    numbers = report(
        TITANIC.with_columns(survived=pl.col("survived") == "yes").cast({"survived": int}),
        "survived",
        weights="count",
        scale="number",
    )
    for panel, of_classes in zip(numbers.panels, titanic.panels, strict=True):
        assert (panel.feature, panel.values, panel.n_compared) == (
            of_classes.feature,
            of_classes.values,
            of_classes.n_compared,
        )
        assert 100 * panel.crude == pytest.approx(of_classes.crude, rel=1e-9)
        assert [sum(counts) for counts in panel.counts] == [sum(counts) for counts in of_classes.counts]
        shares = [counts[1] / sum(counts) for counts in of_classes.counts]
        assert [spread.mean for spread in panel.spreads] == pytest.approx(shares, rel=1e-9)
        for share, spread in zip(shares, panel.spreads, strict=True):
            assert spread.quantiles == tuple(int(q > 1 - share) for q in (0.1, 0.25, 0.5, 0.75, 0.9))


def test_alone_is_the_effect_with_nothing_given(titanic):
    found = relevance(TITANIC, "survived", weights="count", given=[])
    assert titanic.alone.tolist() == found.effect.tolist()
    assert titanic.alone_p.tolist() == found.p_adjusted.tolist()


def test_copies_and_leaks_are_doubts():
    found = report(mushroom_like(np.random.default_rng(0)), "label")
    assert sorted(found.relevance.same_as, key=str) in ([None, None, None, "copy"], [None, None, None, "decides"])
    assert "copies" in found.doubts()
    assert found.answer == "partly"
    rows = [(a, b, 2 * a + b) for a in (0, 1) for b in (0, 1)] * 20
    assert "leak" in report(rows, [c for _, _, c in rows]).doubts()


def test_columns_without_an_effect_are_not_judged_otherwise_alone():
    rng = np.random.default_rng(1)
    found = report(rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300))
    assert "Different alone" not in found.html
    assert "effect" not in found.relevance.status
    assert found.interactions is None


def test_a_table_without_any_pair_cannot_answer():
    found = report([(0, 0), (1, 1)], [0, 1], given="all")
    assert found.answer == "no"
    assert found.doubts() == ("unclear",)


@pytest.mark.parametrize(("n_compared", "answer"), [(1100, "partly"), (1101, "yes")])
def test_tables_that_compare_less_than_half_of_the_rows_answer_partly(titanic, n_compared, answer):
    panels = tuple(replace(panel, n_compared=n_compared) for panel in titanic.panels)
    found = replace(titanic, panels=panels)
    assert found.answer == answer
    assert found.doubts() == (("few-compared",) if answer == "partly" else ())


def test_a_table_with_unclear_features_answers_partly_and_with_nothing_else_not_at_all(titanic):
    for status, answer in [
        (("effect", "unclear", "none"), "partly"),
        (("effect", "constant", "none"), "yes"),
        (("unclear", "unclear", "constant"), "no"),
        (("same", "effect", "none"), "partly"),
    ]:
        assert replace(titanic, relevance=replace(titanic.relevance, status=status)).answer == answer


def test_compared_rows_and_transitions_equal_brute_force():
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    found = report(rows, labels, given="all")
    for panel in found.panels:
        i = found.relevance.names.index(panel.feature)
        pairs = naive.naive_pairs(rows.tolist(), labels, i)
        assert sum(t.pairs for t in panel.transitions) == len(pairs)
        assert sum(t.pairs for t in panel.transitions if t.changed) == sum(labels[r] != labels[s] for r, s in pairs)
        assert panel.n_compared == len({row for pair in pairs for row in pair})


def test_records_are_those_of_the_relevance_and_to_dict_is_json(titanic):
    assert [(r["name"], r["rank"]) for r in titanic] == [("sex", 1), ("age", 2), ("class", 3)]
    assert titanic["age"]["rank"] == 2
    assert tuple(titanic["age"]) == titanic.columns()
    for record, known in zip(titanic.records(), titanic.relevance.records(), strict=True):
        assert {name: known[name] for name in record if name in known} == {
            k: v for k, v in record.items() if k in known
        }
    content = json.loads(json.dumps(titanic.to_dict(), allow_nan=False))
    assert content == titanic.to_dict()
    assert content["relevance"] == titanic.relevance.to_dict()
    assert content["features"] == [
        {name: record[name] for name in ("name", "rank", "alone", "alone_p")} for record in titanic.records()
    ]
    assert not [part for part in ("selection", "redundancies", "interactions") if "notes" in content[part]]


def test_the_same_table_gives_the_same_page(titanic):
    again = report(TITANIC, "survived", weights="count", protected="sex")
    assert again == titanic
    assert again.html == titanic.html


def test_weights_give_the_page_of_the_repeated_rows():
    small = TITANIC.with_columns(count=pl.col("count") // 20).filter(pl.col("count") > 0)
    repeated = small.select(pl.exclude("count").repeat_by("count")).explode(pl.all())
    weighted, plain = report(small, "survived", weights="count"), report(repeated, "survived")
    assert [panel.crude for panel in weighted.panels] == [panel.crude for panel in plain.panels]
    assert [panel.values for panel in weighted.panels] == [panel.values for panel in plain.panels]
    assert [panel.counts for panel in weighted.panels] == [panel.counts for panel in plain.panels]
    assert weighted.records() == plain.records()


def test_the_call_is_written_down():
    rows = pl.DataFrame({"a": [0, 1] * 8, "b": [0, 0, 1, 1] * 4, "y": [0, 1] * 8, "w": [1] * 16})
    found = report(rows, "y", weights="w", given=["b"], protected=["a"], top=1, bins=None, confidence=0.9)
    assert found.command == (
        "report(X, 'y', given=['b'], weights='w', bins=None, protected=['a'], confidence=0.9, top=1)"
    )
    assert report(rows.select("a", "b"), rows["y"], weights=rows["w"]).command == "report(X, y, weights=weights)"
    assert len(found.panels) == 1


def test_groups_are_used():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 3))
    found = report(codes, codes[:, 0] ^ (rng.random(60) < 0.1), groups=np.arange(60) // 2)
    assert found.relevance.settings.n_groups == 30


def test_with_groups_no_interaction_is_tested_and_the_page_says_why():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (400, 3))
    labels = codes[:, 0] ^ codes[:, 1] ^ (rng.random(400) < 0.1)
    assert report(codes, labels).together[0].first == "x0"
    assert "Not tested:" not in report(codes, labels).html
    found = report(codes, labels, groups=np.arange(400) // 2)
    assert set(found.relevance.deciding) == {"x0", "x1"}
    assert (found.interactions, found.together) == (None, ())
    page = " ".join(found.html.split())
    assert "Not tested: tests of interactions assume independent rows, and this table has groups.</p>" in page
    assert "pairs of features assume" not in page


def test_features_that_swap_their_names_are_audited_by_the_new_one():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 2)), columns=["a", "b"])
    label = frame["a"] ^ (rng.random(200) < 0.1)
    study = Study(frame, label, feature_names=["b", "a"])
    assert relevance(study).with_status("effect") == ["b"]
    found = report(study, protected=["a"])  # the dataframe's own name
    assert [(audit.feature, audit.finding) for audit in found.audits] == [("b", "direction")]


@pytest.mark.parametrize("name", [None, float("nan"), 1, ("p", "q"), "a*"])
def test_columns_of_any_name_are_in_all_parts(name):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 2)).astype(str))
    label = (frame[0] == "0") ^ (frame[1] == "1")
    frame.columns = pd.Index([name, "ab"], dtype=object)
    found = report(frame, label, protected=[name])
    assert [s.first for s in found.together] == [audit.feature for audit in found.audits] == [found.relevance.names[0]]


def test_alone_is_the_relevance_given_nothing():
    study = Study(load_table("titanic").to_frame(), "survived", weights="count")
    found, alone = report(study, confidence=0.9), relevance(study, given=[], confidence=0.9)
    np.testing.assert_array_equal(found.alone, alone.effect)
    np.testing.assert_array_equal(found.alone_p, alone.p_adjusted)


def test_one_feature_and_many_values_make_a_page():
    found = report([(0,), (1,), (0,), (1,)], [0, 1, 0, 1])
    assert found.interactions is None
    assert found.together == ()
    many = [(f"v{k}", k % 2) for k in range(100)] * 2
    panel = report(many, [k % 3 == 0 for k in range(200)], ids="keep").panels
    assert all(len(p.values) <= 12 for p in panel)
    assert next(p for p in panel if p.n_values == 100).transitions == ()


def test_what_cannot_be_reported_is_refused():
    with pytest.raises(InputError, match=r"confidence must be a number between 0 and 1, such as 0.95, got None"):
        report([(0,), (1,)], [0, 1], confidence=None)
    with pytest.raises(InputError, match="top must be a whole number from 1"):
        report([(0,), (1,)], [0, 1], top=0)
    with pytest.raises(InputError, match="nowhere"):
        report(TITANIC, "survived", weights="count", protected=["nowhere"])
    with pytest.raises(InputError, match="nowhere"):
        report(TITANIC, "survived", weights="count", given=["nowhere"])


def test_save_writes_the_page_and_says_where(tmp_path, titanic):
    path = titanic.save(tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    assert path.read_text(encoding="utf-8") == titanic.html
