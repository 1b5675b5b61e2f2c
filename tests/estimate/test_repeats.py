"""Copies of rows and units with several rows are seen in the data, and where they are natural they are not."""

import numpy as np
import polars as pl
import pytest

from analogical import Study, load_table, relevance
from analogical._types import RawCells
from analogical.estimate.repeats import count_copies, find_unit


def notes_of(frame, label, **options):
    notes = Study(frame, label, **options).notes
    return [note for note in notes if note.kind in ("copies", "looks-like-groups")]


def cells_of(*columns, units=()):
    codes = np.stack([np.asarray(column) for column in columns]).T
    n_values = codes.max(axis=0) + 1
    return RawCells(tuple(f"x{i}" for i in range(len(columns))), codes, n_values, dict.fromkeys(units, False))


# ---------------------------------------------------------------- copies


def drawn(rng, n, *, n_values):
    """Rows of a few categories and a label, independent of each other."""
    return pl.DataFrame({f"x{i}": rng.integers(0, n_values, n) for i in range(5)}).with_columns(y=rng.integers(0, 2, n))


@pytest.mark.parametrize("n_values", [2, 4, 30])
def test_equal_rows_of_independent_rows_are_natural(n_values):
    rng = np.random.default_rng(0)
    assert not any(notes_of(drawn(rng, n, n_values=n_values), "y") for n in (50, 200, 1_000, 5_000) for _ in range(20))


@pytest.mark.parametrize("times", [2, 3, 5])
def test_copies_of_every_row_are_noted_also_in_tables_of_few_values(times):
    for n_values in (3, 8, 1_000):
        table = drawn(np.random.default_rng(1), 500, n_values=n_values)
        (note,) = notes_of(pl.concat([table] * times), "y")
        assert (note.kind, note.columns) == ("copies", ())
        assert note.counts == (500 * times - len(table.unique()), 500 * times)


def test_copies_of_some_rows_are_noted():
    table = drawn(np.random.default_rng(2), 1_000, n_values=30)
    assert notes_of(pl.concat([table, table[:300]]), "y")[0].counts == (300, 1_300)
    assert not notes_of(pl.concat([table, table[:5]]), "y")  # as chance may do


def test_copies_with_new_numbers_of_rows_are_copies_and_those_with_other_numbers_are_not():
    table = drawn(np.random.default_rng(3), 300, n_values=30)
    twice = pl.concat([table, table])
    assert [note.kind for note in notes_of(twice.with_row_index("row"), "y")] == ["copies"]
    assert not notes_of(twice.with_columns(amount=np.random.default_rng(3).random(600)), "y")


def test_copies_are_seen_in_a_sample_of_many_rows():
    table = drawn(np.random.default_rng(4), 60_000, n_values=1_000)
    assert [note.counts[1] for note in notes_of(pl.concat([table, table]), "y")] == [20_000]
    assert not notes_of(table, "y")


def test_copies_with_weights_or_groups_or_counted_once_are_not_noted():
    table = drawn(np.random.default_rng(5), 200, n_values=30)
    twice = pl.concat([table, table]).with_columns(n=pl.lit(1), g=np.arange(400) % 200)
    for options in ({"weights": "n"}, {"groups": "g"}, {"duplicates": "once"}):
        assert not notes_of(twice, "y", **options)


def test_copies_counted_once_have_the_p_of_the_records():
    rng = np.random.default_rng(3)
    records = pl.DataFrame({f"x{i}": rng.integers(0, 6, 300) for i in range(5)})
    flips = rng.random(300) < 0.2
    records = records.with_columns(y=pl.Series(flips) != (records["x0"] > 2)).unique(maintain_order=True)
    times = rng.integers(1, 6, len(records))
    copied = records[np.repeat(np.arange(len(records)), times)]
    one, other = relevance(records, "y"), relevance(copied, "y", duplicates="once")
    assert one.with_status("effect") == other.with_status("effect") == ["x0"]
    assert one.p_value.tolist() == other.p_value.tolist()
    assert one.status == other.status
    assert one.effect.tolist() == other.effect.tolist()


def test_a_built_in_table_of_counts_has_no_copies():
    for name in ("titanic", "berkeley", "monks-1"):
        table = load_table(name)
        frame = pl.DataFrame(table.columns())
        frame = frame[np.repeat(np.arange(len(frame)), frame["count"])].drop("count")
        assert [note.kind for note in notes_of(frame, table.label)] == []


def test_the_number_of_times_is_tested_against_a_mixed_poisson():
    def n_copies(rows):
        return count_copies(cells_of(rows))

    assert n_copies(np.repeat(np.arange(30), 2)) == 30
    assert n_copies(np.repeat(np.arange(24), 2)) == 0  # fewer than 50 rows
    assert n_copies(np.arange(60)) == 0
    assert n_copies(np.append(np.arange(58), [0, 1])) == 0
    assert n_copies(np.repeat(np.arange(40), np.arange(40) % 5 + 1)) == 0  # once to five times


# ---------------------------------------------------------------- units


