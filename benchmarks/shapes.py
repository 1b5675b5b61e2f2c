"""Time and peak memory of tables and files of awkward shapes, each in a process of its own.

    python benchmarks/shapes.py            # all shapes at their full size; writes results/shapes.json and shapes.md
    python benchmarks/shapes.py --quick    # a fiftieth of it; prints

The shapes, and the limits that they must keep, are those of tests/fuzz/shapes.py.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from machine import describe_machine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fuzz.shapes import MAX_MEGABYTES, MAX_SECONDS, MAX_SECONDS_OF_REFUSAL, SHAPES, is_within_limits, measure

RESULTS = Path(__file__).parent / "results"


def line(found: dict[str, Any]) -> str:
    """One line of the table."""
    mark = "" if is_within_limits(found) else "**over the limit** "
    if "failed" in found:
        return f"| {found['name']} | | | {mark}{found['failed']} |"
    ended = "answered" if found["refused"] is None else "refused"
    return f"| {found['name']} | {found['seconds']:.1f} s | {found['megabytes']:,.0f} MB | {mark}{ended} |"


def write_markdown(results: dict[str, Any]) -> str:
    """The page."""
    n_within = sum(map(is_within_limits, results["shapes"]))
    lines = [
        "# Awkward shapes: time and memory",
        "",
        f"{results['machine']}.",
        "Each shape ran once, in a process of its own, with one thread of numpy. Time is that of the processor, of all",
        "threads together; memory is the largest that the process held, Python and the table included. The limits are",
        f"{MAX_SECONDS} s and {MAX_MEGABYTES:,} MB for an answer and {MAX_SECONDS_OF_REFUSAL} s for a refusal, one",
        "sentence that says what is too much.",
        "",
        f"- {n_within} of {len(results['shapes'])} shapes are within the limits.",
        "",
        "<!-- table -->",
        "| shape | processor time | peak memory | |",
        "|---|---|---|---|",
        *map(line, results["shapes"]),
        "<!-- end -->",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size; writes nothing")
    quick = parser.parse_args().quick
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    results = {
        "machine": describe_machine(),
        "shapes": [measure(name, 0.02 if quick else 1) for name in SHAPES],
    }
    if quick:
        sys.stdout.write(write_markdown(results))
        return
    (RESULTS / "shapes.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "shapes.md").write_text(write_markdown(results))


if __name__ == "__main__":
    main()
