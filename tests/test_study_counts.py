"""The contexts of features given columns: what is cached, merged or counted first changes no number."""

import numpy as np
import pandas as pd
import pytest
from conftest import coded
from naive import naive_context_tables

from analogical import Study
from analogical import study as study_module
from analogical.count import contexts as contexts_module
from analogical.estimate.groups import group_p_value
from analogical.estimate.sizes import common_difference_of_groups
from analogical.study import GivenColumns


def rows_and_labels(n_features=5, n_rows=400):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (n_rows, n_features))
    rows[:, 5:], rows[:, 2] = 0, rng.integers(0, 2, n_rows)
    return rows, (rows[:, 0] == rows[:, 1]) ^ (rng.random(n_rows) < 0.2)


ITEMS = {5: [(0, (1, 2)), (1, (0, 2)), (2, (0, 1)), (3, (0, 1)), (4, ()), (4, (0, 1, 2, 3))]}
"""Features of two and three values, some of them given the same columns."""
ITEMS[14] = [*ITEMS[5], (7, (0, 1)), *((i, tuple(j for j in range(14) if j != i)) for i in range(3))]


def sizes_of(study, items):
    """The size of each item, many features at a time, each given one set of columns at a time."""
    found, left = {}, list(items)
    while left:
        block = {}
        for item in left:
            block.setdefault(item[0], item)
        given = {feature: GivenColumns(columns) for feature, (_, columns) in block.items()}
        found.update((block[feature], size) for feature, size in study.sizes(given, 0.95))
        left = [item for item in left if item not in block.values()]
    return found


def answers(study, items):
    """P-value, effect and interval of each item that has pairs."""
    sizes = {item: size for item, size in sizes_of(study, items).items() if size is not None}
    assert [item for item in items if item not in sizes] == [item for item in items if item[0] == 7]
    found = [(study.tested(*item), sizes[item]) for item in items if item in sizes]
    return [(tested.p_value, size.effect, size.low, size.high) for tested, size in found]


@pytest.mark.parametrize("change", ["nothing cached", "all merged", "blocks of one", "contexts first", "tests first"])
@pytest.mark.parametrize("n_features", ITEMS)
def test_numbers_do_not_depend_on_what_is_cached_merged_or_asked_first(change, n_features, monkeypatch):
    rows, labels = rows_and_labels(n_features)
    items = ITEMS[n_features]
    expected = answers(Study(rows, labels), items)
    if change == "nothing cached":
        monkeypatch.setattr(study_module, "CELLS", 0)
    elif change == "all merged":
        monkeypatch.setattr(contexts_module, "FEW_CONTEXTS", 0)
    elif change == "blocks of one":
        monkeypatch.setattr(study_module, "CELLS", 1)
    study = Study(rows, labels)
    if change == "contexts first":
        for item in items:
            study.contexts(*item)
    elif change == "tests first":
        study.test(items)
    assert np.array(answers(study, items)) == pytest.approx(np.array(expected), rel=1e-9)


def test_equal_contexts_are_merged_where_they_are_many(monkeypatch):
    rows, labels = rows_and_labels(n_rows=300)
    item = 0, (1, 2, 3, 4)
    few = Study(rows, labels).contexts(*item)
    n_contexts = len(naive_context_tables(rows.tolist(), labels.tolist(), 0))
    assert len(few) == n_contexts > 300 // 8
    monkeypatch.setattr(contexts_module, "FEW_CONTEXTS", n_contexts)
    assert len(Study(rows, labels).contexts(*item)) == n_contexts
    monkeypatch.setattr(contexts_module, "FEW_CONTEXTS", n_contexts - 1)
    many = Study(rows, labels).contexts(*item)
    assert len(many) < n_contexts == many.times.sum()


@pytest.mark.parametrize(("n_rows", "n_merged"), [(7, 1), (8, 2)])
def test_contexts_of_eight_rows_each_are_not_many(n_rows, n_merged, monkeypatch):
    monkeypatch.setattr(contexts_module, "FEW_CONTEXTS", 0)
    rows = np.array([(place % 2, context) for context in range(2) for place in range(n_rows)])
    assert len(Study(rows, rows[:, 0]).contexts(0, (1,))) == n_merged


