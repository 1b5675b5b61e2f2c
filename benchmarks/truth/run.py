"""Whether the relevant features come first, and whether what is called an effect is one, where the truth is known.

    make truth                                                     # all cases; a rerun only pays for what is new
    python benchmarks/truth/run.py --methods MI --seeds 1          # one method, one seed
    python benchmarks/truth/run.py --methods relevance --again     # measure it again after a change of the code
    python benchmarks/truth/run.py --methods relevance --again --kinds long,blesch --seeds 5
    python benchmarks/truth/run.py --seeds 0                       # only write the pages again

The real tables are in the folder ``real`` of the folder that the variable ANALOGICAL_DATA names. What every method
says about every case goes to results.json as soon as it is known, the means to results.md, and every answer of ours
to answers.md.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

sys.path.extend(str(folder) for folder in Path(__file__).parents[:2])
from cases import (
    BLESCH,
    LONG,
    LONG_MIN_ROWS,
    LONG_RULES,
    MAX_ROWS,
    NEIGHBOUR,
    NUMBERS,
    RULES,
    SETTINGS,
    Case,
    blesch_cases,
    data_folder,
    long_cases,
    number_cases,
    real_cases,
    shuffled_cases,
    synthetic_cases,
)
from machine import describe_machine
from methods import METHODS, SLOW_ROWS
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
SEEDS = 2
MAKERS: dict[str, Callable[[Iterable[int]], Iterator[Case]]] = {
    "real": real_cases,
    "synthetic": synthetic_cases,
    "long": long_cases,
    "blesch": blesch_cases,
    "numbers": number_cases,
    "shuffled": shuffled_cases,
}
KINDS = tuple(MAKERS)
MADE_UP = ("synthetic", "blesch")
"""The kinds that need no real tables."""
WITH_TRUTH = tuple(kind for kind in KINDS if kind != "shuffled")
"""Those with classes."""
EITHER = tuple(setting for setting in LONG if setting.startswith("exclusive or"))
GROUPS = {
    "real": RULES,
    "synthetic": tuple(SETTINGS),
    "long: sums": tuple(setting for setting in LONG if setting not in EITHER),
    "long: exclusive or and a sum": EITHER,
    "long: real tables": tuple(LONG_RULES),
    "blesch": tuple(BLESCH),
    **{f"numbers: {noise}": settings for noise, settings in NUMBERS.items()},
}
"""The settings of every kind with a truth; those of long rules in three groups, those of numbers by their noise."""

Content = dict[str, Any]
"""machine; cases by name: kind, setting, rows, features, labels, true; answers by method and case: see `answer`."""
Measure = Callable[[dict[str, Any], dict[str, Any]], float | None]


# ---------------------------------------------------------------- measuring


def average_precision(scores: dict[str, float], true: Collection[str]) -> float:
    """Mean, over the true features, of the share of true ones among the features that score as high or higher."""
    values = {name: -np.inf if np.isnan(score) else score for name, score in scores.items()}
    shares = []
    for name in true:
        at_least = [other for other, value in values.items() if value >= values[name]]
        shares.append(sum(other in true for other in at_least) / len(at_least))
    return float(np.mean(shares))


def answer(method: str, case: Case) -> dict[str, Any]:
    """Average precision (unless nothing is true), features called an effect (if it says) and processor seconds."""
    started = time.process_time()
    found: dict[str, Any] = {}
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            scores, called = METHODS[method].run(case.X, case.y)
    except ImportError:  # says nothing about the method
        raise
    except Exception as error:  # a method that fails on a case is a result, too
        found["error"] = f"{type(error).__name__}: {error}"[:200]
        scores, called = dict.fromkeys(case.X, 0.0), set() if METHODS[method].has_verdicts else None
    found["seconds"] = round(time.process_time() - started, 2)
    if case.true:
        found["precision"] = round(average_precision(scores, case.true), 4)
    if called is not None:
        found["called"] = [name for name in case.X if name in called]
    return found


def answers(job: tuple[Case, Sequence[str]]) -> tuple[Case, dict[str, dict[str, Any]]]:
    """What some methods say about one case."""
    case, methods = job
    return case, {method: answer(method, case) for method in methods}


def facts(case: Case) -> dict[str, Any]:
    """What the page says about a case."""
    rows, features = case.X.shape
    return {
        "kind": case.kind,
        "setting": case.setting,
        "rows": rows,
        "features": features,
        "labels": case.shares.shape[1],
        "true": list(case.true),
    }


def all_cases(kinds: Collection[str], seeds: range) -> Iterator[Case]:
    """The cases of some kinds, seed by seed."""
    return chain.from_iterable(MAKERS[kind]([seed]) for seed in seeds for kind in KINDS if kind in kinds)


def measure(cases: Iterable[Case], methods: Sequence[str], folder: Path, n_jobs: int = 1) -> None:
    """Add to results.json what it does not hold yet, case by case; two runs of other methods may do so at a time."""
    known = load(folder)["answers"]

    def jobs() -> Iterator[tuple[Case, list[str]]]:
        for case in cases:
            names = [
                name
                for name in methods
                if (METHODS[name].for_numbers if case.has_numbers else METHODS[name].for_classes)
                and (case.true or METHODS[name].has_verdicts)
            ]
            missing = [method for method in names if case.name not in known.get(method, {})]
            if missing:
                yield case, missing

    with ProcessPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:
        for case, found in pool.map(answers, jobs()) if pool else map(answers, jobs()):
            content = load(folder)
            content["cases"][case.name] = facts(case)
            for method, said in found.items():
                content["answers"].setdefault(method, {})[case.name] = said
            save(content, folder)
            seconds = (f"{method} {said['seconds']:.1f} s" for method, said in found.items())
            sys.stderr.write(f"{case.name}: {', '.join(seconds)}\n")


# ---------------------------------------------------------------- what it says


def precision(case: dict[str, Any], said: dict[str, Any]) -> float | None:  # noqa: ARG001
    """Average precision."""
    return said.get("precision")


def power(case: dict[str, Any], said: dict[str, Any]) -> float | None:
    """Share of the true features that are called an effect."""
    if "called" not in said or not case["true"]:
        return None
    return len(set(said["called"]) & set(case["true"])) / len(case["true"])


def false_share(case: dict[str, Any], said: dict[str, Any]) -> float | None:
    """Share of false ones among the features that are called an effect; 0 if none is."""
    if "called" not in said:
        return None
    return len(set(said["called"]) - set(case["true"])) / max(len(said["called"]), 1)


def any_called(case: dict[str, Any], said: dict[str, Any]) -> float | None:  # noqa: ARG001
    """1 if any feature is called an effect."""
    return None if "called" not in said else float(bool(said["called"]))


def both_found(case: dict[str, Any], said: dict[str, Any]) -> float | None:
    """1 if both features of the exclusive or, the first two that are true, are called an effect."""
    return None if "called" not in said else float(set(case["true"][:2]) <= set(said["called"]))


MEASURES: dict[str, Measure] = {"average precision": precision, "power": power, "false": false_share}


def measured(content: Content, kind: str | None = None) -> list[str]:
    """The methods that have answers, of one kind of case if that is named, in the usual order."""
    cases, answers = content["cases"], content["answers"]
    return [m for m in METHODS if any(kind in (None, cases[name]["kind"]) for name in answers.get(m, ()))]


def common_cases(content: Content, kind: str, settings: Collection[str] | None = None) -> list[str]:
    """The cases that all methods measured on this kind have answered; those with no verdicts need no shuffled ones."""
    methods = [m for m in measured(content, kind) if kind != "shuffled" or METHODS[m].has_verdicts]
    return [
        name
        for name, case in content["cases"].items()
        if case["kind"] == kind
        and (settings is None or case["setting"] in settings)
        and all(name in content["answers"][method] for method in methods)
    ]


def known_values(content: Content, method: str, cases: Iterable[str], measure: Measure) -> list[float]:
    """A measure in every case in which it is known."""
    said = content["answers"][method]
    values = (measure(content["cases"][name], said[name]) for name in cases if name in said)
    return [value for value in values if value is not None]


def mean(content: Content, method: str, cases: Iterable[str], measure: Measure) -> float | None:
    """Mean of a measure over cases; None if the method does not have it."""
    values = known_values(content, method, cases, measure)
    return float(np.mean(values)) if values else None


def with_error(content: Content, method: str, cases: Iterable[str], measure: Measure) -> str:
    """Mean and standard error of a measure over cases."""
    values = known_values(content, method, cases, measure)
    if len(values) < 2:
        return number(float(values[0]) if values else None)
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def number(value: float | None, digits: int = 3) -> str:
    """A number or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of numbers with names on the left."""
    return [f"| {' | '.join(line)} |" for line in [head, ["---", *["---:"] * (len(head) - 1)], *rows]]


def overall_table(content: Content) -> list[str]:
    """Power and false share by method and kind of case, for methods that call effects."""
    rows = []
    for method in measured(content):
        if not METHODS[method].has_verdicts:
            continue
        row = [method]
        for kind in WITH_TRUTH:
            cases = common_cases(content, kind)
            pair = [mean(content, method, cases, MEASURES[name]) for name in ("power", "false")]
            row.append("–" if None in pair else " / ".join(map(number, pair)))
        row.append(number(mean(content, method, common_cases(content, "shuffled"), any_called)))
        row.append(number(mean(content, method, list(content["cases"]), lambda _, said: said["seconds"]), 1))
        rows.append(row)
    head = ["", *(f"{kind}: power / false" for kind in WITH_TRUTH), "shuffled: any called", "seconds"]
    return grid(head, rows)


def kind_tables(content: Content) -> list[str]:
    """All measures with their standard errors by kind of case and method."""
    lines = []
    for group, settings in GROUPS.items():
        kind = group.partition(":")[0]
        cases = common_cases(content, kind, settings)
        if cases:
            rows = (
                [method, *(with_error(content, method, cases, m) for m in MEASURES.values())]
                for method in measured(content, kind)
            )
            lines += ["", f"### {group.capitalize()} ({len(cases)} cases)", "", *grid(["", *MEASURES], rows)]
    return lines[1:]


def rule_table(content: Content) -> list[str]:
    """All measures by method and kind of rule, on real features."""
    columns = [(rule, name) for rule in RULES for name in MEASURES]
    rows = [
        [
            method,
            *(number(mean(content, method, common_cases(content, "real", [r]), MEASURES[m])) for r, m in columns),
        ]
        for method in measured(content, "real")
    ]
    return grid(["", *(f"{rule}: {name}" for rule, name in columns)], rows)


def setting_tables(content: Content, kind: str, settings: Iterable[str], measures: Mapping[str, Measure]) -> list[str]:
    """A table of every measure by setting and method."""
    lines = []
    for name, measure in measures.items():
        methods = [m for m in measured(content, kind) if measure is precision or METHODS[m].has_verdicts]
        cases = {setting: common_cases(content, kind, [setting]) for setting in settings}
        rows = [
            [setting, *(number(mean(content, m, names, measure), 2) for m in methods)]
            for setting, names in cases.items()
            if names
        ]
        if rows:
            lines += ["", f"### {name.capitalize()}", "", *grid(["", *methods], rows)]
    return lines[1:]


def false_discoveries(content: Content) -> list[str]:
    """The shuffled tables on which a method calls anything an effect, with what it calls one."""
    lines = []
    for method in measured(content, "shuffled"):
        said = content["answers"][method]
        wrong = {
            name: said[name]["called"]
            for name in common_cases(content, "shuffled")
            if METHODS[method].has_verdicts and said[name]["called"]
        }
        if wrong:
            words = (f"{name} ({', '.join(called)})" for name, called in wrong.items())
            lines.append(f"- {method}: {'; '.join(words)}")
    return lines or ["No method calls anything an effect."]


def own_table(content: Content) -> list[str]:
    """Our measures over all cases that we have answered, whatever the others have: more seeds, smaller errors."""
    rows = []
    for group, settings in {**GROUPS, "shuffled": ("shuffled",)}.items():
        kind = group.partition(":")[0]
        of_group = {n for n, case in content["cases"].items() if case["kind"] == kind and case["setting"] in settings}
        for method in measured(content, kind):
            cases = [name for name in content["answers"][method] if name in of_group]
            if METHODS[method].is_ours and cases:
                measures = [*MEASURES.values()] if kind != "shuffled" else [precision, power, any_called]
                row = [with_error(content, method, cases, measure) for measure in measures]
                rows.append([group, method, str(len(cases)), *row])
    return grid(["", "method", "cases", *MEASURES], rows)


def every_case(content: Content, method: str) -> list[str]:
    """What a method calls an effect in every case; the false ones are bold, the true ones that it misses are named."""
    rows = []
    for name, said in content["answers"][method].items():
        case = content["cases"][name]
        called = [n if n in case["true"] else f"**{n}**" for n in said["called"]]
        missed = [n for n in case["true"] if n not in said["called"]]
        shape = [f"{case['rows']:,}", str(case["features"])]
        lists = [", ".join(names) or "–" for names in (case["true"], called, missed)]
        rows.append([name, *shape, number(said.get("precision"), 2), *lists])
    head = ["| case | rows | features | average precision | true | called an effect | missed |"]
    return [*head, "|---|---:|---:|---:|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def errors(content: Content) -> list[str]:
    """A line for every answer that failed."""
    return [
        f"- {method}, {name}: {said['error']}"
        for method in measured(content)
        for name, said in content["answers"][method].items()
        if "error" in said
    ]


def page(content: Content) -> str:
    """The means, for reading."""
    counts = ", ".join(f"{len(common_cases(content, kind))} {kind}" for kind in KINDS)
    lines = [
        "# Known truth: what comes first, and what is called an effect",
        "",
        "Labels drawn from a rule over a few columns: everything else is irrelevant given those, however correlated."
        " *Average precision* says whether the true features come first (1: all do). *Power* is the share of the true"
        " features that a method calls an effect; *false* is the share of the others among those it calls one, 0 where"
        " it calls none.",
        "",
        "- *Real*: features of real tables, rules of two to four of them. *Synthetic*: made-up tables, rules of two or"
        " three features.",
        "- *Long*: rules of four to nine features. Sums: numbers, or categories of three values, that add up, each with"
        f" a neighbour that does nothing (correlation {NEIGHBOUR}). Exclusive or and a sum: an exclusive or of two"
        " features beside numbers that add up, all with neighbours. Real tables: rules of six or nine features of real"
        " tables.",
        "- *Blesch*: the twelve mixed features of Blesch, Watson and Wright (2023, section 3.2), six of them true; five"
        " or three levels.",
        "- *Numbers*: the rules of real and synthetic tables with a number as label: what the rule says of a row, and"
        " noise. Normal; skewed: lognormal noise; prices: signal and normal noise multiply; counts: as of Poisson,"
        " about 3 each. The rule explains about 60 % of the variance (of prices, of their logarithms).",
        "- *Shuffled*: real tables with their labels in random order, where nothing is true: the share of tables in"
        " which anything is called an effect.",
        "",
        f"Means over the cases that all methods measured on that kind have answered: {counts}.",
        "",
        "<!-- table -->",
        *overall_table(content),
        "<!-- end -->",
        "",
        "## By kind of case",
        "",
        "Means with their standard errors over cases.",
        "",
        *kind_tables(content),
        "",
        "## By kind of rule",
        "",
        "Real features. main: a sum of main effects of two to four features. mixed: the same with an exclusive or of"
        " two of them. interaction: an exclusive or of two without main effects, and the main effect of a third.",
        "",
        *rule_table(content),
    ]
    sections = {
        "Synthetic": ("synthetic", SETTINGS, MEASURES),
        "Long": ("long", [*LONG, *LONG_RULES], MEASURES),
        "Exclusive or": ("long", EITHER, {"Share of the tables in which both of its features are found": both_found}),
        "Blesch": ("blesch", BLESCH, MEASURES),
        "Numbers": ("numbers", [setting for two in NUMBERS.values() for setting in two], MEASURES),
    }
    for heading, parts in sections.items():
        lines += ["", f"## By setting: {heading.lower()}", "", *setting_tables(content, *parts)]
    lines += ["", "## Shuffled labels", "", *false_discoveries(content)]
    lines += ["", "## Ours, over all cases answered", "", "Shuffled: false is the share of tables with any effect."]
    lines += ["", *own_table(content), "", "Every answer is in [answers.md](answers.md)."]
    lines += [
        "",
        "## How it was measured",
        "",
        "- Real cases: every table, every rule, and every seed gives other true features and other labels. Constant"
        f" columns and copies are left out; from tables with more than {MAX_ROWS:,} rows a seed draws {MAX_ROWS:,}."
        " A rule sees numbers in quarters of the rows. Cases in which one label has less than 5 % of the rows are left"
        f" out, and for long rules tables under {LONG_MIN_ROWS} rows.",
        "- Numbers: of every real table, seed and noise one kind of rule by turns; made-up tables with two classes and"
        " up to 2,000 rows.",
        "- The log odds have a standard deviation of 2.2, so that the best guess is right in about four of five rows.",
        "- Standard errors: of the mean over cases, as if every case were drawn anew; real tables come several times.",
        "- Rivals see numbers in five bins of about as many rows each, except the forests, Boruta and D0CRT. None was"
        " tuned.",
        f"- MultiSURF and Boruta see at most {SLOW_ROWS:,} rows, drawn at random.",
        *(f"- *{method}*: {METHODS[method].about}" for method in measured(content)),
        "- Seconds: processor seconds, mean over all cases that the method has answered.",
    ]
    failed = errors(content)
    if failed:
        lines += ["", "## Errors", "", "They count as nothing called, all features alike.", "", *failed]
    return "\n".join([*lines, "", f"Measured on {content['machine']}; one thread."]) + "\n"


def answers_page(content: Content) -> str:
    """Every answer of ours, for looking up."""
    lines = ["# Known truth: every case", "", "Features that are falsely called an effect are bold."]
    for method in measured(content):
        if METHODS[method].is_ours:
            lines += ["", f"## {method.capitalize()}", "", *every_case(content, method)]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- files


def as_text(content: Content) -> str:
    """JSON with one line per case and per answer."""

    def block(entries: dict[str, str], indent: str) -> str:
        lines = ",\n".join(f"{indent} {json.dumps(name)}: {text}" for name, text in entries.items())
        return f"{{\n{lines}\n{indent}}}"

    def records(entries: dict[str, Any], indent: str) -> str:
        return block({name: json.dumps(entry) for name, entry in entries.items()}, indent)

    answers = {method: records(said, "  ") for method, said in content["answers"].items()}
    parts = {
        "machine": json.dumps(content["machine"]),
        "cases": records(content["cases"], " "),
        "answers": block(answers, " "),
    }
    return block(parts, "") + "\n"


def save(content: Content, folder: Path) -> None:
    """Write results.json, all of it or nothing."""
    new = folder / "results.json.new"
    new.write_text(as_text(content), encoding="utf-8")
    new.replace(folder / "results.json")


def load(folder: Path) -> Content:
    """What earlier runs measured."""
    path = folder / "results.json"
    if path.exists():
        content: Content = json.loads(path.read_text(encoding="utf-8"))
        return content
    return {"machine": describe_machine(), "cases": {}, "answers": {}}


def forget(content: Content, methods: Collection[str], kinds: Collection[str]) -> Content:
    """The content without what some methods said about some kinds of case, whatever the seed."""

    def is_kept(method: str, name: str) -> bool:
        return method not in methods or content["cases"][name]["kind"] not in kinds

    kept = {m: {name: a for name, a in said.items() if is_kept(m, name)} for m, said in content["answers"].items()}
    return content | {"answers": kept}


def some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """Reads names with commas between them."""

    def read(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
        return names

    return read


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"seeds of every case (default: {SEEDS})")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="start with another seed than 0")
    parser.add_argument("--methods", type=some_of(METHODS), default=list(METHODS), metavar="A,B", help="some methods")
    parser.add_argument("--kinds", type=some_of(KINDS), default=list(KINDS), metavar="A,B", help="some kinds of cases")
    parser.add_argument("--again", action="store_true", help="forget what these methods said about these kinds")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    options = parser.parse_args()
    kinds = options.kinds
    if not set(kinds) <= set(MADE_UP):
        try:
            data_folder()
        except FileNotFoundError as error:
            kinds = [kind for kind in kinds if kind in MADE_UP]
            sys.stderr.write(f"Only {' and '.join(kinds) or 'the page'} can be made. {error}\n")
    if options.again:
        save(forget(load(HERE), options.methods, kinds), HERE)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    measure(all_cases(kinds, seeds), options.methods, HERE, options.jobs)
    content = load(HERE)
    (HERE / "results.md").write_text(page(content), encoding="utf-8")
    (HERE / "answers.md").write_text(answers_page(content), encoding="utf-8")


if __name__ == "__main__":
    main()
