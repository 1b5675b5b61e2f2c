"""The definitions of the paper on its own examples."""

import pytest

from analogical import InputError
from analogical.paper import definitions as d

A = ("A", "yellow", 45, "male", 0)
B = ("A", "red", 51, "female", 0)


def test_the_papers_example_of_agreement():
    assert d.agreement_set(A, B) == {0, 4}
    assert d.disagreement_set(A, B) == {1, 2, 3}
    assert d.hamming_distance(A, B) == 3


def test_the_papers_counterexample_is_no_proportion():
    assert d.agreement_set(A, B) == d.agreement_set(B, A)
    assert not d.is_analogical_proportion(A, B, B, A)


def test_a_feature_without_pairs_is_neither_relevant_nor_irrelevant():
    rows, labels = [(0, 0), (1, 1)], [0, 1]
    assert d.dif(rows, 0) == []
    assert not d.is_relevant(rows, labels, 0)
    assert not d.is_irrelevant(rows, labels, 0)
    assert d.ari(rows, labels, 0) == 2.0


def test_a_constant_feature_has_index_zero():
    assert d.ari([(0, 0), (0, 1)], [0, 1], 0) == 0.0
    assert d.values([(0, 0), (0, 1)], 1) == {0, 1}


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="Rows of 2 and 3 features cannot be compared"):
        d.agreement_set("ab", "abc")
    with pytest.raises(InputError, match="Rows of 2 and 1 features"):
        d.is_analogical_proportion("ab", "ab", "ab", "a")
