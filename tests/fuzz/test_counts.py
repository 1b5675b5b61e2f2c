"""Random tables against brute force, and against the laws that every score must keep."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from fuzz.keeping import CASES, read_table, store_table
from fuzz.oracle import Counted, binned, plain_cell
from fuzz.running import batches, name_batch, refusal, run_batch, seed, shrink
from fuzz.tables import KINDS, Column, Table, contain, contain_labels, containers_for, random_table

from analogical import audit, evidence, relevance, transitions

EVERY_VALUE = {"bins": None, "max_values": None, "ids": "keep", "fold_case": False}
"""Every distinct value is a category, so that the oracle needs to know no rule."""
MOST_TESTED = 8
"""Values and classes that the tests tell apart."""
N_CLASSES_ALLOWED = 20
"""A numeric label with more values is refused unless told otherwise."""
SAME = 1e-6
"""How near numbers of equivalent tables must be."""


@dataclass(frozen=True)
class Check:
    """One check of a table in one container; all that a failing case needs to be run again."""

    what: str
    container: str
    options: dict[str, Any]

    def run(self, table: Table) -> None:
        CHECKS[self.what](table, self)

    def X(self, table: Table) -> Any:  # noqa: N802
        return contain(table, self.container)

    def ask(self, function: Any, table: Table, *arguments: Any, **more: Any) -> tuple[Any, str | None]:
        """A result of the library for a table, or why it was refused."""
        X = self.X(table)
        given = {"weights": table.weights, **self.options, **more}
        if "groups" not in given and function in (relevance, audit):
            given["groups"] = table.groups
        data = repr([[*column.cells, column.name] for column in table.columns]) + repr(table.labels)
        return refusal(lambda: function(X, contain_labels(table, X), *arguments, **given), data)

    @property
    def has_names(self) -> bool:
        """Whether the container names its columns."""
        return self.container in ("pandas", "polars", "lazy", "pyarrow")

    def places(self, table: Table, result: Any) -> list[int]:
        """Which columns of the table the features of a result are; ids may have been set aside."""
        return [table.names.index(name) if self.has_names else int(name.removeprefix("x")) for name in result.names]

    def feature(self, table: Table, place: int) -> Any:
        """How a feature is named to the library."""
        return table.names[place] if self.has_names else place


def counted(table: Table) -> Counted:
    return Counted.of([column.cells for column in table.columns], table.labels, table.weights)


def check_refused(table: Table, is_refused: bool, message: str | None) -> bool:
    """Whether a table was refused; it must be exactly if nothing in it can be compared."""
    assert (message is not None) == is_refused, message or f"not refused: {table.n_rows} rows"
    return is_refused


# ---------------------------------------------------------------- against brute force


def check_counts(table: Table, check: Check) -> None:
    """Counts and noise with every value as a category."""
    result, message = check.ask(relevance, table, **EVERY_VALUE, given="all")
    expected = counted(table)
    if check_refused(table, expected.is_refused, message):
        return
    compare_counts(result, expected)
    for i in range(len(table.columns)) if table.groups is None else ():  # with groups, rows of different groups show it
        _, _, noise = expected.effect(i)
        assert result.noise_rate[i] == pytest.approx(noise, abs=1e-12, nan_ok=True), table.names[i]


def compare_counts(result: Any, expected: Counted) -> None:
    counts = expected.counts()
    assert result.n_rows == counts["n_rows"]
    assert [column.n_values for column in result.feature_columns] == counts["n_values"]
    for name in ("pairs", "changed"):
        assert getattr(result, name).tolist() == counts[name], name


def check_treated(table: Table, check: Check) -> None:
    """Counts after the library's own bins: cells go by the edges that the result names."""
    result, message = check.ask(relevance, table, given="all", fold_case=False, date_parts=False)
    n_classes = len(set(counted(table).labels))
    if n_classes > N_CLASSES_ALLOWED and message is not None:
        return
    if message is not None:
        kept = [c for c in table.columns if len(set(map(plain_cell, c.cells))) <= N_CLASSES_ALLOWED]
        assert counted(replace(table, columns=kept)).is_refused, message
        return
    columns = []
    for place, edges in zip(check.places(table, result), tuple(c.edges for c in result.feature_columns), strict=True):
        cells = [None if cell is None else plain_cell(cell) for cell in table.columns[place].cells]
        columns.append(binned(cells, list(map(plain_cell, edges))) if edges else cells)
    compare_counts(result, Counted.of(columns, table.labels, table.weights))


