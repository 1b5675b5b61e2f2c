"""What must hold for every table, the paper's properties among it."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import naive_compared

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
            assert result.ari[i] == result.changed[i] / result.pairs[i]
            assert result.score_basis[i] != "index" or result.score[i] == result.ari[i]
            assert not result.effect_pairs[i] > result.pairs[i]
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
    assert result.paper_status == shuffled.paper_status


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
        assert (result.paper_status[i] == "relevant") == d.is_relevant(rows, labels, i)
        assert (result.paper_status[i] == "irrelevant") == d.is_irrelevant(rows, labels, i)


# ---------------------------------------------------------------- effects, intervals and p-values at radius 1

NUMBERS = ("ari", "effect", "noise_rate", "score", "effective_rows", "ari_std_error", "ari_low", "ari_high")
NUMBERS += ("effect_low", "effect_high", "score_low", "score_high", "p_value", "p_adjusted")
COUNTS = ("pairs", "changed", "effect_pairs", "n_values", "value_pairs", "value_pairs_compared")
WORDS = ("status", "paper_status", "score_basis")


def assert_same(one, other, order=None):
    """All numbers and words of the features, those of the second result in the given order."""
    places = range(len(one)) if order is None else order
    for name in NUMBERS:
        first, second = getattr(one, name), getattr(other, name)[list(places)]
        np.testing.assert_allclose(second, first, rtol=1e-7, atol=1e-9, err_msg=name)
    for name in COUNTS:
        assert getattr(other, name)[list(places)].tolist() == getattr(one, name).tolist()
    for name in WORDS:
        assert [getattr(other, name)[i] for i in places] == list(getattr(one, name))


@st.composite
def tables_with_repeats(draw):
    """Tables whose rows repeat, so that effects and tests have something to say."""
    rows, labels = draw(tables(max_rows=10, max_features=3))
    times = draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    more = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    weights = [*times, *[1] * len(rows)]
    return [*rows, *rows], [*labels, *more], weights


def expanded(items, weights):
    return [item for item, weight in zip(items, weights, strict=True) for _ in range(weight)]


@settings(max_examples=40)
@given(tables_with_repeats())
def test_weights_are_repeated_rows_for_every_number(table):
    rows, labels, weights = table
    one = relevance(rows, labels, weights=weights, radius=1)
    assert_same(one, relevance(expanded(rows, weights), expanded(labels, weights), radius=1))


@settings(max_examples=40)
@given(tables_with_repeats(), st.randoms(use_true_random=False))
def test_row_order_changes_no_number(table, random):
    rows, labels, weights = table
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = relevance(
        [rows[r] for r in order], [labels[r] for r in order], weights=[weights[r] for r in order], radius=1
    )
    assert_same(relevance(rows, labels, weights=weights, radius=1), shuffled)


@settings(max_examples=40)
@given(tables_with_repeats(), st.permutations(range(4)), st.permutations(["x", "y", "z"]))
def test_renaming_changes_no_number(table, values, names):
    rows, labels, weights = table
    renamed = relevance(
        [[f"v{values[v]}" for v in row] for row in rows], [names[y] for y in labels], weights=weights, radius=1
    )
    assert_same(relevance(rows, labels, weights=weights, radius=1), renamed)


@settings(max_examples=40)
@given(tables_with_repeats(), st.randoms(use_true_random=False))
def test_column_order_permutes_every_number(table, random):
    rows, labels, weights = table
    order = list(range(len(rows[0])))
    random.shuffle(order)
    permuted = relevance([[row[i] for i in order] for row in rows], labels, weights=weights, radius=1)
    back = [order.index(i) for i in range(len(order))]
    assert_same(relevance(rows, labels, weights=weights, radius=1), permuted, back)


@settings(max_examples=40)
@given(tables_with_repeats())
def test_a_constant_column_changes_no_number(table):
    rows, labels, weights = table
    wider = relevance([(*row, "same") for row in rows], labels, weights=weights, radius=1)
    assert_same(relevance(rows, labels, weights=weights, radius=1), wider, range(len(rows[0])))
    assert np.isnan([wider.effect[-1], wider.p_value[-1], wider.effect_low[-1]]).all()
    assert wider.status[-1] == "constant"


@settings(max_examples=40)
@given(tables_with_repeats())
def test_numbers_stay_in_their_bounds(table):
    rows, labels, weights = table
    result = relevance(rows, labels, weights=weights, radius=1)
    known = result.effect_pairs > 0
    assert (result.effect_pairs <= result.pairs).all()
    assert np.array_equal(known, ~np.isnan(result.effect))
    assert ((result.noise_rate[known] >= 0) & (result.noise_rate[known] <= 1)).all()
    assert (result.effect_low[known] <= result.effect_high[known]).all()
    assert (result.effect[known] <= result.effect_high[known] + 1e-12).all()
    assert (result.effect_low[known] <= np.maximum(result.effect[known], 0) + 1e-12).all()
    tested = ~np.isnan(result.p_value)
    assert ((result.p_value[tested] > 0) & (result.p_value[tested] <= 1)).all()
    assert (result.p_adjusted[tested] >= result.p_value[tested] - 1e-12).all()


@given(tables())
def test_value_coverage_is_that_of_the_loops(table):
    rows, labels = table
    result = relevance(rows, labels, radius=1)
    for i, name in enumerate(result.names):
        values = sorted({row[i] for row in rows}, key=lambda v, i=i: -sum(row[i] == v for row in rows))
        compared = naive_compared(rows, i)
        assert result.value_pairs[i] == len(values) * (len(values) - 1) // 2
        assert result.value_pairs_compared[i] == len(compared)
        if not compared:
            continue
        missing = result.never_compared(name)
        twos = {frozenset(two) for two in combinations(values, 2)}
        assert {frozenset(two) for two in missing} == twos - compared
        assert len(missing) == result.value_pairs[i] - result.value_pairs_compared[i]


def test_values_that_were_never_compared_are_listed_most_frequent_first():
    rows = [(value, value) for value, times in ((0, 2), (1, 4), (2, 3)) for _ in range(times)]
    result = relevance([*rows, (3, 0)], [0, 1] * 5, radius=1)
    assert result.never_compared("x0") == ((1, 2), (1, 0), (1, 3), (2, 0), (2, 3))
    many = relevance([*((v, v) for v in range(40)), (1, 0)], [0, 1] * 20 + [0], radius=1)
    assert (len(many.never_compared("x0")), many.value_pairs_compared[0]) == (20, 1)
    beyond = relevance([(v, v) for v in range(65)], [0, 1] * 32 + [0], radius=1)
    assert (beyond.never_compared("x0"), beyond.value_pairs_compared[0]) == ((), -1)
    at_limit = relevance([(v, v) for v in range(64)], [0, 1] * 32, radius=1)
    assert at_limit.value_pairs_compared[0] == 0


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
