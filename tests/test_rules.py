"""The rules of ARCHITECTURE.md that can be seen in the source; who imports whom is in test_import.py."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import analogical
from analogical._results import Result

SOURCE = Path(analogical.__file__).parent
STUDY = ("table_counts.py", "study.py", "arguments.py")

DIVIDE = {
    "count/counts.py": {
        "RowProfile.n_effective": "how many independent pairs the rows are worth, for intervals",
    },
    "questions/audit.py": {
        "InContext.difference": "shares of one context, as they are shown",
        "Audit.index": "a share of pairs, as it is shown",
    },
    "questions/relevance.py": {"_measure": "the index"},
    "questions/report.py": {"Report.doubts": "a share against a limit"},
    "questions/select.py": {"select": "explained so far, as a share"},
    "questions/squares.py": {"Squares.shares": "shares of rows, as they are shown"},
}
"""Functions outside of estimate/ that divide, and what for."""

SAY = {
    "columns/binning.py": {"check_bins": "an error"},
    "columns/choosing.py": {"unknown_column": "an error"},
    "columns/frames.py": {"_far_dates": "an error", "_not_a_value": "an error"},
    "columns/preparing.py": {
        "": "an error",
        "MemoryPreparer.where_missing": "a part of an error",
        "Preparer._missing_values": "an error",
    },
    "columns/reading.py": {"_read_array": "the end of an error"},
    "columns/roles.py": {"": "the end of errors", "encode_weights": "the beginning of errors"},
    "columns/rules.py": {"_unknown_option": "an error"},
    "questions/selector.py": {"AnalogicalSelector._fit_ranking": "a warning", "_smallest": "its end"},
    "questions/interactions.py": {"interactions": "the title of the progress"},
}
"""Functions outside of show/ that hold words for people outside of a raise statement, and what they are."""


def files_of(*places):
    return [path for place in places for path in ([SOURCE / place] if place.endswith(".py") else folder(place))]


def folder(place):
    return sorted((SOURCE / place).rglob("*.py"))


def functions_of(tree, is_meant):
    """Functions and methods (Class.method) whose code has a node that is meant; "" for the module itself."""

    def walk(node, name):
        for child in ast.iter_child_nodes(node):
            if is_meant(child):
                yield name
            is_named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            yield from walk(child, f"{name}.{child.name}".strip(".") if is_named else name)

    return set(walk(tree, ""))


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def place_of(path):
    return path.relative_to(SOURCE).as_posix()


# ---------------------------------------------------------------- who divides


def is_division(node):
    """A quotient with a fraction: ``/``, or a function of NumPy that divides; whole quotients (``//``) are counts."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Attribute) and node.attr in {"mean", "average", "divide", "true_divide"}


@pytest.mark.parametrize("path", files_of("count", *STUDY, "questions"), ids=place_of)
def test_only_estimates_divide(path):
    assert functions_of(parsed(path), is_division) == set(DIVIDE.get(place_of(path), ())), (
        "what divides belongs in estimate/; an exception stands in DIVIDE, with its reason"
    )


# ---------------------------------------------------------------- who speaks


THREE_WORDS = re.compile(r"[A-Za-z]+,? [a-z]+,? [a-z]+")


def is_error(node):
    """What stops a call, warns, or checks an argument: its words are an error's."""
    if isinstance(node, ast.Raise):
        return True
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name.startswith("check_") or name in {"warn", "entry_at"}


def words_for_people(tree):
    """Texts with three words in a row that are neither documentation nor part of an error."""
    left_out = set()
    for node in ast.walk(tree):
        if is_error(node):
            left_out |= set(ast.walk(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in left_out]
    return {node for node in found if isinstance(node.value, str) and THREE_WORDS.search(node.value)}


@pytest.mark.parametrize("path", files_of("columns", "count", "estimate", *STUDY, "questions"), ids=place_of)
def test_only_presentation_has_sentences(path):
    tree = parsed(path)
    found = words_for_people(tree)
    assert functions_of(tree, lambda node: node in found) == set(SAY.get(place_of(path), ())), (
        f"words for people belong in show/: {sorted(node.value for node in found)}; an exception stands in SAY"
    )


def test_exceptions_are_of_functions_that_there_are():
    for place, names in (*DIVIDE.items(), *SAY.items()):
        known = functions_of(parsed(SOURCE / place), lambda _: True) | {""}
        assert set(names) <= known, place


@pytest.mark.parametrize("path", files_of("count"), ids=place_of)
def test_counting_warns_of_nothing(path):
    names = {node.id for node in ast.walk(parsed(path)) if isinstance(node, ast.Name)}
    assert not {"warnings", "Note", "print"} & names


LIMITS = {
    "count/counts.py": {"refuse_too_many_rows", "PairCounts.__add__"},
    "count/listing.py": {"find_pairs"},
    "count/squares.py": {"pair_tables"},
    "count/threads.py": {"n_threads_for"},
}
"""The limits of counting, which have a message."""


@pytest.mark.parametrize("path", files_of("count"), ids=place_of)
def test_counting_has_no_message_but_its_limits(path):
    said = functions_of(parsed(path), lambda node: isinstance(node, ast.Name) and node.id.endswith("InputError"))
    assert said == LIMITS.get(place_of(path), set())


def test_notes_are_made_where_tables_are_read():
    makers = {
        place_of(path).partition("/")[0]
        for path in SOURCE.rglob("*.py")
        if functions_of(parsed(path), lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "Note")
    }
    assert makers == {"io", "columns", "outside"}


# ---------------------------------------------------------------- how long functions are

LONGEST = 60


def length_of(function):
    """Lines of the body, without its documentation; options of a command stand in its head."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=place_of)
def test_no_function_is_longer_than_60_lines(path):
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
    assert not {node.name for node in functions if length_of(node) > LONGEST}


# ---------------------------------------------------------------- what a file is about

TESTS = Path(__file__).parent
FIRST_LINE = re.compile(r'r?"""\S.{10,}[.:](""")?')


def test_every_file_says_in_its_first_line_what_it_is_about():
    paths = [*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")]
    first_lines = {path: path.read_text(encoding="utf-8").partition("\n")[0] for path in paths}
    assert {path: line for path, line in first_lines.items() if not FIRST_LINE.fullmatch(line)} == {}


def test_the_oracle_imports_only_the_standard_library():
    roots = {name.partition(".")[0] for node in ast.walk(parsed(TESTS / "naive.py")) for name in names_imported(node)}
    assert roots <= sys.stdlib_module_names


def names_imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) else []


# ---------------------------------------------------------------- results


def results():
    for module in pkgutil.iter_modules([str(SOURCE / "questions")]):
        importlib.import_module(f"analogical.questions.{module.name}")
    kinds = Result.__subclasses__()
    for kind in kinds:
        kinds += kind.__subclasses__()
    return [kind for kind in kinds if kind.__module__.startswith("analogical.") and not inspect.isabstract(kind)]


def test_results_are_frozen_data():
    kinds = results()
    assert {"Relevance", "Selection", "Audit", "Report"} <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        assert dataclasses.is_dataclass(kind), kind
        assert kind.__dataclass_params__.frozen, kind


# ---------------------------------------------------------------- the checks themselves


def test_the_walk_sees_what_is_meant():
    tree = ast.parse(
        '"""A module of four words."""\n'
        "def one(n):\n"
        '    """A function of four words."""\n'
        '    check_number("n", n, expected="a number from 0")\n'
        "    if n:\n"
        '        raise ValueError(f"{n} is not a number")\n'
        "    return n // 2\n"
        "class C:\n"
        "    def two(self, n):\n"
        '        return f"{n} of the rows", n / 2\n'
        "def three(n):\n"
        "    n /= 2\n"
        "    return np.mean(n)\n"
    )
    assert functions_of(tree, is_division) == {"C.two", "three"}
    assert [node.value for node in words_for_people(tree)] == [" of the rows"]
