"""Column options: one declaration, the same names and defaults in every function, the selector and the command line."""

import inspect
import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import analogical
from analogical import AnalogicalSelector, ColumnOptions, InputError, Study
from analogical.cli.options import Reading
from analogical.columns.rules import Rules, asked_of, written_call

OPTIONS = list(ColumnOptions.__annotations__)
LACKING = {
    "Study": set(),
    "audit": {"features"},
    "compare": {"groups"},
    "evidence": set(),
    "interactions": {"groups"},
    "redundancies": {"groups", "classes", "scale", "ordered"},
    "relevance": set(),
    "report": set(),
    "select": {"groups"},
    "transitions": set(),
}
"""For each function the options that do not apply to it."""
ASKED = {"audit": ("a",), "evidence": ("a",), "transitions": ("a",)}
N = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.integers(0, 2, N), "b": RNG.integers(0, 3, N), "c": RNG.integers(0, 2, N), "n": [1] * N})
NUMBERS = RNG.normal(size=N)
GIVEN = {
    "weights": [1] * N,
    "groups": list(range(N // 2)) * 2,
    "features": ["a", "b", "c"],
    "ignore": ["n"],
    "missing": "drop",
    "bins": 4,
    "max_values": 30,
    "ids": "keep",
    "classes": 2,
    "scale": "ranks",
    "ordered": [False, True],
    "date_parts": False,
    "fold_case": True,
    "feature_names": ["a", "b", "c", "d"],
}
"""A value for each option that every table here takes."""


def ask(name, **options):
    label = (
        ()
        if name == "redundancies"
        else (NUMBERS if options.get("classes") or options.get("scale", "auto") != "auto" else NUMBERS > 0,)
    )
    return getattr(analogical, name)(FRAME, *label, *ASKED.get(name, ()), **options)


def takes_columns(thing):
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(thing).parameters.values())


def test_every_function_that_takes_column_options_is_looked_at_here():
    functions = [name for name in analogical.__all__ if inspect.isfunction(getattr(analogical, name))]
    assert {"Study", *(name for name in functions if takes_columns(getattr(analogical, name)))} == set(LACKING)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", LACKING)
def test_functions_accept_the_options_that_apply_to_them_and_no_others(name, option):
    if option in LACKING[name]:
        with pytest.raises(InputError, match=rf"{name} has no option '{option}'(?! \(did)"):
            ask(name, **{option: GIVEN[option]})
    else:
        ask(name, **{option: GIVEN[option]})


@pytest.mark.parametrize("name", LACKING)
def test_defaults_are_those_of_the_rules(name):
    left_out = {"feature_names", *LACKING[name]}
    defaults = {option: getattr(Rules, option) for option in OPTIONS if option not in left_out}
    one, other = ask(name), ask(name, **defaults)
    if name == "Study":
        assert one.table.codes.tolist() == other.table.codes.tolist()
    else:
        assert one == other


def test_the_rules_have_the_options_in_their_order_and_nothing_else_is_given():
    assert [field.name for field in fields(Rules) if field.init] == OPTIONS
    assert [p.name for p in inspect.signature(Rules).parameters.values()] == OPTIONS


def test_the_selector_has_the_defaults_of_the_rules():
    parameters = AnalogicalSelector().get_params()
    shared = set(OPTIONS) - {"weights", "groups", "feature_names", "date_parts"}  # fit has the first; parts are none
    assert shared <= set(parameters)
    assert {name: parameters[name] for name in shared} == {name: getattr(Rules, name) for name in shared}


def test_commands_have_the_defaults_of_the_rules_and_the_first_sentences_of_the_documentation():
    declared = inspect.signature(Reading).parameters
    for name in set(OPTIONS) - {"feature_names"}:
        (option,) = declared[name].annotation.__metadata__
        assert option.help.startswith(documented(name)[0].replace("``", ""))
        assert declared[name].default == (None if name == "bins" else getattr(Rules, name))
    (bins,) = declared["bins"].annotation.__metadata__
    assert f"({Rules.bins} by default)" in bins.help


def documented(name):
    """First sentence about an option, and its default."""
    entry = re.search(rf"^{name} : .*default (.*)\n((?:    .*\n?)+)", inspect.getdoc(ColumnOptions), re.MULTILINE)
    return re.match(r".*?[^.]\.(?= |$)", " ".join(entry[2].split()))[0], entry[1]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_documentation_says_the_defaults(name):
    assert documented(name)[1] == repr(getattr(Rules, name)).replace("'", '"')


def test_help_leads_to_the_options():
    for name, lacking in LACKING.items():
        text = inspect.getdoc(getattr(analogical, name))
        assert ":class:`analogical.ColumnOptions`" in text
        said = re.search(r"\*\*columns : options of columns\n((?:    .*\n)+)", text)[1]
        for option in lacking:
            assert f"``{option}``" in said
    for option in OPTIONS:
        assert f"``{option}``" in inspect.getdoc(analogical.relevance)


@pytest.mark.parametrize(
    ("given", "near"),
    [("bin", "bins"), ("weight", "weights"), ("max_value", "max_values"), ("confidense", "confidence")],
)
def test_an_unknown_name_is_answered_with_the_nearest_one_and_all_others(given, near):
    known = sorted([*OPTIONS, "confidence", "duplicates", "given", "n_jobs", "progress"])
    message = f"relevance has no option '{given}' (did you mean '{near}'?); it has {', '.join(known)}."
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        analogical.relevance(FRAME, NUMBERS > 0, **{given: 3})


def test_a_name_that_resembles_nothing_is_answered_with_all():
    with pytest.raises(InputError, match=r"^select has no option 'zoo'; it has bins, classes, .*, weights\.$"):
        analogical.select(FRAME, NUMBERS > 0, zoo=1)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("missing", "mean", 'missing must be "value", "drop" or "error", got'),
        ("ids", True, 'ids must be "drop" or "keep", got True'),
        ("max_values", 0, "max_values must be a whole number from 1, or None for no limit, got 0"),
        ("fold_case", "yes", "fold_case must be True, False or None, got 'yes'"),
        ("classes", 1, "classes must be a whole number from 2 to 1000, or None, got 1"),
        ("bins", 1, "bins must be a whole number from 2"),
        ("bins", {"a": "many"}, "bins of 'a' must be a whole number from 2"),
    ],
)
def test_values_are_checked_when_rules_are_made(option, value, message):
    with pytest.raises(InputError, match=message):
        Rules(**{option: value})
    with pytest.raises(InputError, match=message):
        Study(FRAME, NUMBERS > 0, **{option: value})


def test_a_dictionary_of_bins_has_a_rule_for_the_others():
    rules = Rules(bins={"age": [18, 65], "*": "widths:3"})
    assert (rules.bin_rule.method, rules.bin_rule.n_bins) == ("widths", 3)
    assert [(name, rule.edges) for name, rule in rules.bins_of] == [("age", (18, 65))]
    assert Rules(bins={"age": 2}).bin_rule == Rules().bin_rule


def test_a_call_is_written_with_what_is_not_the_default():
    columns = {"bins": 5, "ids": "keep", "weights": "n", "groups": [1, 2], "features": ["a", "b"]}
    written = written_call("relevance", ["X", "'y'"], {**asked_of(columns), "confidence": (0.9, 0.95)})
    assert written == "relevance(X, 'y', weights='n', groups=groups, features=['a', 'b'], ids='keep', confidence=0.9)"