def check_once(table: Table, check: Check) -> None:
    """Identical rows with the same label count once."""
    result, message = check.ask(relevance, table, **EVERY_VALUE, given="all", groups=None, duplicates="once")
    whole = counted(table)
    if check_refused(table, whole.is_refused, message):
        return
    distinct = dict.fromkeys(zip(whole.rows, whole.labels, strict=True))
    columns = [[row[i] for row, _ in distinct] for i in range(len(table.columns))]
    expected = Counted.of(columns, [label for _, label in distinct], None).counts()
    assert result.pairs.tolist() == expected["pairs"]
    assert result.changed.tolist() == expected["changed"]


def check_dropped(table: Table, check: Check) -> None:
    """Rows with a missing cell are left out."""
    result, message = check.ask(relevance, table, **EVERY_VALUE, given="all", missing="drop")
    rows = zip(*(column.cells for column in table.columns), strict=True)
    expected = counted(table.take([r for r, row in enumerate(rows) if None not in row]))
    if not check_refused(table, expected.is_refused, message):
        compare_counts(result, expected)


def check_given(table: Table, check: Check) -> None:
    """Pairs of rows that agree on some features and differ on one."""
    rng = table.rng(13)
    chosen = [i for i in range(len(table.columns)) if rng.random() < 0.5]
    given = [check.feature(table, i) for i in chosen]
    result, message = check.ask(relevance, table, **EVERY_VALUE, given=given)
    if check_refused(table, counted(table).is_refused, message):
        return
    for i in range(len(table.columns)):
        cells = [table.columns[j].cells for j in (i, *(j for j in chosen if j != i))]
        expected = Counted.of(cells, table.labels, table.weights).counts()
        assert result.compared[i] == expected["pairs"][0], table.names[i]
        if expected["pairs"][0]:
            assert result.index[i] == pytest.approx(expected["changed"][0] / expected["pairs"][0]), table.names[i]


def check_evidence(table: Table, check: Check) -> None:
    place = _some_feature(table)
    found, message = check.ask(evidence, table, check.feature(table, place), **EVERY_VALUE, given="all", limit=None)
    expected = counted(table)
    if check_refused(table, expected.is_refused, message):
        return
    assert (found.n_pairs, found.n_changed) == (
        expected.weigh(expected.pairs[place]),
        expected.weigh(expected.pairs[place], changed=True),
    )
    pairs = [(*sorted(pair.rows), pair.changed, pair.weight) for pair in found.pairs]
    assert Counter(pairs) == Counter(expected.evidence(place))
    assert [pair.changed for pair in found.pairs] == sorted((pair.changed for pair in found.pairs), reverse=True)
    for pair in found.pairs[:3]:
        cells = tuple(plain_cell(table.columns[place].cells[row]) for row in pair.rows)
        assert tuple(map(plain_cell, pair.values)) == cells
        assert pair.labels == tuple(table.labels[row] for row in pair.rows)


def check_transitions(table: Table, check: Check) -> None:
    place = _some_feature(table)
    found, message = check.ask(transitions, table, check.feature(table, place), **EVERY_VALUE, given="all")
    expected = counted(table)
    if check_refused(table, expected.is_refused, message):
        return
    counts = {(*map(plain_cell, t.values), *t.labels): t.pairs for t in found.counts}
    assert counts == expected.transitions(place)


def check_audit(table: Table, check: Check) -> None:
    place = _some_feature(table)
    found, message = check.ask(
        audit, table, check.feature(table, place), **EVERY_VALUE, given="all", groups=None, limit=2
    )
    expected = counted(table)
    if check_refused(table, expected.is_refused, message):
        return
    pairs = expected.pairs[place]
    assert (found.n_pairs, found.n_changed) == (expected.weigh(pairs), expected.weigh(pairs, changed=True))
    assert found.n_rows == sum(expected.weights)
    paired = {row for pair in pairs for row in pair}
    assert found.n_compared == sum(expected.weights[row] for row in paired)
    for difference in found.differences:
        values = map(plain_cell, difference.values)
        for name, number in expected.difference(place, *values, difference.label).items():
            assert getattr(difference, name) == pytest.approx(number, abs=1e-12), name
        assert 0 <= difference.smallest_p <= difference.p_value * (1 + 1e-9)
        assert difference.p_value <= 1
        assert difference.difference_low - 1e-9 <= difference.difference <= difference.difference_high + 1e-9


def check_words(table: Table, check: Check) -> None:
    """Results can be shown: no control character alive, plain types for JSON, a dataframe."""
    function = (relevance, evidence, transitions, audit)[table.rng(13).integers(4)]
    arguments = [] if function is relevance else [check.feature(table, _some_feature(table))]
    found, message = check.ask(function, table, *arguments, ids="keep")
    if message is None:
        assert_harmless(repr(found))
        assert_harmless(found._repr_html_())
        json.dumps(found.to_dict(), allow_nan=False)
        assert len(found.to_frame()) == len(found)


