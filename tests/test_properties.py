"""What must hold for every table, the paper's properties among it."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import naive_effect_sums, naive_pairs, naive_share

from analogical import load_table, relevance
from analogical.count.pairs import count_pairs
from analogical.paper import definitions as d
from analogical.study import GivenColumns, Study


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


@st.composite
def tables_with_repeats(draw):
    """Tables whose rows repeat, so that effects and tests have something to say."""
    rows, labels = draw(tables(max_rows=10, max_features=3))
    times = draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    more = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    weights = [*times, *[1] * len(rows)]
    return [*rows, *rows], [*labels, *more], weights


def counted(rows, labels):
    return count_pairs(Study(rows, labels).table.coded)


@given(tables())
def test_counts_stay_in_their_bounds(table):
    result = relevance(*table, given="all")
    assert (result.changed >= 0).all()
    assert (result.changed <= result.pairs).all()
    assert result.pairs.sum() <= result.n_rows * (result.n_rows - 1) // 2
    for i in range(len(result)):
        if result.pairs[i]:
            assert result.ari[i] == result.index[i] == result.changed[i] / result.pairs[i]
        else:
            assert np.isnan([result.index[i], result.effect[i]]).all()
            assert result.ari[i] == (0 if result.feature_columns[i].n_values == 1 else 2)


@pytest.mark.parametrize("way", ["all", "auto", "none", "some"])
@settings(max_examples=30)
@given(data=st.data())
def test_every_number_is_that_of_the_loops_on_the_given_columns(way, data):
    """The oracle sees the columns of the feature and of what it is given, and nothing else."""
    rows, labels, weights = data.draw(tables_with_repeats())
    n = len(rows[0])
    chosen = {"all": "all", "auto": "auto", "none": [], "some": data.draw(st.sets(st.integers(0, n - 1)))}[way]
    names = [f"f{i}" for i in range(n)]
    wanted = chosen if isinstance(chosen, str) else [names[i] for i in chosen]
    result = relevance(rows, labels, weights=weights, given=wanted, feature_names=names)
    study = Study(rows, labels, weights=weights, feature_names=names)
    long_rows, long_labels = expanded(rows, weights), expanded(labels, weights)
    for i in range(n):
        if result.status[i] in ("same", "constant"):
            assert result.compared[i] == 0
            continue
        if way != "auto":
            others = [names[j] for j in (range(n) if way == "all" else chosen) if j != i]
            assert set(result.given[i]) == set(others)
        seen = [tuple(row[j] for j in (i, *map(names.index, result.given[i]))) for row in long_rows]
        pairs = naive_pairs(seen, long_labels, 0)
        assert result.compared[i] == len(pairs)
        if not pairs:
            assert np.isnan([result.index[i], result.effect[i], result.p_value[i]]).all()
            continue
        assert result.index[i] == pytest.approx(naive_share(seen, long_labels, 0))
        n_known, changed, noise = naive_effect_sums(seen, long_labels, 0)
        if n_known:
            assert result.noise_rate[i] == pytest.approx(float(noise) / n_known)
            whole = float(changed - noise) / n_known
            given = tuple(sorted(names.index(name) for name in result.given[i]))
            ((_, size),) = study.sizes({i: GivenColumns(given)}, 0.95)
            assert_between_its_parts(result.effect[i], whole, size.common, has_noise=noise > 0)
        else:
            assert np.isnan(result.noise_rate[i])


def assert_between_its_parts(effect, whole, common, *, has_noise):
    """The effect: the whole one if labels have no noise, else what all contexts share and a part of what varies."""
    if not has_noise:
        assert effect == pytest.approx(whole)
    elif common.effect() >= max(whole, 1e-9):
        assert effect == pytest.approx(common.effect())
    else:  # significant features without a sure size have that of the common difference as it is
        assert effect >= max(common.effect(), 0.0) - 1e-9
        assert effect <= max(whole, common.squared) + 1e-9


@given(tables(), st.randoms(use_true_random=False))
def test_row_order_changes_no_count(table, random):
    rows, labels = table
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = relevance([rows[r] for r in order], [labels[r] for r in order], given="all")
    result = relevance(rows, labels, given="all")
    assert result.pairs.tolist() == shuffled.pairs.tolist()
    assert result.changed.tolist() == shuffled.changed.tolist()
    assert result.paper_status == shuffled.paper_status


@given(tables())
def test_an_exact_copy_leaves_both_without_pairs(table):
    rows, labels = table
    counts = counted([(*row, row[0]) for row in rows], labels)
    assert (counts.pairs[0], counts.pairs[-1]) == (0, 0)


@given(tables(), st.data())
def test_pairs_and_changed_pairs_grow_with_the_sample(table, data):
    rows, labels = table
    size = data.draw(st.integers(2, len(rows)))
    assume(len(set(rows[:size])) > 1)
    assume(len(set(labels[:size])) > 1)
    part, whole = (counted(rows[:n], labels[:n]) for n in (size, len(rows)))
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
    result = relevance(rows, labels, given="all")
    for i in range(len(rows[0])):
        pairs = d.dif(rows, i)
        assert result.pairs[i] == len(pairs)
        assert result.changed[i] == len(pairs) - len(d.dif_eq(rows, labels, i))
        assert result.ari[i] == d.ari(rows, labels, i)
        assert (result.paper_status[i] == "relevant") == d.is_relevant(rows, labels, i)
        assert (result.paper_status[i] == "irrelevant") == d.is_irrelevant(rows, labels, i)


# ---------------------------------------------------------------- laws: what may not change a number or a verdict

NUMBERS = ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index", "noise_rate", "ari")
COUNTS = ("compared", "pairs", "changed")
WORDS = ("status", "paper_status")


def assert_same(one, other, order=None):
    """All numbers and words of the features, those of the second result in the given order."""
    places = range(len(one)) if order is None else order
    for name in NUMBERS:
        first, second = getattr(one, name), getattr(other, name)[list(places)]
        np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-9, err_msg=name)
    for name in COUNTS:
        assert getattr(other, name)[list(places)].tolist() == getattr(one, name).tolist()
    for name in WORDS:
        assert [getattr(other, name)[i] for i in places] == list(getattr(one, name))
    for first, second in zip(one.given, (other.given[i] for i in places), strict=True):
        assert set(first) == set(second)
    assert set(one.deciding) == set(other.deciding)


def expanded(items, weights):
    return [item for item, weight in zip(items, weights, strict=True) for _ in range(weight)]


@settings(max_examples=40)
@given(tables_with_repeats(), st.sampled_from(["all", "none"]))
def test_weights_are_repeated_rows_for_every_number(table, way):
    rows, labels, weights = table
    chosen = "all" if way == "all" else []
    one = relevance(rows, labels, weights=weights, given=chosen)
    assert_same(one, relevance(expanded(rows, weights), expanded(labels, weights), given=chosen))


@settings(max_examples=40)
@given(tables_with_repeats(), st.permutations(range(4)), st.permutations(["x", "y", "z"]))
def test_renaming_changes_no_number(table, values, names):
    rows, labels, weights = table
    renamed = relevance(
        [[f"v{values[v]}" for v in row] for row in rows], [names[y] for y in labels], weights=weights, given="all"
    )
    assert_same(relevance(rows, labels, weights=weights, given="all"), renamed)


@settings(max_examples=40)
@given(tables_with_repeats(), st.randoms(use_true_random=False))
def test_column_order_permutes_every_number(table, random):
    rows, labels, weights = table
    order = list(range(len(rows[0])))
    random.shuffle(order)
    names = [f"f{i}" for i in range(len(order))]
    permuted = relevance(
        [[row[i] for i in order] for row in rows],
        labels,
        weights=weights,
        given="all",
        feature_names=[names[i] for i in order],
    )
    back = [order.index(i) for i in range(len(order))]
    assert_same(relevance(rows, labels, weights=weights, given="all", feature_names=names), permuted, back)


@settings(max_examples=40)
@given(tables_with_repeats(), st.sampled_from(["all", "auto"]))
def test_no_result_contradicts_itself(table, way):
    rows, labels, weights = table
    result = relevance(rows, labels, weights=weights, given=way)
    known = ~np.isnan(result.effect)
    assert (result.effect[known] >= 0).all()
    assert (result.effect_low[known] >= 0).all()
    assert (result.effect_low[known] <= result.effect[known] + 1e-12).all()
    assert (result.effect[known] <= result.effect_high[known] + 1e-12).all()
    tested = ~np.isnan(result.p_value)
    assert ((result.p_value[tested] > 0) & (result.p_value[tested] <= 1)).all()
    assert (result.p_adjusted[tested] >= result.p_value[tested] - 1e-12).all()
    not_significant = tested & (result.p_value > 0.05)
    assert (result.effect_low[not_significant] == 0).all()
    for i, status in enumerate(result.status):
        assert (status == "same") == (result.same_as[i] is not None)
        assert (status == "constant") == (result.feature_columns[i].n_values == 1)
        if status == "effect":
            assert result.p_adjusted[i] <= 1 - 0.95
            assert result.effect[i] > 0
            assert result.effect_low[i] >= 0
        assert status != "none" or result.effect_high[i] <= result.settings.negligible
    assert sorted(result.order()) == list(range(len(result)))
    words = ["effect", "unclear", "none", "same", "constant"]
    ranks = [words.index(result.status[i]) for i in result.order()]
    assert ranks == sorted(ranks)


def real_tables():
    """Tables of different kinds, no two columns alike: a rule of three columns with noise, numbers, many classes."""
    rng = np.random.default_rng(7)
    categories = rng.integers(0, [2, 3, 4, 2, 5, 3], size=(600, 6))
    rule = (categories[:, 0] ^ (categories[:, 1] == 2)) | (categories[:, 2] == 3)
    yield "rule", categories, np.where(rng.random(600) < 0.1, 1 - rule, rule)
    numbers = rng.normal(size=(500, 4))
    numbers[:, 1] += numbers[:, 0]
    yield "numbers", numbers, (numbers[:, 0] + rng.normal(size=500) > 0).astype(int)
    table = load_table("titanic").to_frame("pandas")
    rows = table.loc[table.index.repeat(table["count"])]
    yield "titanic", rows[["class", "sex", "age"]].to_numpy(), rows["survived"].to_numpy()
    monks = load_table("monks-3").to_frame("pandas")
    yield "monks-3", monks.drop(columns=["class", "count"]).to_numpy(), monks["class"].to_numpy()


REAL = {name: (X, y) for name, X, y in real_tables()}


@pytest.fixture(params=REAL)
def case(request):
    return request.param


def ask(X, y, **options):
    return relevance(X, y, **{"feature_names": [f"f{i}" for i in range(np.shape(X)[1])], **options})


@cache
def base(case):
    """The result of a table as it is."""
    return ask(*REAL[case])


def test_row_order_changes_no_verdict(case):
    X, y = REAL[case]
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(base(case), ask(X[order], y[order]))


def test_column_order_changes_no_verdict(case):
    X, y = REAL[case]
    order = np.random.default_rng(2).permutation(X.shape[1])
    permuted = ask(X[:, order], y, feature_names=[f"f{i}" for i in order])
    assert_same(base(case), permuted, np.argsort(order))


@pytest.mark.parametrize("case", [case for case in REAL if case != "numbers"])
def test_names_of_values_and_labels_change_no_verdict(case):
    X, y = REAL[case]
    renamed = np.array([[f"<{value}>" for value in row] for row in X])
    assert_same(base(case), ask(renamed, [f"label {label}" for label in y]))


def test_workers_change_no_verdict(case):
    assert base(case) == ask(*REAL[case], n_jobs=2)


def test_a_constant_column_changes_no_verdict(case):
    X, y = REAL[case]
    wider = ask(np.column_stack([X, np.full(len(y), 1)]), y)
    assert_same(base(case), wider, range(X.shape[1]))
    assert wider.status[-1] == "constant"
    assert np.isnan([wider.effect[-1], wider.p_value[-1], wider.effect_low[-1]]).all()


def test_a_copy_adds_a_line_and_changes_no_verdict(case):
    X, y = REAL[case]
    one = base(case)
    best = int(one.order()[0])
    wider = ask(np.column_stack([X, X[:, best]]), y)
    assert [wider.status[i] for i in range(len(one))] == list(one.status)
    assert (wider.status[-1], wider.same_as[-1]) == ("same", one.names[best])


def verdicts(result):
    """Whether each feature has an effect."""
    return {name: status == "effect" for name, status in zip(result.names, result.status, strict=True)}


def clear_verdicts(result):
    """The same without features whose adjusted p-value is near the level."""
    near = {name for name, p in zip(result.names, result.p_adjusted, strict=True) if 0.01 <= p <= 0.10}
    return {name: verdict for name, verdict in verdicts(result).items() if name not in near}


@pytest.mark.parametrize("n_values", [5, 50, 500])
def test_a_random_column_is_last_and_changes_no_clear_verdict(case, n_values):
    X, y = REAL[case]
    random = np.random.default_rng(n_values).integers(0, n_values, len(y))
    table = pd.DataFrame(X, columns=base(case).names).convert_dtypes()
    wider = relevance(table.assign(random=[f"v{v}" for v in random]), y, ids="keep")
    assert clear_verdicts(base(case)).items() <= verdicts(wider).items()
    assert wider["random"]["status"] != "effect"


def test_a_contradicting_row_changes_no_clear_verdict(case):
    X, y = REAL[case]
    other = next(label for label in y if label != y[0])
    longer = ask(np.vstack([X, X[:1]]), np.append(y, other))
    assert clear_verdicts(base(case)).items() <= verdicts(longer).items()


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
