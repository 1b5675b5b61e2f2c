"""What is released, and what surrounds it: versions, lower bounds, the wheel, the workflow, the map of the source."""

import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import analogical

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
GITHUB = ROOT / ".github"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- versions


def test_version_changelog_and_citation_agree():
    assert analogical.__version__ == version("analogical") == PROJECT["version"]
    newest = re.search(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == PROJECT["version"]
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == PROJECT["version"]
    assert str(citation.get("date-released", "unreleased")) == newest[2]
    assert citation["license"] == PROJECT["license"]


def test_the_citation_has_what_the_format_asks_for():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    (paper,) = citation["references"]
    assert paper["title"] == "Analogical relevance index"
    assert [author["family-names"] for author in paper["authors"]] == ["Lim", "Prade", "Richard"]


def test_the_oldest_libraries_are_the_lower_bounds():
    oldest = script(GITHUB / "oldest.py").constraints()
    assert (GITHUB / "oldest.txt").read_text(encoding="utf-8") == oldest, "Run: python .github/oldest.py"
    lines = oldest.splitlines()[1:]
    assert "numpy==2.0" in lines
    assert len(lines) == len({line.partition("==")[0] for line in lines})
    for need in PROJECT["dependencies"]:
        assert need.replace(">=", "==") in lines


def test_classifiers_name_the_versions_of_python_that_are_tested():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    workflow = yaml.safe_load((GITHUB / "workflows" / "check.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["check"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{named[0].replace('.', '')}"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == named[0]


def test_hooks_use_the_tools_that_the_project_uses():
    config = yaml.safe_load(read(".pre-commit-config.yaml"))
    hooks = {hook["id"]: hook for repository in config["repos"] for hook in repository["hooks"]}
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    (ruff,) = [need for need in PROJECT["optional-dependencies"]["dev"] if need.startswith("ruff")]
    assert hooks["ruff-format"]["additional_dependencies"] == hooks["ruff-check"]["additional_dependencies"] == [ruff]


# ---------------------------------------------------------------- the workflow, the forms and the guide


def test_the_guide_names_targets_and_tests_that_there_are():
    guide, targets = read("CONTRIBUTING.md"), re.findall(r"^([a-z-]+):.*##", read("Makefile"), re.MULTILINE)
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", guide, re.MULTILINE))
    assert {"setup", "check", "oldest", "dist"} <= named <= set(targets)
    tests = [word for line in re.findall(r"^`pytest (.+)`$", guide, re.MULTILINE) for word in line.split()]
    assert len(tests) > 10
    assert [word for word in tests if not (ROOT / word).exists()] == []


def test_the_workflow_runs_targets_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    for path in sorted((GITHUB / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        steps = [step for job in jobs.values() for step in job["steps"]]
        commands = [step["run"] for step in steps if "run" in step]
        assert commands
        for command in commands:
            tool, *words = command.split()
            assert (tool == "make" and set(words) <= targets) or (ROOT / tool).is_file(), command
        for step in steps:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v1"))


@pytest.mark.parametrize("name", ["bug", "feature", "wrong_number"])
def test_issue_forms_are_forms(name):
    form = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert {field["type"] for field in fields} <= {"input", "textarea"}
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


# ---------------------------------------------------------------- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, comes with the extra test")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert script(ROOT / ".ci" / "dist.py").faults_of_wheel(wheel) == []
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "analogical/py.typed",
        "analogical/datasets.py",
        "analogical/paper/published.json",
        "analogical/show/page.css",
        "analogical/show/page.html.j2",
        "analogical/show/page.js",
        "analogical/paper/texts.toml",
    } <= held
    assert not [name for name in held if re.search(r"(^|/)tests?[/_]|__pycache__|\.(pyc|png|md|csv)$", name)]


def test_a_wheel_with_more_or_less_is_refused(wheel, tmp_path):
    dist = script(ROOT / ".ci" / "dist.py")
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as good, zipfile.ZipFile(changed, "w") as bad:
        for name in good.namelist():
            if not name.endswith("py.typed"):
                bad.writestr(name, good.read(name))
        bad.writestr("analogical/picture.png", b"")
        bad.writestr("tests/test_release.py", b"")
    assert dist.faults_of_wheel(changed) == [
        f"{wheel.name} lacks analogical/py.typed",
        f"{wheel.name} should not hold analogical/picture.png",
        f"{wheel.name} should not hold tests/test_release.py",
    ]


# ---------------------------------------------------------------- the map of the source

SOURCE = Path(analogical.__file__).parent
MAP = read("ARCHITECTURE.md")
PATHS = re.compile(r"^ {4,}(?P<names>\w+(?:, \w+)*)(?:\(.*\))? +(?P<file>[\w/]+\.py)\b", re.MULTILINE)
"""The lines of the path of one call: names, and the file that has them."""


def source_files():
    files = (path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file())
    return sorted(file for file in files if "__pycache__" not in file.parts and file.suffix != ".typed")


def named_for(folder):
    """The words in backquotes of the entry of a folder in the map, or of what is beside the folders."""
    start = "Beside the folders" if folder == "." else re.escape(f"**`{folder}/`**")
    entry = re.search(rf"^- {start}(.*?)(?=^- |^## )", MAP, re.MULTILINE | re.DOTALL)
    assert entry, f"ARCHITECTURE.md has no entry for {folder}/"
    return set(re.findall(r"`([^`]+)`", entry[1]))


@pytest.mark.parametrize("folder", sorted({file.parent.as_posix() for file in source_files()}))
def test_the_map_names_every_file(folder):
    files = {file.name for file in source_files() if file.parent.as_posix() == folder} - {"__init__.py"}
    named = named_for(folder)
    assert files - named == set(), "ARCHITECTURE.md does not name these files"
    assert {word for word in named if "." in word} - files == set(), "these files are not in the folder"


def test_the_path_of_one_call_names_functions_that_there_are():
    found = [(name, line["file"]) for line in PATHS.finditer(MAP) for name in line["names"].split(", ")]
    assert len(found) > 35
    for name, file in found:
        text = (SOURCE / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE), f"{name} in {file}"


def test_the_map_is_short():
    assert len(MAP.splitlines()) <= 150


@pytest.mark.parametrize(("page", "fewest"), [("ARCHITECTURE.md", 100), ("CONTRIBUTING.md", 20)])
def test_every_file_that_a_page_names_is_there(page, fewest):
    folders = (SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir()), ROOT, ROOT / "tests" / "cli")
    words = re.findall(r"`([^`\s]+\.(?:py|md|rst|j2|css|js|json|toml|cff))`", read(page))
    assert len(words) > fewest
    assert [file for file in words if not any((folder / file).is_file() for folder in folders)] == []


@pytest.mark.parametrize(("page", "fewest"), [("ARCHITECTURE.md", 25), ("CONTRIBUTING.md", 5)])
def test_every_name_that_a_page_points_to_is_there(page, fewest):
    """A name beside a file: ``check_bins`` and ``bin_values`` in ``columns/binning.py``."""
    places = re.findall(r"((?:`\w+`(?:,| and) )*`\w+`)\s+in\s+`([\w/]+\.py)`", read(page))
    assert len(places) >= fewest
    for names, file in places:
        text = ((ROOT if file.startswith("tests/") else SOURCE) / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^ *(def |class )?{name}\b", text, re.MULTILINE), f"{name} in {file}"
