"""The tables against the printed numbers and the exact expectations."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from analogical.paper import Plan
from analogical.paper.datasets import Dataset, load_dataset, published
from analogical.paper.reproduce import FORMATS, as_csv, as_json, as_latex, as_markdown
from analogical.paper.tables import (
    PrintedCell,
    ReproducedTable,
    accuracies,
    accuracies_as_published,
    best_features,
    build_table,
    estimated_bound,
    share_on_top,
)
from analogical.rivals import METHODS, Method

FEW = Plan(repetitions=3)
QUICK = Plan(repetitions=2, leave_out=("relieff",))
built = cache(build_table)


@pytest.mark.parametrize("name", ["table4", "table6"])
def test_averages_lie_where_the_closed_form_says(name):
    table = built(name, "as-published", FEW)
    # A bound is three standard errors of the paper's 10 runs, and half a cent for its rounding.
    cells = [(cell, (cell.bound - 0.005) / 3 * np.sqrt(10 / FEW.repetitions)) for cell in table.cells]
    assert all(cell.ours == pytest.approx(cell.expected, abs=1e-6) for cell, error in cells if error < 1e-9)
    # Cells that hardly ever differ from 0 are too skewed for standard errors.
    z = np.array([(cell.ours - cell.expected) / error for cell, error in cells if error > 1e-9 and cell.expected > 0.1])
    assert len(z) > 100
    assert abs(z.mean()) < 4 / np.sqrt(len(z)) * 2  # the features of one sample are not independent
    assert 0.8 < z.std() < 1.2
    assert (np.abs(z) > 3).mean() < 1 / 9  # Chebyshev's bound, which holds for the skewed cells too


def test_printed_tables_4_and_6_agree_with_the_closed_form():
    stability = built("table4", "as-published", FEW)
    dimensionality = built("table6", "as-published", FEW)
    assert stability.agreement() == (319, 320)
    assert dimensionality.agreement() == (730, 735)
    # The row of g8 at 10,000 rows is a copy of that of g1; and an empty sample of g4 there has odds of 1 to 1,000.
    large = {(c.group, c.column) for c in dimensionality.cells if c.verdict == "differs" and c.row == "10000"}
    assert large == {("g4", "a7"), ("g8", "a1")}


def test_corrected_dimensionality_estimates_the_universe_at_every_size():
    table = built("table6", "corrected", FEW)
    cells = [cell for cell in table.cells if (cell.group, cell.column) == ("g2", "a1") and cell.row.isdigit()]
    assert {round(cell.expected, 6) for cell in cells} == {0.666667}
    agrees, judged = table.agreement()
    assert agrees < judged / 2  # most printed numbers are averages of the 2s of empty samples
    without = [cell for cell in table.cells if cell.row == "400" and cell.ours is None]
    assert without
    assert all(cell.sd is None for cell in without)


def test_relevant_features_are_on_top_in_large_samples_only():
    table = built("table6", "corrected", FEW)
    on_top = {(cell.group, cell.row): cell.ours for cell in table.cells if cell.column == "all on top"}
    assert on_top.keys() == {(cell.group, cell.row) for cell in table.cells}
    functions = ("g1", "g2", "g3", "g6", "g7")
    assert np.mean([on_top[g, size] for g in functions for size in ("400", "500", "1000")]) < 0.1
    assert np.mean([on_top[g, "10000"] for g in functions]) > 0.6
    assert {on_top[g, row] for g, row in on_top if g in ("g4", "g8")} == {None}  # no irrelevant feature there
    assert {len(cells) for rows in table.groups().values() for cells in rows.values()} == {16}


def test_corrected_tables_have_the_methods_of_the_paper():
    corrected = built("table3", "corrected", QUICK)
    columns = [cell.column for cell in corrected.groups()["one-hot columns"]["Monks1"]]
    assert columns == ["all features", "ARI", "χ²", "MI", "Relief"]
    assert corrected.agreement()[1] == 5  # what was printed for Monks1
    assert list(built("table1", "corrected", QUICK).groups()["g1"]) == ["ari", "chi2", "mi", "relief"]


def test_published_chi2_of_table_1_is_reproduced_to_the_rounding():
    table = built("table1", "as-published", FEW)
    cells = [cell for cell in table.cells if cell.row == "chi2"]
    assert len(cells) == 80
    assert all(abs(cell.ours - cell.printed) <= 0.005 + 1e-9 for cell in cells)


def test_published_chi2_of_table_2_is_reproduced_to_the_rounding(data_folder):
    table = build_table("table2", "as-published", Plan(repetitions=2), data_folder)
    cells = [cell for cell in table.cells if cell.row == "chi2"]
    assert len(cells) == 43
    assert all(abs(cell.ours - cell.printed) <= 0.005 + 1e-9 for cell in cells)
    assert table.notes == ()


def test_ari_of_table_1_agrees_in_both_variants():
    assert built("table1", "as-published", FEW).agreement("ari") == (80, 80)
    only_ari = Plan(repetitions=5, leave_out=("chi2", "mi", "relief", "relieff"))
    assert built("table1", "corrected", only_ari).agreement() == (80, 80)


@pytest.mark.parametrize("name", published("table3"))
def test_published_accuracy_of_ari_comes_from_deleting_its_best_features(name, data_folder):
    dataset = load_dataset(name, data_folder)
    runs = [
        accuracies_as_published(dataset, rng, ["ari"])["ordinal", "ari"] for rng in Plan(repetitions=6).generators(name)
    ]
    bound = estimated_bound(np.std(runs, ddof=1), len(runs), share=1 + 1 / len(runs))
    assert published("table3")[name]["ari"] == pytest.approx(np.mean(runs), abs=bound)


def test_keeping_the_best_features_of_monks_1_does_not_give_the_published_accuracy():
    found = accuracies(load_dataset("monks-1"), np.random.default_rng(0), methods=[METHODS["ari"]])
    assert found["ordinal", "ari"] > published("table3")["monks-1"]["ari"] + 20


def test_table_3_as_published_agrees_on_what_is_generated(tmp_path):
    table = build_table("table3", "as-published", Plan(repetitions=4), tmp_path)
    assert table.agreement() == (5, 5)
    assert {cell.row for cell in table.cells} == {"Monks1"}


def test_kept_features_of_monks_1_do_as_well_as_all():
    dataset = load_dataset("monks-1")
    found = accuracies(dataset, np.random.default_rng(0), methods=[METHODS["ari"]])
    assert found["one-hot", "ari"] == pytest.approx(found["one-hot", "all"], abs=0.5)
    assert found["one-hot", "ari"] == pytest.approx(75, abs=0.5)
    assert found["ordinal", "ari"] == pytest.approx(66.7, abs=0.5)


def test_nothing_chosen_means_the_most_frequent_class():
    codes = np.tile(np.arange(4), 10)[:, None]
    labels = (codes[:, 0] == 0).astype(int)

    def no_evidence(rows, numbers, rng):
        return np.full(rows.n_features, np.nan)

    nothing = Method("none", "None", "", no_evidence)
    found = accuracies(Dataset("D", codes, labels, ("a1",)), np.random.default_rng(0), methods=[nothing])
    assert found["one-hot", "none"] == found["ordinal", "none"] == pytest.approx(75)


def test_at_most_k_features_with_a_positive_score_are_chosen():
    assert best_features(np.array([0.1, 0.2, 0.3, 0.4, 0.5])) == (1, 2, 3, 4)
    assert best_features(np.array([0.1, 0.0, np.nan, -1.0])) == (0,)
    assert best_features(np.array([0.5, 0.5, 0.5]), k=2) == (0, 1)


def test_every_relevant_feature_must_score_higher_to_be_on_top():
    runs = [
        [0.2, 0.5, np.nan, 0.1],
        [0.2, np.nan, np.nan, 0.1],
        [0.2, 0.1, 0.1, 0.0],
    ]  # no evidence is the lowest score
    relevant = np.array([True, True, False, False])
    assert [share_on_top(np.array([run]), relevant) for run in runs] == [1, 0, 0]
    assert share_on_top(np.array(runs), relevant) == pytest.approx(1 / 3)
    assert share_on_top(np.array(runs), np.ones(4, bool)) is None


def test_table_5_is_right_but_for_the_last_three_percentages():
    table = build_table("table5", "corrected", FEW)
    assert table.agreement() == (9, 12)
    percentages = [cell.ours for cell in table.cells if cell.column == "sample in percent"]
    assert percentages == pytest.approx([48.828, 0.84675, 1.52588, 0.0034846, 0.0069692, 0.069692], rel=1e-4)


def test_tables_2_and_3_run_without_data_and_say_what_is_missing():
    for name, count in (("table2", 4), ("table3", 6)):
        table = built(name, "corrected", QUICK)
        (note,) = table.notes
        assert note.startswith("Missing data: monks-2.csv")
        assert note.count(".csv") == count
        assert "--download" in note
        assert {"Monks1", "Monks2, the 432 robots"} <= {name for cell in table.cells for name in (cell.row, cell.group)}


def test_files_that_are_not_the_published_ones_are_named(tmp_path):
    rows = "".join(f"{i % 3},{i % 2},1,1,1,1,1,1,{i % 5 % 2}\n" for i in range(746))
    (tmp_path / "hiv.csv").write_text(rows)
    table = build_table("table2", "corrected", QUICK, tmp_path)
    assert (
        "hiv.csv is not the published file (its checksum differs): the printed numbers need not agree." in table.notes
    )


def test_processes_change_nothing():
    one = built("table1", "corrected", QUICK)
    two = build_table("table1", "corrected", replace(QUICK, n_jobs=2))
    assert one == two


def test_printed_numbers_are_complete():
    sizes = {
        "table1": [len(row) for g in published("table1").values() for row in g.values()],
        "table4": [len(row) for g in published("table4").values() for row in g.values()],
        "table6": [len(row["mean"]) for g in published("table6").values() for row in g.values()],
    }
    assert {name: sum(counts) for name, counts in sizes.items()} == {"table1": 320, "table4": 320, "table6": 735}
    assert sum(len(row) for d in published("table2").values() for row in d.values()) == 172
    assert sum(len(row) for row in published("table3").values()) == 35


# ---------------------------------------------------------------- verdicts and writers


def test_verdict_holds_the_printed_number_against_the_expected_one_first():
    far = PrintedCell("g", "r", "c", printed=0.5, ours=0.5, expected=0.7, bound=0.1)
    assert (far.verdict, far.reference) == ("differs", 0.7)
    assert PrintedCell("g", "r", "c", printed=0.5, ours=0.55, bound=0.05).verdict == "agrees"
    assert PrintedCell("g", "r", "c", printed=None, ours=0.5, bound=0.1).verdict == ""
    assert PrintedCell("g", "r", "c", printed=0.5, ours=None, bound=0.1).verdict == ""


def test_bounds_grow_with_the_spread_and_shrink_with_runs():
    few, many = (estimated_bound(0.2, runs, share=0.1) for runs in (3, 1000))
    assert few > many
    assert many == pytest.approx(3 * 0.2 * np.sqrt(0.1) + 0.005, rel=0.02)


@pytest.fixture
def small():
    cells = (
        PrintedCell("g1", "ari", "a1", 0.5, 0.52, sd=0.1, expected=0.51, bound=0.1, printed_sd=0.2),
        PrintedCell("g1", "ari", "a2", 0.9, None, expected=0.0, bound=0.1),
        PrintedCell("g1", "chi2", "a1", None, 0.25),
        PrintedCell("g1", "chi2", "a2", None, 1.0),
    )
    return ReproducedTable("table1", "corrected", cells, notes=("A note.",))


def test_markdown_shows_printed_ours_and_expected(small):
    text = as_markdown(small)
    assert "**1 of 2 printed numbers agree**; the others are marked ✗. ARI: 1 of 2." in text
    assert "> A note." in text
    assert "| ARI, printed | 0.50 ± 0.20 | 0.90 ✗ |" in text
    assert "| ARI, ours | 0.52 ± 0.10 | – |" in text
    assert "| ARI, expected | 0.51 | 0 |" in text
    assert "| χ², ours | 0.25 | 1 |" in text


def test_latex_is_escaped_and_marks_what_differs(small):
    text = as_latex(small)
    assert r"ARI, printed & 0.50 $\pm$ 0.20 & \textbf{0.90} \\" in text
    assert r"$\chi^2$, ours & 0.25 & 1 \\" in text
    assert text.count(r"\begin{tabular}{lrr}") == text.count(r"\end{tabular}") == 1


def test_csv_and_json_hold_every_cell(small):
    import csv
    import io
    import json

    rows = list(csv.DictReader(io.StringIO(as_csv(small))))
    assert [row["verdict"] for row in rows] == ["agrees", "differs", "", ""]
    assert (rows[0]["table"], rows[0]["printed"], rows[1]["ours"]) == ("table1", "0.5", "")
    content = json.loads(as_json(small))
    assert (content["printed_cells_agreeing"], content["printed_cells_judged"]) == (1, 2)
    assert len(content["cells"]) == 4
    assert set(FORMATS) == {"md", "csv", "json", "tex"}


def test_a_table_without_printed_numbers_says_so(small):
    bare = ReproducedTable("table1", "corrected", small.cells[2:])
    assert "No printed number could be judged." in as_markdown(bare)
