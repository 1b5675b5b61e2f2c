"""Do two versions of the code give the same numbers? For changes that must not move any.

    python benchmarks/same_numbers.py dump FILE --source OLD/src     # with the code before the change
    python benchmarks/same_numbers.py compare FILE                   # with the code after it

Counts, effects, intervals, p-values and verdicts of the built-in tables, of the seven data files of the paper (in the
folder named by ANALOGICAL_DATA) and of 500 random tables with repeated and contradicting rows, with and without
weights. Counts and verdicts must be equal, other numbers equal up to rounding (a relative difference of 1e-9).
"""

import argparse
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

EXACT = ("names", "given", "deciding", "pairs", "changed", "compared", "n_rows", "ari", "paper_status", "status")
CLOSE = ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index", "noise_rate")
N_RANDOM = 500


def tables() -> Iterator[tuple[str, Any, Any, Any]]:
    """Name, rows, labels and weights of every table."""
    from analogical import load_table, table_names

    for name in table_names():
        table = load_table(name)
        yield name, table.X, table.y, table.weights
    folder = os.environ.get("ANALOGICAL_DATA")
    for path in sorted(Path(folder).glob("*.csv")) if folder else ():
        cells = np.array([line.split(",") for line in path.read_text().split()], dtype=str)
        yield path.stem, cells[:, :-1], cells[:, -1], None
    for seed in range(N_RANDOM):
        rng = np.random.default_rng(seed)
        n_rows, n_features = int(rng.integers(4, 120)), int(rng.integers(1, 9 if seed % 5 else 80))
        rows = rng.integers(0, rng.integers(1, 5, n_features), (n_rows, n_features))
        rows[rng.random(n_rows) < 0.4] = rows[0]
        one = rng.random(n_rows) < 0.5
        rows[one] = rows[rng.integers(0, n_rows, one.sum())]
        rows[0, 0], rows[-1, 0] = 0, 1
        labels = rng.integers(0, rng.integers(2, 4), n_rows)
        labels[0], labels[-1] = 0, 1
        yield f"random {seed}", rows, labels, rng.integers(1, 9, n_rows) if seed % 3 == 0 else None


def numbers(name: str, X: Any, y: Any, weights: Any) -> dict[str, Any]:
    """Everything that must not move."""
    from analogical import relevance

    found: dict[str, Any] = {}
    for given in ("auto", "all"):
        for duplicates in ("count", "once"):
            result = relevance(X, y, weights=weights, given=given, duplicates=duplicates)
            for field in EXACT + CLOSE:
                found[f"{name}, given {given}, {duplicates}: {field}"] = getattr(result, field)
    return found


def differs(before: Any, after: Any) -> bool:
    """Whether two numbers, or arrays of numbers, are not the same up to rounding."""
    if isinstance(before, np.ndarray) and before.dtype.kind == "f":
        return not np.allclose(before, after, rtol=1e-9, atol=1e-12, equal_nan=True)
    return not np.array_equal(before, after) if isinstance(before, np.ndarray) else bool(before != after)


def main() -> int:
    """Dump the numbers of this code, or compare them with dumped ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["dump", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", help="folder src of another version of the code")
    options = parser.parse_args()
    if options.source:
        sys.path.insert(0, options.source)
    found: dict[str, Any] = {}
    for table in tables():
        found |= numbers(*table)
    if options.action == "dump":
        options.file.write_bytes(pickle.dumps(found))
        sys.stdout.write(f"{len(found):,} numbers or arrays written to {options.file}\n")
        return 0
    before = pickle.loads(options.file.read_bytes())  # noqa: S301 - a file that this script wrote
    different = [key for key in before if differs(before[key], found[key])]
    for key in different[:20]:
        sys.stdout.write(f"{key}\n  before {before[key]}\n  after  {found[key]}\n")
    sys.stdout.write(f"{len(different):,} of {len(before):,} differ\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
