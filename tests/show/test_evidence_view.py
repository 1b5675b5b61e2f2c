"""Pairs as lines: different values never look the same."""

from dataclasses import replace

import pytest

from analogical import audit, evidence, load_table
from analogical.show.views import render_text, view_of


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


def test_rows_without_numbers_are_not_numbered():
    found = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=1)
    assert "sex male → female  survived no → yes  rows 2, 7  16,520 pairs" in render_text(view_of(found))
    unnumbered = replace(found, pairs=(replace(found.pairs[0], rows=None, index=()),))
    assert "sex male → female  survived no → yes  16,520 pairs" in render_text(view_of(unnumbered))
    assert "numbers from 0" in view_of(found).explanation[1]
    assert view_of(unnumbered).explanation[1] == "→: the two rows differ; =: they have the same value."
    audited = audit(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=1)
    assert "rows" not in render_text(replace(view_of(replace(audited, examples=unnumbered)), lines=(), about=()))
