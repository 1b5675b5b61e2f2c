"""Whether the relevant features come first, and whether what is called an effect is one, where the truth is known.

    make truth                                                     # all cases; a rerun only pays for what is new
    python benchmarks/truth/run.py --methods MI --seeds 1          # one method, one seed
    python benchmarks/truth/run.py --methods relevance --again     # measure it again after a change of the code
    python benchmarks/truth/run.py --kinds synthetic,shuffled      # without the rules on real features
    python benchmarks/truth/run.py --seeds 0                       # only write the page again

The real tables are in the folder ``real`` of the folder that the variable ANALOGICAL_DATA names. What every method
says about every case goes to results.json as soon as it is known, the page to results.md.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

sys.path.extend(str(folder) for folder in Path(__file__).parents[:2])
from cases import MAX_ROWS, RULES, SETTINGS, Case, data_folder, real_cases, shuffled_cases, synthetic_cases
from machine import describe_machine
from methods import METHODS, SLOW_ROWS
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
SEEDS = 2
KINDS = ("real", "synthetic", "shuffled")

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
    makers = {"real": real_cases, "synthetic": synthetic_cases, "shuffled": shuffled_cases}
    return chain.from_iterable(makers[kind]([seed]) for seed in seeds for kind in KINDS if kind in kinds)


def measure(cases: Iterable[Case], methods: Sequence[str], folder: Path, n_jobs: int = 1) -> None:
    """Add to results.json what it does not hold yet, case by case; two runs of other methods may do so at a time."""
    known = load(folder)["answers"]

    def jobs() -> Iterator[tuple[Case, list[str]]]:
        for case in cases:
            names = [method for method in methods if case.true or METHODS[method].has_verdicts]
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


MEASURES: dict[str, Measure] = {"average precision": precision, "power": power, "false": false_share}


def measured(content: Content) -> list[str]:
    """The methods that have answers, in the usual order."""
    return [method for method in METHODS if content["answers"].get(method)]


def common_cases(content: Content, kind: str, setting: str | None = None) -> list[str]:
    """The cases that all measured methods have answered; those with no verdicts need no shuffled ones."""
    methods = [m for m in measured(content) if kind != "shuffled" or METHODS[m].has_verdicts]
    return [
        name
        for name, case in content["cases"].items()
        if case["kind"] == kind
        and setting in (None, case["setting"])
        and all(name in content["answers"][method] for method in methods)
    ]


def mean(content: Content, method: str, cases: Sequence[str], measure: Measure) -> float | None:
    """Mean of a measure over cases; None if the method does not have it."""
    said = content["answers"][method]
    values = [measure(content["cases"][name], said[name]) for name in cases if name in said]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def number(value: float | None, digits: int = 3) -> str:
    """A number or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of numbers with names on the left."""
    return [f"| {' | '.join(line)} |" for line in [head, ["---", *["---:"] * (len(head) - 1)], *rows]]


def overall_table(content: Content) -> list[str]:
    """All measures by method and kind of case."""
    head = ["", *(f"{kind}: {name}" for kind in ("real", "synthetic") for name in MEASURES)]
    rows = []
    for method in measured(content):
        row = [method]
        for kind in ("real", "synthetic"):
            row += [number(mean(content, method, common_cases(content, kind), m)) for m in MEASURES.values()]
        row.append(number(mean(content, method, common_cases(content, "shuffled"), any_called)))
        row.append(number(mean(content, method, list(content["cases"]), lambda _, said: said["seconds"]), 1))
        rows.append(row)
    return grid([*head, "shuffled: any called", "seconds"], rows)


def rule_table(content: Content) -> list[str]:
    """All measures by method and kind of rule, on real features."""
    columns = [(rule, name) for rule in RULES for name in MEASURES]
    rows = [
        [
            method,
            *(number(mean(content, method, common_cases(content, "real", r), MEASURES[m])) for r, m in columns),
        ]
        for method in measured(content)
    ]
    return grid(["", *(f"{rule}: {name}" for rule, name in columns)], rows)


def setting_table(content: Content, name: str) -> list[str]:
    """One measure by setting and method, on made-up tables."""
    methods = [m for m in measured(content) if name == "average precision" or METHODS[m].has_verdicts]
    rows = []
    for setting in SETTINGS:
        cases = common_cases(content, "synthetic", setting)
        if cases:
            rows.append([setting, *(number(mean(content, m, cases, MEASURES[name]), 2) for m in methods)])
    return grid(["", *methods], rows)


def false_discoveries(content: Content) -> list[str]:
    """The shuffled tables on which a method calls anything an effect, with what it calls one."""
    lines = []
    for method in measured(content):
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


def own_means(content: Content, method: str) -> str:
    """A sentence for every kind of case with the means over all cases that the method has answered."""
    sentences = []
    for kind in KINDS:
        cases = [name for name in content["answers"][method] if content["cases"][name]["kind"] == kind]
        measures = {"any called": any_called} if kind == "shuffled" else MEASURES
        means = ", ".join(f"{name} {number(mean(content, method, cases, m))}" for name, m in measures.items())
        if cases:
            sentences.append(f"All its {len(cases)} {kind} cases: {means}.")
    return " ".join(sentences)


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
    """What was measured, for reading."""
    counts = ", ".join(f"{len(common_cases(content, kind))} {kind}" for kind in KINDS)
    lines = [
        "# Known truth: what comes first, and what is called an effect",
        "",
        "Labels drawn from a rule over a few columns: everything else is irrelevant given those, however correlated."
        " *Average precision* says whether the true features come first (1: all do). *Power* is the share of the true"
        " features that a method calls an effect; *false* is the share of the others among those it calls one, 0 where"
        " it calls none. *Real*: features of real tables. *Synthetic*: made-up tables. *Shuffled*: real tables with"
        " their labels in random order, where nothing is true: the share of tables in which anything is called an"
        " effect."
        f" Means over the cases that all methods have answered: {counts}.",
        "",
        "<!-- table -->",
        *overall_table(content),
        "<!-- end -->",
        "",
        "## By kind of rule",
        "",
        "Real features. main: a sum of main effects of two to four features. mixed: the same with an exclusive or of"
        " two of them. interaction: an exclusive or of two without main effects, and the main effect of a third.",
        "",
        *rule_table(content),
        "",
        "## By setting",
        "",
        "Made-up tables.",
    ]
    for name in MEASURES:
        lines += ["", f"### {name.capitalize()}", "", *setting_table(content, name)]
    lines += ["", "## Shuffled labels", "", *false_discoveries(content)]
    ours = [method for method in measured(content) if METHODS[method].is_ours]
    for method in ours:
        lines += [
            "",
            f"## Every case: {method}",
            "",
            own_means(content, method) + " False ones are bold.",
            "",
            *every_case(content, method),
        ]
    lines += [
        "",
        "## How it was measured",
        "",
        "- Real cases: every table, every rule, and every seed gives other true features and other labels. Constant"
        f" columns and copies are left out; from tables with more than {MAX_ROWS:,} rows a seed draws {MAX_ROWS:,}."
        " A rule sees numbers in quarters of the rows. Cases in which one label has less than 5 % of the rows are left"
        " out.",
        "- The log odds have a standard deviation of 2.2, so that the best guess is right in about four of five rows.",
        "- Rivals see numbers in five bins of about as many rows each, except the forests and Boruta. None was tuned.",
        f"- MultiSURF and Boruta see at most {SLOW_ROWS:,} rows, drawn at random: fewer than all only where"
        " there are 20,000.",
        *(f"- *{method}*: {METHODS[method].about}" for method in measured(content)),
        "- Seconds: processor seconds, mean over all cases that the method has answered.",
    ]
    failed = errors(content)
    if failed:
        lines += ["", "## Errors", "", "They count as nothing called, all features alike.", "", *failed]
    return "\n".join([*lines, "", f"Measured on {content['machine']}; one thread."]) + "\n"


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
    parser.add_argument("--again", action="store_true", help="forget what was recorded about these methods")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    options = parser.parse_args()
    kinds = options.kinds
    if set(kinds) != {"synthetic"}:
        try:
            data_folder()
        except FileNotFoundError as error:
            sys.stderr.write(f"Only the synthetic cases are run. {error}\n")
            kinds = [kind for kind in kinds if kind == "synthetic"]
    if options.again:
        content = load(HERE)
        save(content | {"answers": {m: a for m, a in content["answers"].items() if m not in options.methods}}, HERE)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    measure(all_cases(kinds, seeds), options.methods, HERE, options.jobs)
    (HERE / "results.md").write_text(page(load(HERE)), encoding="utf-8")


if __name__ == "__main__":
    main()
