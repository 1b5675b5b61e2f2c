"""Do two versions of the code give the same numbers? For changes that must not move any.

    python benchmarks/same_numbers.py dump FILE --source OLD/src     # with the code before the change
    python benchmarks/same_numbers.py compare FILE                   # with the code after it

Every question of the package, as its JSON, on the built-in tables, on the data files in the folder named by
ANALOGICAL_DATA (read by the package itself) and on 500 random tables with repeated and contradicting rows, with and
without weights. Whole numbers and words must be equal, other numbers equal up to a relative difference of 1e-9.
``--quick`` leaves out large files and most random tables. Differences are listed by kind: the question and the entry of
its answer, with two examples.
"""

import argparse
import gzip
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

N_RANDOM = 500
FEW_RANDOM = 60
LARGE = 1_000_000
"""Bytes of a file that a quick run leaves out."""
BESIDE = ("versions", "command", "engine", "plan")
"""Entries that may differ between two versions."""


def tables(is_quick: bool) -> Iterator[tuple[str, tuple[Any, Any], dict[str, Any]]]:
    """Name, table with label, and options of every table."""
    from analogical import load_table, table_names
    from analogical.io.files import open_file

    for name in table_names():
        table = load_table(name)
        yield name, (table.X, table.y), {"weights": table.weights}
    folder = os.environ.get("ANALOGICAL_DATA")
    for path in sorted(Path(folder).rglob("*.csv")) if folder else ():
        if is_quick and path.stat().st_size > LARGE:
            continue
        frame = open_file(str(path)).frame
        last = frame.collect_schema().names()[-1]
        yield f"{path.parent.name}/{path.stem}", (frame, last), {}
    for seed in range(FEW_RANDOM if is_quick else N_RANDOM):
        yield f"random {seed}", *random_table(seed)


def random_table(seed: int) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """A small table in which rows repeat and contradict each other."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(4, 120)), int(rng.integers(1, 9 if seed % 5 else 80))
    rows = rng.integers(0, rng.integers(1, 5, n_features), (n_rows, n_features))
    rows[rng.random(n_rows) < 0.4] = rows[0]
    is_copy = rng.random(n_rows) < 0.5
    rows[is_copy] = rows[rng.integers(0, n_rows, is_copy.sum())]
    rows[0, 0], rows[-1, 0] = 0, 1
    labels = rng.integers(0, rng.integers(2, 4), n_rows)
    labels[0], labels[-1] = 0, 1
    return (rows, labels), {"weights": rng.integers(1, 9, n_rows) if seed % 3 == 0 else None}


def questions(table: tuple[Any, Any], options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is asked of a table."""
    import analogical as a

    study = a.Study(*table, **options)
    first = study.table.names[0]
    yield "relevance", lambda: a.relevance(study)
    yield "given all", lambda: a.relevance(study, given="all")
    yield "given none", lambda: a.relevance(study, given=[])
    yield "once", lambda: a.relevance(*table, **options, given="all", duplicates="once")
    yield "select", lambda: a.select(study)
    yield "three", lambda: a.select(study, 3)
    yield "interactions", lambda: a.interactions(study)
    yield "redundancies", lambda: a.redundancies(study)
    yield "audit", lambda: a.audit(study, first)
    yield "evidence", lambda: a.evidence(study, first)
    yield "transitions", lambda: a.transitions(study, first)
    yield "report", lambda: a.report(study)


def numbers(is_quick: bool) -> dict[str, Any]:
    """Everything that must not move."""
    from analogical.errors import AnalogicalError

    told: dict[str, Any] = {}
    for name, table, options in tables(is_quick):
        for question, ask in questions(table, options):
            try:
                result = ask()
                told[f"{name}, {question}"] = json.loads(json.dumps(_plain(result)))
            except AnalogicalError as error:
                told[f"{name}, {question}"] = str(error)
    return told


def _plain(result: Any) -> Any:
    if hasattr(result, "to_dict"):
        return result.to_dict()
    return result.tolist() if isinstance(result, np.ndarray) else [_plain(one) for one in result]


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Where two answers are not the same up to rounding."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after} - {*BESIDE}):
            yield from differences(before.get(key), after.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for k, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}/{k}")
    elif isinstance(before, float) and isinstance(after, float):
        is_same = math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(before) and math.isnan(after))
        if not is_same:
            yield f"{place}: before {before}, after {after}"
    elif before != after:
        yield f"{place}: before {before!r:.200}, after {after!r:.200}"


def kinds(moved: dict[str, list[str]]) -> dict[tuple[str, str], dict[str, str]]:
    """The kinds of differences: for each question and entry, positions left out, the first one of each table."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for key, places in moved.items():
        table, question = key.rsplit(", ", 1)
        for place in places:
            entry = re.sub(r"/\d+(?=/|$)", "/*", place.partition(":")[0])
            found.setdefault((question, entry), {}).setdefault(table, place)
    return found


def main() -> int:
    """Dump the numbers of this code, or compare them with dumped ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["dump", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", help="folder src of another version of the code")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.source:
        sys.path.insert(0, options.source)
    began = time.perf_counter()
    told = numbers(options.quick)
    took = time.perf_counter() - began
    if options.action == "dump":
        options.file.write_bytes(gzip.compress(json.dumps(told).encode()))
        sys.stdout.write(f"{len(told):,} answers written to {options.file} in {took:.0f} s\n")
        return 0
    before = json.loads(gzip.decompress(options.file.read_bytes()))
    asked = [key for key in before if key in told] if options.quick else list(before)
    different = {key: list(differences(before[key], told.get(key))) for key in asked}
    moved = {key: places for key, places in different.items() if places}
    for (question, kind), examples in sorted(kinds(moved).items()):
        sys.stdout.write(f"{question}, {kind}: in {len(examples):,} answers\n")
        sys.stdout.write("".join(f"  {table}{place}\n" for table, place in list(examples.items())[:2]))
    sys.stdout.write(f"{len(moved):,} of {len(asked):,} answers differ, in {took:.0f} s\n")
    return int(bool(moved))


if __name__ == "__main__":
    sys.exit(main())