def lecturers(rng, n_lecturers, n_rows, *, n_constant=4):
    """Ratings of lecturers, whose sex, rank, department and language are constant; and features of the course."""
    lecturer = np.repeat(np.arange(n_lecturers), rng.integers(max(n_rows // 2, 2), 2 * n_rows, n_lecturers))
    frame = pl.DataFrame({f"own{i}": rng.integers(0, 2 + i, n_lecturers)[lecturer] for i in range(n_constant)})
    n = len(lecturer)
    return frame.with_columns(
        lecturer=pl.Series(rng.permutation(n_lecturers)[lecturer]).cast(pl.String) + " Smith",
        level=rng.integers(0, 3, n),
        size=rng.integers(0, 60, n),
        rating=(rng.random(n_lecturers)[lecturer] + rng.random(n) > 1).astype(int),
    )


@pytest.mark.parametrize("n_rows", [2, 5, 50])
@pytest.mark.parametrize("as_number", [False, True])
def test_a_lecturer_is_a_unit_if_two_columns_are_constant_within(n_rows, as_number):
    rng = np.random.default_rng(6)
    for n_constant in (2, 4):
        frame = lecturers(rng, 60, n_rows, n_constant=n_constant).sample(fraction=1, shuffle=True, seed=0)
        if as_number:
            frame = frame.with_columns(pl.col("lecturer").rank("dense").cast(pl.Int64) * 7)
        (note,) = notes_of(frame, "rating")
        assert (note.kind, note.columns, note.counts[0]) == ("looks-like-groups", ("lecturer",), 60)
        assert note.counts[1] == round(len(frame) / 60)
        assert note.words == tuple(f"own{i}" for i in range(n_constant))
    for left_out in ("own0", "own1"):
        assert not notes_of(frame.select(pl.exclude("own2", "own3", left_out)), "rating")


def test_patients_with_two_visits_are_a_unit_whatever_they_are_called():
    rng = np.random.default_rng(7)
    frame = lecturers(rng, 400, 2).rename({"lecturer": "who"})
    frame = pl.concat([part[:2] for part in frame.partition_by("who")])
    (note,) = notes_of(frame, "rating")
    assert (note.columns, note.counts) == (("who",), (400, 2))
    assert "who" not in relevance(frame, "rating").names  # text that is distinct in half of the rows
    assert not notes_of(frame, "rating", groups="who")


def test_a_label_that_is_constant_within_units_counts_as_one_column():
    rng = np.random.default_rng(8)
    storm = np.repeat(np.arange(50), 20)
    frame = pl.DataFrame({"storm": [f"storm {k}" for k in storm], "basin": rng.integers(0, 4, 50)[storm]})
    frame = frame.with_columns(wind=rng.random(1_000), y=rng.integers(0, 2, 50)[storm])
    (note,) = notes_of(frame, "y")
    assert (note.columns, note.words) == (("storm",), ("basin", "y"))


def test_a_unit_seen_in_the_data_replaces_one_that_is_known_by_its_name_only():
    rng = np.random.default_rng(9)
    frame = lecturers(rng, 60, 5).with_columns(person=pl.lit(1))
    frame = frame.with_columns(person=np.arange(len(frame)) % 40 + 1)
    assert [note.columns for note in notes_of(frame, "rating")] == [("lecturer",)]
    assert [note.columns for note in notes_of(frame.drop("lecturer"), "rating")] == [("person",)]


def test_a_number_does_not_name_units_because_its_classes_are_columns_too():
    rng = np.random.default_rng(10)
    age = rng.integers(18, 80, 2_000)
    frame = pl.DataFrame(
        {"age": age, "decade": age // 10, "adult": age > 21, "old": age > 65, "forties": age // 10 == 4}
    )
    assert not notes_of(frame.with_columns(y=rng.integers(0, 2, 2_000)), "y")


def test_indicators_of_single_values_and_copies_of_one_column_are_not_several_columns():
    rng = np.random.default_rng(11)
    town = rng.integers(0, 12, 600)
    frame = pl.DataFrame({"town": [f"town {k}" for k in town], "y": rng.integers(0, 2, 600)})
    assert not notes_of(frame.with_columns(pl.Series(f"is{k}", town == k) for k in range(5)), "y")
    region = rng.permutation(12)[town] % 3
    frame = frame.with_columns(region=region, again=2 - region)
    assert not notes_of(frame, "y")
    assert notes_of(frame.with_columns(coast=(town * 5 % 12 < 6)), "y")[0].words == ("region", "coast")


def test_columns_that_chance_may_leave_constant_are_no_sign():
    rng = np.random.default_rng(12)
    for _ in range(50):
        unit = rng.integers(0, 90, 100)  # hardly two rows of each
        rare = [(rng.random(100) < 0.03).astype(int) + 1 for _ in range(20)]
        assert find_unit(cells_of(unit + 1, *rare, units=[0]), 100) is None


def test_units_are_found_in_many_rows_and_missing_cells_are_no_unit():
    rng = np.random.default_rng(13)
    frame = lecturers(rng, 3_000, 20).sample(fraction=1, shuffle=True, seed=0)
    assert len(frame) > 50_000
    (note,) = notes_of(frame, "rating")
    assert note.counts == (3_000, round(len(frame) / 3_000))
    gaps = frame[:2_000].with_columns(lecturer=pl.when(pl.col("level") > 0).then("lecturer"))
    (note,) = notes_of(gaps, "rating")
    assert note.counts[1] == round(gaps["lecturer"].count() / gaps["lecturer"].n_unique())
