"""What importing loads, and which stage may import which."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import analogical

STEPS = {
    "import": "import analogical",
    "plot": "import analogical.plot",
    "score": "import numpy; analogical.relevance(numpy.array([[0, 0], [0, 1], [1, 0]]), [0, 1, 1])",
}


@pytest.fixture(scope="module")
def loaded():
    """Top modules that are loaded after each step, in a process of its own."""
    code = "import json, sys\nfound = {}\n" + "".join(
        f"{step}\nfound[{name!r}] = sorted({{m.partition('.')[0] for m in sys.modules}})\n"
        for name, step in STEPS.items()
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print(json.dumps(found))"], capture_output=True, text=True, check=True
    )
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def test_import_loads_no_heavy_library(loaded):
    heavy = {"numpy", "pandas", "polars", "matplotlib", "sklearn", "pyarrow", "typer", "rich", "jinja2", "pyspark"}
    assert not heavy & loaded["import"]


def test_figures_load_matplotlib_when_they_are_drawn(loaded):
    assert "matplotlib" not in loaded["plot"]


def test_scoring_an_array_loads_neither_pandas_nor_polars(loaded):
    assert not {"pandas", "polars", "matplotlib"} & loaded["score"]
    assert {"analogical", "numpy"} <= loaded["score"]


# ---------------------------------------------------------------- who imports whom

SOURCE = Path(analogical.__file__).parent
STAGES = (
    "columns", "io", "count", "estimate", "outside", "table_counts", "study", "arguments", "questions", "show", "plot",
    "cli", "paper",
)  # fmt: skip


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imported(node):
    """Modules that an import statement names; a name taken from a package may be a module of it."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        package = SOURCE.parent.joinpath(*node.module.split("."))
        within = {f"{node.module}.{alias.name}" for alias in node.names} if package.is_dir() else set()
        return {node.module} | within
    return set()


@cache
def imports_of(path, *, lazy):
    """What a file imports, at the top of it or, with ``lazy``, anywhere; what is there for types only is left out."""

    def walk(node):
        for child in ast.iter_child_nodes(node):
            if is_type_checking(child):
                continue
            yield from imported(child)
            if lazy or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from walk(child)

    return set(walk(ast.parse(path.read_text(encoding="utf-8"))))


def files_of(stage):
    file = SOURCE / f"{stage}.py"
    return [file] if file.exists() else sorted((SOURCE / stage).rglob("*.py"))


def uses(names, module):
    return any(name == module or name.startswith(f"{module}.") for name in names)


def stages_used(path, *, lazy=True):
    names = imports_of(path, lazy=lazy)
    return {stage for stage in STAGES if uses(names, f"analogical.{stage}")}


ARROWS = {
    "columns": {"columns", "io", "count", "estimate"},
    "io": {"io", "columns"},
    "count": {"count"},
    "estimate": {"estimate", "count"},
    "table_counts": {"columns", "count", "estimate"},
    "study": {"table_counts", "columns", "count", "estimate", "outside", "show"},
    "outside": {"outside", "columns", "count"},
    "arguments": {"study", "table_counts", "columns", "outside"},
    "questions": {"questions", "arguments", "study", "table_counts", "columns", "count", "estimate", "show", "plot"},
    "show": {"show", "columns", "questions"},
    "plot": {"plot", "show"},
    "cli": {"cli", "questions", "show", "plot", "columns", "io", "outside", "paper"},
    "paper": {"paper", "plot"},
}
"""What each stage may import, at the top of a file or inside of a function."""

PAST_THE_STUDY = {
    "questions/relevance.py": {"count.pairs": "ari_score, a score function for scikit-learn, counts nothing else"},
}
"""Verbs that ask a counting function themselves, and why."""


@pytest.mark.parametrize("stage", ARROWS)
def test_a_stage_imports_only_the_stages_before_it(stage):
    assert files_of(stage)
    for path in files_of(stage):
        assert stages_used(path) <= ARROWS[stage], path.name


@pytest.mark.parametrize("path", files_of("questions"), ids=lambda path: path.name)
def test_verbs_ask_the_study_and_count_nothing_themselves(path):
    """They may take what is counted apart: contexts, groups of rows, single pairs and squares of them."""
    used = {name.removeprefix("analogical.") for name in imports_of(path, lazy=True)}
    counting = {name for name in used if name.startswith("count.")}
    kept = {"count.contexts", "count.counts", "count.groups", "count.listing", "count.threads"}
    allowed = PAST_THE_STUDY.get(path.relative_to(SOURCE).as_posix(), {})
    assert counting - kept == set(allowed), "verbs ask the Study; an exception stands in PAST_THE_STUDY"


def test_encoding_knows_of_counting_only_how_many_rows_it_can_count():
    for path in files_of("columns"):
        names = {name for name in imports_of(path, lazy=True) if name.startswith("analogical.count")}
        assert names <= {"analogical.count.counts"}, path.name


def test_encoding_knows_of_estimating_only_leaks_of_the_label():
    for path in files_of("columns"):
        names = {name for name in imports_of(path, lazy=True) if name.startswith("analogical.estimate")}
        assert names <= {"analogical.estimate.leaks"}, path.name


def test_results_load_their_presentation_when_they_are_shown():
    verbs = [*SOURCE.glob("*.py"), *files_of("questions")]
    assert SOURCE / "questions" / "relevance.py" in verbs
    for path in verbs:
        assert "show" not in stages_used(path, lazy=False), path.name
    assert "show" in stages_used(SOURCE / "_results.py")


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_what_all_stages_share_imports_neither_the_command_line_nor_the_experiments(path):
    assert not {"cli", "paper", "io"} & stages_used(path)


def test_narwhals_is_imported_where_tables_are_read():
    users = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if uses(imports_of(path, lazy=True), "narwhals")]
    assert {path.as_posix() for path in users if path.parts[0] != "outside"} == {"columns/frames.py"}


def test_the_walk_sees_imports_at_the_top_and_inside_functions(tmp_path):
    path = tmp_path / "example.py"
    path.write_text(
        "import os\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from analogical.cli import main\n"
        "try:\n    import json\nexcept ImportError:\n    pass\n"
        "from analogical.count import pairs\n"
        "class C:\n    def f(self):\n        from analogical.show import as_text\n"
    )
    top = {"os", "typing", "json", "analogical.count", "analogical.count.pairs"}
    assert imports_of(path, lazy=False) == top
    inside = {"analogical.show", "analogical.show.as_text"}
    assert imports_of(path, lazy=True) == top | inside
    assert stages_used(path) == {"count", "show"}


# ---------------------------------------------------------------- what is loaded for a command


def loaded_by(*typed):
    """Libraries that a command loads."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\nloaded:', *sorted({name.split('.')[0] for name in sys.modules})))\n"
        f"sys.argv = {['analogical', *typed]!r}\n"
        "from analogical.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(ended.stdout.partition("\nloaded: ")[2].split())


@pytest.mark.parametrize("typed", [(), ("-h",), ("--help",)])
def test_the_list_of_commands_needs_no_numbers(typed):
    loaded = loaded_by(*typed)
    assert {"analogical", "typer", "rich"} <= loaded
    assert not {"numpy", "scipy", "sklearn", "narwhals", "polars", "pandas", "pydantic"} & loaded


def test_scoring_a_built_in_table_needs_no_dataframes():
    loaded = loaded_by("score", "monks-1")
    assert {"analogical", "typer", "numpy"} <= loaded
    assert not {"sklearn", "joblib", "narwhals", "polars", "pandas", "pyarrow", "matplotlib"} & loaded
