"""What must hold for every table, the paper's properties among it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analogical import definitions as d
from analogical import relevance


@st.composite
def tables(draw, max_rows=14, max_features=5):
    """Small tables with many ties, at least two classes and one feature that varies."""
    n_features = draw(st.integers(1, max_features))
    n_values = draw(st.integers(2, 4))
    row = st.tuples(*[st.integers(0, n_values - 1)] * n_features)
    rows = draw(st.lists(row, min_size=2, max_size=max_rows))
    labels = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    assume(len(set(labels)) > 1)
    assume(len(set(rows)) > 1)
    return rows, labels


@given(tables())
def test_counts_stay_in_their_bounds(table):
    result = relevance(*table, radius=1)
    assert (result.changed >= 0).all()
    assert (result.changed <= result.pairs).all()
    assert result.pairs.sum() + result.n_identical <= result.n_rows * (result.n_rows - 1) // 2
    assert 0 <= result.n_contradictions <= result.n_identical
    for i in range(len(result)):
        if result.pairs[i]:
            assert result.ari[i] == result.score[i] == result.changed[i] / result.pairs[i]
        else:
            assert np.isnan(result.score[i])
            assert result.ari[i] == (0 if result.n_values[i] == 1 else 2)


@given(tables())
def test_beyond_distance_one_every_feature_that_varies_has_a_score(table):
    result = relevance(*table)
    if result.settings.radius > 1:
        known = ~np.isnan(result.score)
        assert np.array_equal(known, result.pairs_within > 0)
        assert ((result.score[known] >= 0) & (result.score[known] <= 1)).all()
        assert (result.pairs_within >= result.pairs).all()
        assert (result.changed_within >= result.changed).all()
    else:
        assert np.array_equal(result.pairs_within, result.pairs)


@given(tables())
def test_noisy_or_at_radius_one_is_the_index(table):
    one, share = (relevance(*table, radius=1, attribution=attribution) for attribution in ("noisy-or", "share"))
    assert np.array_equal(one.score, share.score, equal_nan=True)


@given(tables(), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(table, random):
    rows, labels = table
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = relevance([rows[r] for r in order], [labels[r] for r in order])
    result = relevance(rows, labels)
    assert result.pairs.tolist() == shuffled.pairs.tolist()
    assert result.changed.tolist() == shuffled.changed.tolist()
    assert result.status == shuffled.status


@given(tables(), st.randoms(use_true_random=False))
def test_column_order_permutes(table, random):
    rows, labels = table
    order = list(range(len(rows[0])))
    random.shuffle(order)
    permuted = relevance([[row[i] for i in order] for row in rows], labels)
    result = relevance(rows, labels)
    assert result.pairs[order].tolist() == permuted.pairs.tolist()
    assert result.changed[order].tolist() == permuted.changed.tolist()


@given(tables(), st.permutations(range(4)), st.permutations(["x", "y", "z"]))
def test_renaming_values_and_labels_changes_nothing(table, values, names):
    rows, labels = table
    renamed = relevance([[f"v{values[v]}" for v in row] for row in rows], [names[label] for label in labels])
    result = relevance(rows, labels)
    assert result.pairs.tolist() == renamed.pairs.tolist()
    assert result.changed.tolist() == renamed.changed.tolist()


@given(tables())
def test_a_constant_column_changes_nobody(table):
    rows, labels = table
    result = relevance(rows, labels)
    wider = relevance([(*row, "same") for row in rows], labels)
    assert wider.pairs.tolist() == [*result.pairs.tolist(), 0]
    assert wider.changed.tolist() == [*result.changed.tolist(), 0]
    assert (wider.ari[-1], wider.status[-1]) == (0, "constant")


@given(tables())
def test_an_exact_copy_leaves_both_without_pairs(table):
    rows, labels = table
    result = relevance([(*row, row[0]) for row in rows], labels)
    assert (result.pairs[0], result.pairs[-1]) == (0, 0)


@given(tables(), st.data())
def test_pairs_and_changed_pairs_grow_with_the_sample(table, data):
    rows, labels = table
    size = data.draw(st.integers(2, len(rows)))
    assume(len(set(rows[:size])) > 1)
    assume(len(set(labels[:size])) > 1)
    part, whole = relevance(rows[:size], labels[:size]), relevance(rows, labels)
    assert (part.pairs <= whole.pairs).all()
    assert (part.changed <= whole.changed).all()
    assert (part.pairs - part.changed <= whole.pairs - whole.changed).all()
    for i in range(len(rows[0])):
        assert set(d.dif(rows[:size], i)) <= set(d.dif(rows, i))
        assert set(d.dif_eq(rows[:size], labels, i)) <= set(d.dif_eq(rows, labels, i))
        if d.is_relevant(rows[:size], labels, i):
            assert d.is_relevant(rows, labels, i)
        if d.is_irrelevant(rows, labels, i) and d.dif(rows[:size], i):
            assert d.is_irrelevant(rows[:size], labels, i)


@given(tables())
def test_the_teaching_version_agrees_with_the_fast_one(table):
    rows, labels = table
    result = relevance(rows, labels)
    for i in range(len(rows[0])):
        pairs = d.dif(rows, i)
        assert result.pairs[i] == len(pairs)
        assert result.changed[i] == len(pairs) - len(d.dif_eq(rows, labels, i))
        assert result.ari[i] == d.ari(rows, labels, i)
        assert (result.status[i] == "relevant") == d.is_relevant(rows, labels, i)
        assert (result.status[i] == "irrelevant") == d.is_irrelevant(rows, labels, i)


@given(tables())
def test_ranking_puts_evidence_first_and_is_total(table):
    result = relevance(*table, radius=1)
    order = result.order().tolist()
    assert sorted(order) == list(range(len(result.names)))
    keys = [
        (np.isnan(result.score[i]), result.n_values[i] == 1, -np.nan_to_num(result.score[i]), -result.pairs[i], i)
        for i in order
    ]
    assert keys == sorted(keys)


two_rows = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.tuples(*[st.integers(0, 2)] * n)] * 2))


@pytest.mark.parametrize(("n_features", "n_values"), [(1, 3), (2, 2), (3, 2)])
def test_a_proportion_implies_equal_agreement_sets(n_features, n_values):
    universe = list(product(range(n_values), repeat=n_features))
    proportions = [four for four in product(universe, repeat=4) if d.is_analogical_proportion(*four)]
    # per feature: s:s::t:t or s:t::s:t, which coincide when s = t
    assert len(proportions) == (2 * n_values**2 - n_values) ** n_features
    for a, b, c, e in proportions:
        assert d.agreement_set(a, b) == d.agreement_set(c, e)
        assert d.disagreement_set(a, b) == d.disagreement_set(c, e)
        assert d.hamming_distance(a, b) == d.hamming_distance(c, e)
        assert d.is_analogical_proportion(a, c, b, e)  # central permutation
        assert d.is_analogical_proportion(c, e, a, b)  # symmetry


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=4))
def test_a_constructed_proportion_holds(changes):
    a, b, c, e = [], [], [], []
    for s, t, moves in changes:  # s:t::s:t where the first pair moves, s:s::t:t where it stays
        a.append(s)
        b.append(t if moves else s)
        c.append(s if moves else t)
        e.append(t)
    assert d.is_analogical_proportion(a, b, c, e)
    assert d.agreement_set(a, b) == d.agreement_set(c, e)


@given(two_rows)
def test_agreement_and_disagreement_split_the_features(rows):
    a, b = rows
    agree, differ = d.agreement_set(a, b), d.disagreement_set(a, b)
    assert agree | differ == set(range(len(a)))
    assert len(agree) + len(differ) == len(a)
    assert not agree & differ
