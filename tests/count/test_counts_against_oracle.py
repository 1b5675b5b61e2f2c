"""Everything exact, with ==, against the slow loops of naive.py."""

import csv

import numpy as np
import pytest
from conftest import DATASETS, random_table
from naive import naive_counts, naive_once

import analogical
from analogical import relevance
from analogical.columns.encode import encode_table
from analogical.count.pairs import count_pairs


def assert_equal_counts(result, expected):
    assert result.pairs.tolist() == expected["pairs"]
    assert result.changed.tolist() == expected["changed"]
    assert result.n_rows == expected["n_rows"]
    assert [column.n_values for column in result.feature_columns] == expected["n_values"]
    assert result.compared.tolist() == expected["pairs"]
    assert result.pairs.dtype == result.changed.dtype == np.int64


def is_degenerate(rows):
    return all(len(set(column)) == 1 for column in np.asarray(rows).T.tolist())


def random_tables(seed, number):
    rng = np.random.default_rng(seed)
    while number:
        rows, labels = random_table(rng)
        if not is_degenerate(rows):
            number -= 1
            yield rows, labels


@pytest.mark.parametrize("seed", range(4))
def test_counts_equal_the_oracle_on_random_tables(seed):
    for rows, labels in random_tables(seed, 75):
        table = encode_table(rows, labels)
        counts, expected = count_pairs(table.coded), naive_counts(rows.tolist(), labels.tolist())
        assert (counts.pairs.tolist(), counts.changed.tolist()) == (expected["pairs"], expected["changed"])
        assert (counts.n_rows, table.n_values.tolist()) == (expected["n_rows"], expected["n_values"])


@pytest.mark.parametrize("seed", range(20))
def test_duplicates_once_reads_the_sample_as_a_set(seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_features=3, n_values=3)
    rows[0, 0], rows[-1, 0] = 0, 1
    once_rows, once_labels = naive_once(rows.tolist(), labels.tolist())
    expected = naive_counts(once_rows, once_labels)
    result = relevance(rows, labels, duplicates="once", given="all")
    assert_equal_counts(result, expected | {"n_rows": len(rows)})
    assert result.settings.duplicates == "once"
    weights = rng.integers(1, 4, size=len(rows))
    assert relevance(rows, labels, weights=weights, duplicates="once", given="all").pairs.tolist() == expected["pairs"]


def test_more_than_65536_values_in_a_column():
    n_values = 70_000
    first = np.arange(n_values)
    rows = np.column_stack([np.concatenate([first, first]), np.repeat([0, 1], n_values)])
    labels = np.concatenate([first % 2, first % 2 ^ (first % 10 == 0)])
    result = relevance(rows, labels, given="all")
    assert [column.n_values for column in result.feature_columns] == [n_values, 2]
    assert result.pairs.tolist() == [2 * (n_values * (n_values - 1) // 2), n_values]
    assert result.changed[1] == n_values // 10
    evens = [int((labels[:n_values] == 0).sum()), int((labels[n_values:] == 0).sum())]
    assert result.changed[0] == sum(e * (n_values - e) for e in evens)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "mushroom" else ()) for name in DATASETS]
)
def test_the_papers_data_files_equal_the_oracle(name, data_folder):
    with (data_folder / f"{name}.csv").open(newline="") as file:
        table = list(csv.reader(file))
    rows, labels = [tuple(row[:-1]) for row in table], [row[-1] for row in table]
    count = all_pairs_counts if name == "mushroom" else naive_counts  # 16 million pairs are slow in pure Python
    assert_equal_counts(relevance(rows, labels, given="all"), count(rows, labels))


def all_pairs_counts(rows, labels):
    """The oracle's counts for a larger table: each row is compared with all later ones at once."""
    cells = np.array(rows)
    label = np.array(labels)
    pairs, changed = np.zeros(cells.shape[1], int), np.zeros(cells.shape[1], int)
    for r in range(len(cells) - 1):
        differs = cells[r + 1 :] != cells[r]
        distance = differs.sum(axis=1)
        flips = label[r + 1 :] != label[r]
        pairs += differs[distance == 1].sum(axis=0)
        changed += differs[(distance == 1) & flips].sum(axis=0)
    return {
        "pairs": pairs.tolist(),
        "changed": changed.tolist(),
        "n_values": [len(set(column)) for column in zip(*rows, strict=True)],
        "n_rows": len(rows),
    }


def test_mushroom_has_31264_pairs_and_none_changes_the_label(data_folder):
    with (data_folder / "mushroom.csv").open(newline="") as file:
        table = list(csv.reader(file))
    result = relevance([row[:-1] for row in table], [row[-1] for row in table], given="all")
    assert (result.pairs.sum(), result.changed.sum()) == (31_264, 0)
    assert set(result.ari.tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_generated_monks_are_the_published_universe(number, data_folder):
    table = analogical.load_table(f"monks-{number}")
    ours = {(tuple(row), label) for row, label in zip(first_seen(table.X), table.y, strict=True)}
    with (data_folder / f"monks-{number}.csv").open(newline="") as file:
        published = [tuple(map(int, row)) for row in csv.reader(file)]
    assert table.X.shape == (432, 6)
    theirs = {(tuple(v - 1 for v in row[:-1]), row[-1]) for row in published}
    assert ours <= theirs
    assert len(theirs - ours) == (6 if number == 3 else 0)  # the noisy labels of the training file


def first_seen(X):
    """Codes by order of appearance, which for a universe in lexicographic order is the value's number."""
    columns = [[list(dict.fromkeys(column)).index(v) for v in column] for column in X.T.tolist()]
    return zip(*columns, strict=True)
