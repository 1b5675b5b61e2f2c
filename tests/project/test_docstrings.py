"""Every public name says what it is, in the form that the documentation is built from, and shows how it is used."""

import dataclasses
import importlib
import inspect

import pytest

import analogical

MODULES = ("", "datasets", "paper.definitions", "errors", "paper", "plot", "rivals")
CHECKS = {"GL01", "GL02", "GL03", "GL06", "GL07", "GL08", "SS02", "SS03", "PR02", "PR10", "RT05", "YD01"}
"""Codes of numpydoc: layout, known sections in their order, a sentence first, no parameter that there is not."""


def public_objects():
    """Every public class and function once, by the path that it is defined at."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"analogical.{name}".rstrip("."))
        for word in module.__all__:
            thing = getattr(module, word)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


def public_methods(kind):
    """Methods and properties that a class defines itself; a function that is the default of a field is not one."""
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    kinds = (property, classmethod, staticmethod)
    return {
        name: thing
        for name, thing in vars(kind).items()
        if not name.startswith("_") and name not in fields and (inspect.isfunction(thing) or isinstance(thing, kinds))
    }


PUBLIC = public_objects()


def test_the_walk_sees_what_is_public():
    assert {"analogical.questions.relevance.relevance", "analogical.rivals.Method"} <= set(PUBLIC)
    assert {thing.__name__ for thing in PUBLIC.values()} >= set(analogical.__all__)
    assert set(public_methods(PUBLIC["analogical.rivals.Method"])) == {"is_available", "is_slow", "seconds"}


@pytest.mark.parametrize("name", [name or "analogical" for name in MODULES])
def test_public_modules_have_a_docstring(name):
    module = analogical if name == "analogical" else importlib.import_module(f"analogical.{name}")
    assert (module.__doc__ or "").splitlines()[0].strip().endswith(".")


@pytest.mark.parametrize("path", PUBLIC)
def test_public_names_have_a_docstring_with_an_example(path):
    text = inspect.cleandoc(PUBLIC[path].__doc__ or "")
    assert text, f"{path} has no docstring"
    _, heading, examples = text.partition("\nExamples\n--------\n")
    assert heading, f"{path} has no section Examples"
    assert ">>> " in examples, f"the examples of {path} are not run"
    lines = [line for line in examples.splitlines() if line.strip()]
    shown = [line for line in lines if not line.startswith((">>> ", "... "))]
    assert shown, f"the examples of {path} show no output"


@pytest.mark.parametrize("path", [path for path, thing in PUBLIC.items() if inspect.isclass(thing)])
def test_public_methods_have_a_sentence(path):
    for name, method in public_methods(PUBLIC[path]).items():
        summary = (inspect.getdoc(method) or "").partition("\n\n")[0]
        assert summary.endswith((".", ":")), f"{path}.{name}"


@pytest.mark.parametrize("path", PUBLIC)
def test_docstrings_have_the_form_that_numpydoc_reads(path):
    pytest.importorskip("numpydoc", reason="numpydoc comes with the extra docs")
    from numpydoc.validate import validate

    methods = public_methods(PUBLIC[path]) if inspect.isclass(PUBLIC[path]) else {}
    for name in (path, *(f"{path}.{method}" for method in methods)):
        checks = CHECKS if name == path else CHECKS - {"YD01"}  # methods say in a sentence what they yield
        assert [error for error in validate(name)["errors"] if error[0] in checks] == [], name


@pytest.mark.parametrize("name", [name for name in analogical.__all__ if inspect.isfunction(getattr(analogical, name))])
def test_public_functions_describe_every_parameter(name):
    pytest.importorskip("numpydoc", reason="numpydoc comes with the extra docs")
    from numpydoc.docscrape import FunctionDoc

    function = getattr(analogical, name)
    described = [word.strip(" *") for entry in FunctionDoc(function)["Parameters"] for word in entry.name.split(",")]
    assert sorted(described) == sorted(inspect.signature(function).parameters)
