"""``relaxed_index``: the numbers it always had, what it takes, and what it refuses."""

import numpy as np
import pytest

from analogical import InputError, ari_score, load_table, relaxed_index
from analogical.paper import sample


def noisy_categories():
    """The exclusive or of two features, a tenth of the labels flipped; and four features that do nothing."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, (120, 6))
    return codes, ((codes[:, 0] > 0) ^ (codes[:, 1] > 0) ^ (rng.random(120) < 0.1)).astype(int)


def numbers():
    """The sign of a product of two numbers, and two that do nothing."""
    rng = np.random.default_rng(7)
    values = rng.normal(size=(150, 4)).round(3)
    return values, (values[:, 0] * values[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        ("auto", [0.31957787186095626, 0.3861984547195379, 0.017302415514899784, 0, 0.03752443833152264, 0.0233535767]),
        (
            2,
            [
                0.4324992540473187,
                0.4926690276690006,
                0.05797216582238757,
                0.017074019248541062,
                0.0633802053,
                0.0313655,
            ],
        ),
    ],
)
def test_scores_are_those_that_relevance_gave_beyond_distance_one(radius, expected):
    """Recorded with version 56efe3c of the repository."""
    assert relaxed_index(*noisy_categories(), radius=radius) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        ("auto", [0.33042245662114783, 0.2648916149033769, 0, 0]),
        (3, [0.3536692135285034, 0.28858937366233495, 0, 0]),
    ],
)
def test_scores_of_numbers_are_means_over_five_three_and_two_bins(radius, expected):
    """Recorded with version 56efe3c of the repository."""
    assert relaxed_index(*numbers(), radius=radius) == pytest.approx(expected, abs=1e-7)


def test_radius_one_is_the_paper_s_index():
    codes, labels = sample("g1", 8)
    assert relaxed_index(codes, labels, radius=1).tolist() == ari_score(codes, labels).tolist()


def test_it_finds_features_that_act_only_together_where_no_row_has_a_neighbour():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (400, 60))
    labels = codes[:, 5] ^ codes[:, 40]
    assert np.isnan(ari_score(codes, labels)).all()
    assert set(np.argsort(-relaxed_index(codes, labels))[:2].tolist()) == {5, 40}


def test_neither_threads_nor_the_order_of_rows_or_columns_move_a_score():
    codes, labels = noisy_categories()
    found = relaxed_index(codes, labels)
    assert (relaxed_index(codes, labels, n_jobs=2) == found).all()
    rows, columns = np.random.default_rng(0).permutation(120), [3, 0, 5, 1, 4, 2]
    assert relaxed_index(codes[rows], labels[rows]) == pytest.approx(found, abs=1e-9)
    assert relaxed_index(codes[:, columns], labels) == pytest.approx(found[columns], abs=1e-9)


def test_weights_label_and_features_may_be_names_of_columns():
    frame = load_table("titanic").to_frame()
    found = relaxed_index(frame, "survived", weights="count")
    assert found.shape == (3,)
    titanic = load_table("titanic")
    again = relaxed_index(titanic.X, titanic.y, weights=titanic.weights)
    assert again == pytest.approx(found, abs=1e-12)
    fewer = relaxed_index(frame, "survived", weights="count", ignore=["age"])
    assert fewer.tolist() == relaxed_index(frame, "survived", weights="count", features=["class", "sex"]).tolist()


def test_a_constant_feature_has_no_score():
    codes, labels = noisy_categories()
    found = relaxed_index(np.column_stack([codes, np.ones(120, int)]), labels)
    assert np.isnan(found[6])
    assert found[:6] == pytest.approx(relaxed_index(codes, labels), abs=1e-12)


@pytest.mark.parametrize("radius", [0, 7, 1.5, "far", True, None])
def test_a_radius_is_a_number_of_features_or_auto(radius):
    message = rf'radius must be a whole number from 1 to 6 \(the table has 6 features\) or "auto", got {radius!r}\.'
    with pytest.raises(InputError, match=message):
        relaxed_index(*noisy_categories(), radius=radius)
