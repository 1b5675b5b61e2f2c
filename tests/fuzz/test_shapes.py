"""Awkward shapes: an answer within 30 s of the processor and 2 GB, or one sentence within 5 s.

``FUZZ_SHAPES`` is their size in per cent; benchmarks/shapes.py records them at their full size.
"""

import os
import sys

import pytest
from fuzz.running import check_message
from fuzz.shapes import SHAPES, is_within_limits, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does")

SIZE = float(os.environ.get("FUZZ_SHAPES", "3")) / 100


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_takes_little_time_and_memory(name):
    found = measure(name, SIZE)
    assert is_within_limits(found), found
    if found["refused"] is not None:
        check_message(found["refused"])


@pytest.mark.parametrize(
    ("found", "is_fine"),
    [
        ({"seconds": 29, "megabytes": 2_000, "refused": None}, True),
        ({"seconds": 31, "megabytes": 100, "refused": None}, False),
        ({"seconds": 1, "megabytes": 2_100, "refused": None}, False),
        ({"seconds": 6, "megabytes": 100, "refused": "too much"}, False),
        ({"failed": "killed"}, False),
    ],
)
def test_limits_are_those_of_time_and_memory(found, is_fine):
    assert is_within_limits(found) == is_fine
