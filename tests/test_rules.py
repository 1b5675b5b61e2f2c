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

SOURCE, TESTS = Path(analogical.__file__).parent, Path(__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 80
"""Lines of a function without its documentation."""


def place_of(path):
    return path.relative_to(SOURCE).as_posix()


def files_of(*places):
    return [path for path in FILES if place_of(path).partition("/")[0] in places]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def divides(node):
    """A quotient with a fraction: ``/``, or a function of NumPy that divides; whole quotients (``//``) are counts."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Attribute) and node.attr in {"mean", "average", "divide", "true_divide"}


@pytest.mark.parametrize("path", files_of("count", "study.py"), ids=place_of)
def test_counting_never_divides(path):
    quotients = [ast.unparse(node) for node in ast.walk(parsed(path)) if divides(node)]
    kish = ["2.0 * float(self.n_pairs) ** 2 / squares"]  # how many independent pairs the rows are worth
    assert quotients == (kish if place_of(path) == "count/contexts.py" else [])


THREE_WORDS = re.compile(r"[A-Za-z]+,? [a-z]+,? [a-z]+")


def sentences(tree):
    """Texts with three words in a row that are neither documentation nor part of an error."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            left_out |= set(ast.walk(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in left_out]
    return [text for text in found if isinstance(text, str) and THREE_WORDS.search(text)]


@pytest.mark.parametrize("path", files_of("count", "estimate", "study.py"), ids=place_of)
def test_counting_and_estimating_have_no_sentences(path):
    assert sentences(parsed(path)) == [], "words for people belong in show/"


@pytest.mark.parametrize("path", files_of("count", "estimate"), ids=place_of)
def test_counting_and_estimating_warn_of_nothing(path):
    names = {node.id for node in ast.walk(parsed(path)) if isinstance(node, ast.Name)}
    assert not {"warnings", "Note", "print"} & names


def test_notes_are_made_where_tables_are_read_and_studied():
    makers = {
        place_of(path).partition("/")[0]
        for path in FILES
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "Note" for node in ast.walk(parsed(path)))
    }
    assert makers - {"engines", "duck", "spark"} <= {"io", "columns", "outside", "study.py"}


@pytest.mark.parametrize("path", FILES, ids=place_of)
def test_no_function_is_very_long(path):
    for function in ast.walk(parsed(path)):
        if isinstance(function, ast.FunctionDef):
            body = function.body[1:] if ast.get_docstring(function) is not None else function.body
            assert not body or function.end_lineno - body[0].lineno < LONGEST, function.name


def test_every_file_says_in_its_first_line_what_it_is_about():
    first_line = re.compile(r'r?"""\S.{10,}[.:](""")?')
    first_lines = {path: path.read_text(encoding="utf-8").partition("\n")[0] for path in [*FILES, *TESTS.rglob("*.py")]}
    assert {path: line for path, line in first_lines.items() if not first_line.fullmatch(line)} == {}


def test_the_oracle_imports_only_the_standard_library():
    imports = [node for node in ast.walk(parsed(TESTS / "naive.py")) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name if isinstance(node, ast.Import) else node.module for node in imports for alias in node.names]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_results_are_frozen_data():
    for module in pkgutil.iter_modules([str(SOURCE / "questions")]):
        importlib.import_module(f"analogical.questions.{module.name}")
    kinds = Result.__subclasses__()
    for kind in kinds:
        kinds += kind.__subclasses__()
    kinds = [kind for kind in kinds if kind.__module__.startswith("analogical.") and not inspect.isabstract(kind)]
    assert {"Relevance", "Selection", "Audit", "Report"} <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        assert dataclasses.is_dataclass(kind), kind
        assert kind.__dataclass_params__.frozen, kind


def test_the_rules_see_what_is_meant():
    tree = ast.parse(
        '"""A module of four words."""\n'
        "def one(n):\n"
        '    """A function of four words."""\n'
        "    if n:\n"
        '        raise ValueError(f"{n} is not a number")\n'
        "    return n // 2\n"
        "def two(n):\n"
        '    return f"{n} of the rows", n / 2, np.mean(n)\n'
    )
    assert [ast.unparse(node) for node in ast.walk(tree) if divides(node)] == ["n / 2", "np.mean"]
    assert sentences(tree) == [" of the rows"]