def test_contexts_are_counted_and_tested_once(monkeypatch):
    counted, tested = [], []
    test_stack = study_module.test_stack

    def counting(count, self, items):
        for block, stack in count(self, items):
            counted.extend(block)
            yield block, stack

    def testing(stack, *more):
        tested.append(stack.n_features)
        return test_stack(stack, *more)

    for name in ("_count_given", "_count_alike"):
        count = getattr(Study, name)
        monkeypatch.setattr(Study, name, lambda self, items, count=count: counting(count, self, items))
    monkeypatch.setattr(study_module, "test_stack", testing)
    rows, labels = rows_and_labels(14)
    study = Study(rows, labels)
    for _ in range(2):
        for item in ITEMS[14]:
            study.contexts(*item)
        answers(study, ITEMS[14])
    assert counted == ITEMS[14]
    assert tested == [1] * 10


def test_features_given_many_columns_are_counted_in_one_search(monkeypatch):
    searches = []
    search = study_module.find_contexts

    def searching(rows, features, **options):
        searches.append(features)
        return search(rows, features, **options)

    monkeypatch.setattr(study_module, "find_contexts", searching)
    monkeypatch.setattr(study_module, "CELLS", 0)  # a limit for other contexts
    rows, labels = rows_and_labels(14)
    study = Study(rows, labels)
    for _ in range(2):
        answers(study, ITEMS[14])
    assert searches == [[0, 1, 2]]
    plain = rows.tolist(), labels.tolist()
    for i in range(3):
        contexts = study.contexts(*ITEMS[14][-3 + i])
        assert contexts.times.sum() == len(naive_context_tables(*plain, i))


# ---------------------------------------------------------------- units


def test_the_unit_is_given_too_where_the_feature_varies_within_units():
    """Labels are equal within each unit; half of the units have the label, and one value more often than the other."""
    units = np.repeat(np.arange(40), 3)
    values = np.where(units[:, None] % 2 == 0, [0, 0, 1], [0, 1, 1])[::3].ravel()
    study = Study(pd.DataFrame({"value": values, "unit": units}), units % 2, groups="unit")
    assert study.codes(study.group_column).tolist() == units.tolist()
    ((_, size),) = study.sizes({0: GivenColumns(())}, 0.95)
    assert size.common.between(0, 1, 1)[0] == pytest.approx(0.0)
    rows = study.rows_of([0, study.group_column])
    assert common_difference_of_groups(rows, np.eye(2))[0].between(0, 1, 1)[0] == pytest.approx(1 / 3)


def test_the_rows_searched_know_their_units(monkeypatch):
    monkeypatch.setattr("analogical.study.SEARCH_ROWS", 200)
    rows, labels = rows_and_labels()
    units = np.arange(400) // 3
    study = Study(rows, labels, groups=units)
    sample, chosen = study.sample, study.some_rows(200)
    assert len(np.unique(chosen)) == 200
    assert sample.codes(sample.group_column).tolist() == units[chosen].tolist()
    expected = group_p_value(coded(np.column_stack([rows[:, :2], units])[chosen], labels[chosen]))
    assert sample.p_value(0, GivenColumns((1,))) == pytest.approx(expected)


@pytest.mark.parametrize("n_values", [1, 8, 9])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_margins_are_the_rows_of_each_label_and_value(n_values, is_weighted):
    rng = np.random.default_rng(n_values)
    values, labels, weights = rng.integers(0, n_values, 60), rng.integers(0, n_values, 60), rng.integers(0, 4, 60)
    table = coded(values[:, None], labels, weights if is_weighted else None, [n_values + 1], n_values + 1)
    often = weights if is_weighted else np.ones(60, int)
    for found, codes in ((table.value_sizes(0), values), (table.label_sizes(), labels)):
        assert found.tolist() == [int(often[codes == code].sum()) for code in range(n_values + 1)]
        assert found.dtype == np.int64
