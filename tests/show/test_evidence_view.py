"""Pairs as lines: different values never look the same."""

import pytest

from analogical import evidence
from analogical.show.text import render_text
from analogical.show.views import view_of


@pytest.mark.parametrize(
    ("a", "b", "line"),
    [
        ("yes", "yes ", "x0 yes → 'yes '"),
        ("", "x", "x0 '' → x"),
        ("a" * 40 + "1", "a" * 40 + "2", "x0 aaaaaaaaaaa...aaaaaaaaa1 → aaaaaaaaaaa...aaaaaaaaa2"),
        ("a\u00a0b", "a b", "x0 'a\\xa0b' → 'a b'"),
    ],
)
def test_two_values_of_a_pair_can_be_told_apart(a, b, line):
    text = render_text(view_of(evidence([(a, 1), (b, 1)], [0, 1], 0, fold_case=False)))
    assert line in text