def assert_harmless(text: str) -> None:
    alive = {c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066\u2028")}
    assert not alive, f"control characters in a text: {alive!r}"


def check_tests(table: Table, check: Check) -> None:
    """Intervals and p-values are where they can be."""
    result, message = check.ask(relevance, table, **EVERY_VALUE)
    if message is not None:
        return
    known = ~np.isnan(result.effect)
    assert np.array_equal(known, result.compared > 0)
    assert (result.effect_low[known] >= 0).all()
    assert (result.effect_low[known] <= result.effect[known] + 1e-9).all()
    assert (result.effect[known] <= result.effect_high[known] + 1e-9).all()
    assert (result.effect_high[known] <= 1 + 1e-9).all()
    tested = ~np.isnan(result.p_value)
    assert (result.p_value[tested] <= 1).all()
    assert (result.p_value[tested] > 0).all()
    assert (result.p_adjusted[tested] >= result.p_value[tested] - 1e-12).all()


def _some_feature(table: Table) -> int:
    return int(table.rng(9).integers(len(table.columns)))


# ---------------------------------------------------------------- laws


COUNTS = ("compared", "pairs", "changed")
NUMBERS = ("ari", "index", "effect", "noise_rate", "effect_low", "effect_high")


def compare(one: Any, other: Any, places: list[int]) -> None:
    """Two results that must be the same; feature i of the first is feature places[i] of the other."""
    assert one.n_rows == other.n_rows
    for name in COUNTS:
        assert getattr(one, name).tolist() == getattr(other, name)[places].tolist(), name
    # Of many values the rarest are merged, and which of equally rare ones these are depends on their order.
    n_values = max(column.n_values for column in one.feature_columns)
    if n_values > MOST_TESTED or len(one.classes) > MOST_TESTED:
        return
    for name in (*NUMBERS, "p_value", "p_adjusted"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert ours.tolist() == pytest.approx(theirs[places].tolist(), rel=SAME, abs=SAME, nan_ok=True), name
    assert list(one.status) == [other.status[p] for p in places]


def check_law(table: Table, check: Check, change: Any, treatment: dict[str, Any]) -> None:
    """Score a table and its equivalent, and compare."""
    rng = table.rng(10)
    options = {
        **treatment,
        "given": "all" if rng.random() < 0.7 else [],  # ties in the deciding set go by column order
        "duplicates": "once" if rng.random() < 0.15 else "count",
        "groups": None,
    }
    table = replace(table, groups=None)
    other, other_check, places = change(table, check)
    one, message = check.ask(relevance, table, **options)
    two, refused = other_check.ask(relevance, other, **options)
    assert (message is None) == (refused is None), message or refused
    if message is None:
        theirs = other_check.places(other, two)
        order = [theirs.index(places[place]) for place in check.places(table, one)]
        compare(one, two, order)


def repeat_rows(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    """Weights against repeated rows."""
    weights = table.weights or table.rng(11).integers(0, 6, size=table.n_rows).tolist()
    rows = [r for r, weight in enumerate(weights) for _ in range(weight)] or [0]
    return replace(table, weights=None).take(rows), check, list(range(len(table.columns)))


def with_weights(table: Table) -> Table:
    """The table with weights, at least one of them above 0."""
    weights = table.weights or table.rng(11).integers(0, 6, size=table.n_rows).tolist()
    return replace(table, weights=[1, *weights[1:]] if not any(weights) else weights)


def add_constant(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    constant = Column("a constant", "one word", ["same"] * table.n_rows, number=1000)
    place = int(table.rng(11).integers(len(table.columns) + 1))
    columns = [*table.columns[:place], constant, *table.columns[place:]]
    kept = check if check.container not in ("array", "sparse") else replace(check, container="rows")
    return replace(table, columns=columns), kept, [i + (i >= place) for i in range(len(table.columns))]


def shuffle_rows(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    rows = table.rng(11).permutation(table.n_rows).tolist()
    return table.take(rows), check, list(range(len(table.columns)))


def shuffle_columns(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    order = table.rng(11).permutation(len(table.columns)).tolist()
    return table.select(order), check, [order.index(i) for i in range(len(order))]


def rename_values(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    """Every value gets another name, in another order."""
    columns = []
    for column in table.columns:
        values = list(dict.fromkeys(map(plain_cell, column.cells)))
        numbers = table.rng(column.number, 11).permutation(len(values)).tolist()
        name = {value: f"v{k}" for value, k in zip(values, numbers, strict=True)}
        cells = [None if cell is None else name[plain_cell(cell)] for cell in column.cells]
        columns.append(replace(column, kind="letters", cells=cells))
    kept = check if check.container not in ("array", "sparse") else replace(check, container="rows")
    return replace(table, columns=columns), kept, list(range(len(columns)))


def rename_classes(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    classes = list(dict.fromkeys(label for label in table.labels if label is not None))
    name = {label: f"c{100 - k}" for k, label in enumerate(classes)} | {None: None}
    return replace(table, labels=[name[label] for label in table.labels]), check, list(range(len(table.columns)))


def change_container(table: Table, check: Check) -> tuple[Table, Check, list[int]]:
    others = [name for name in containers_for(table) if name != check.container]
    other = others[table.rng(11).integers(len(others))]
    return table, replace(check, container=other), list(range(len(table.columns)))


NO_PARTS = {"date_parts": False}
KEPT_IDS = {"ids": "keep", "fold_case": False, "date_parts": False}
LAWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "weights": (repeat_rows, NO_PARTS),
    "constant": (add_constant, KEPT_IDS),
    "row order": (shuffle_rows, NO_PARTS),
    "column order": (shuffle_columns, NO_PARTS),
    "values": (rename_values, EVERY_VALUE),
    "classes": (rename_classes, EVERY_VALUE),
    "container": (change_container, EVERY_VALUE),
}


def _law(name: str) -> Any:
    change, treatment = LAWS[name]

    def run(table: Table, check: Check) -> None:
        check_law(with_weights(table) if name == "weights" else table, check, change, treatment)

    return run


CHECKS: dict[str, Any] = {
    "counts": check_counts,
    "treated": check_treated,
    "once": check_once,
    "dropped": check_dropped,
    "within": check_given,
    "evidence": check_evidence,
    "transitions": check_transitions,
    "audit": check_audit,
    "words": check_words,
    "tests": check_tests,
    **{name: _law(name) for name in LAWS},
}
VERBS = ("treated", "once", "dropped", "within", "evidence", "transitions", "audit", "words", "tests")


# ---------------------------------------------------------------- cases


def case(number: int) -> tuple[Table, list[Check]]:
    """A table, and which checks it goes through in which container."""
    table = random_table(seed(), number)
    rng = table.rng(12)
    possible = containers_for(table)
    names = ["counts", VERBS[rng.integers(len(VERBS))], list(LAWS)[rng.integers(len(LAWS))]]
    return table, [Check(name, possible[rng.integers(len(possible))], {}) for name in names]


def run_case(number: int) -> None:
    table, checks = case(number)
    for check in checks:
        check.run(table)


def describe(number: int) -> str:
    """The smallest table found that fails in the same way, to be kept in the folder of cases."""
    table, checks = case(number)
    for check in checks:
        error = _failure(check, table)
        if error is not None:
            small = shrink(table, smaller, lambda t, check=check, error=error: _failure(check, t) == error)
            return (
                f"{check.what} in {check.container}:\n{store_table(small, what=check.what, container=check.container)}"
            )
    return "it does not fail again"


def _failure(check: Check, table: Table) -> str | None:
    """The kind of a failure, None if there is none."""
    try:
        check.run(table)
    except Exception as error:
        return type(error).__name__
    return None


def smaller(table: Table) -> Iterator[Table]:
    """Simpler tables, the boldest first."""
    n = table.n_rows
    for size in (n // 2, n // 4, 1):
        for start in range(0, n, size) if size and size < n else ():
            yield table.take([r for r in range(n) if not start <= r < start + size])
    for place in range(len(table.columns)) if len(table.columns) > 1 else ():
        yield table.select([p for p in range(len(table.columns)) if p != place])
    if table.groups is not None:
        yield replace(table, groups=None)
    if table.weights is not None:
        yield replace(table, weights=None)
        if max(table.weights) > 1:
            yield replace(table, weights=[min(weight, 1) for weight in table.weights])


@pytest.mark.parametrize("batch", batches("FUZZ_TABLES", 250), ids=name_batch)
def test_random_tables_give_what_brute_force_gives(batch):
    run_batch(batch, run_case, "test_counts.py -k random_tables", describe)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_tables_that_found_a_bug(path):
    table, settings = read_table(path.read_text())
    Check(settings["what"], settings["container"], {}).run(table)


def test_the_generator_knows_many_kinds_and_is_reproducible():
    assert len(KINDS) >= 50
    assert random_table(3, 4) == random_table(3, 4)
    kinds = {column.kind for number in range(300) for column in random_table(5, number).columns}
    assert kinds == set(KINDS)


def test_stored_tables_are_read_back():
    for number in range(40):
        table = random_table(6, number)
        again, settings = read_table(store_table(table, what="counts", container="rows"))
        assert repr(again) == repr(table)
        assert settings == {"what": "counts", "container": "rows"}
