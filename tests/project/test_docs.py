"""What the pages show is what the program prints and what the benchmarks recorded, and every link leads somewhere."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COVERAGE = ROOT / "benchmarks" / "coverage"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
BLOCK = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<to>[^()\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SITE = (
    "myst_parser",
    "numpydoc",
    "pydata_sphinx_theme",
    "sphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery",
)
MADE_BY_SPHINX = ("copied/", "gallery/", "generated/")


def code_blocks(page):
    """Kind and text of the fenced blocks of a page that show code or output."""
    return [(found["kind"], found["body"]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def anchors(page):
    """What links to headings of a page may name, by the rule that GitHub and myst share."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_inside_the_project_lead_somewhere(page):
    text = re.sub(r"`[^`\n]+`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    links = [found["to"] for found in LINK.finditer(text) if not found["to"].startswith(("http://", "https://"))]
    for link in links:
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name} links to {link}, which is not there"
        assert not anchor or anchor in anchors(target), (
            f"{page.name} links to {link}; {target.name} has no such heading"
        )


def test_cards_of_the_start_page_lead_to_pages():
    cards = re.findall(
        r"^:link: (\S+)\n:link-type: doc$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(cards) >= 6
    pages = {path.stem for path in (*DOCS.glob("*.md"), *DOCS.glob("*.rst"))}
    assert set(cards) <= {*pages, "gallery/index"}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_python_blocks_are_doctests_and_console_blocks_hold_one_command(page):
    """Doctests are run by pytest (``--doctest-glob``), commands by docs/refresh.py: no block is left out of both."""
    for kind, body in code_blocks(page):
        if re.search(r"py(thon|con)", kind):
            assert body.startswith(">>> "), f"{page.name}: a block of Python without >>> is not run:\n{body}"
        elif "console" in kind:
            assert body.startswith("$ analogical "), f"{page.name}: this block is not run:\n{body}"
            assert body.count("\n$ ") == 0, f"{page.name}: only the first command of this block is run:\n{body}"
        else:
            assert ">>> " not in body, f"{page.name}: {kind or 'a plain block'} holds Python:\n{body}"


def test_every_page_is_in_a_table_of_contents():
    """Followed from the start page, as Sphinx does."""
    reached, ahead = set(), {"index"}
    while ahead:
        name = ahead.pop()
        reached.add(name)
        page = DOCS / f"{name}.md"
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        lines = [line.strip() for found in TOCTREE.finditer(text) for line in found["body"].splitlines()]
        entries = {re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines if line and not line.startswith(":")}
        ahead |= {entry for entry in entries if not entry.startswith(MADE_BY_SPHINX)} - reached
    pages = {path.stem for path in (*DOCS.glob("*.md"), *DOCS.glob("*.rst"))}
    assert pages == reached


@pytest.mark.parametrize("module", ["", ".paper.definitions", ".paper", ".plot", ".outside.spark"])
def test_every_public_name_is_in_the_reference(module):
    _, _, section = (DOCS / "api.rst").read_text(encoding="utf-8").partition(f".. currentmodule:: analogical{module}\n")
    listed = set(re.findall(r"^   (\w+)$", section.partition(".. currentmodule::")[0], re.MULTILINE))
    assert listed == set(import_module(f"analogical{module}").__all__)


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.slow
def test_site_builds_without_a_warning_and_needs_no_network(tmp_path):
    """All pages, with the scripts of the gallery not run: they have tests of their own."""
    for package in SITE:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f'{package} is not installed; the site needs: pip install "analogical[docs]"')
    made = shutil.ignore_patterns("_build", "copied", "gallery", "generated", "__pycache__", "*.json", "*.jsonl")
    for folder in ("docs", "examples", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=made)
    for page in ROOT.glob("*.md"):
        shutil.copyfile(page, tmp_path / page.name)
    build = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-n", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*build, str(tmp_path / "docs"), str(tmp_path / "html")],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "generated" / "analogical.relevance.html").exists()
    for page in (tmp_path / "html").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(
            r"<(?:script|img|iframe|source)[^>]* src=\"(?:https?:)?//[^\"]*|<link[^>]* href=\"https?://[^\"]*", text
        )
        assert fetched == [], page.name


def pinned():
    """Libraries that make the help of the commands, and the version for which docs/cli.md was written."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return dict(need.removesuffix("*").split("==") for need in extras["test"] if need.endswith(".*"))


@pytest.mark.skipif(
    not all(version(name).startswith(start) for name, start in pinned().items()),
    reason="commands and options are compared with the versions of typer and rich in the extra test only",
)
def test_console_blocks_and_tables_show_what_the_program_prints_and_what_was_recorded():
    script = DOCS / "refresh.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}Run: make refresh"


def test_pictures_are_small_and_drawn_by_the_script():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = {f"{draw.__name__}.png" for draw in module.PICTURES}
    kept = {path.name: path.stat().st_size for path in (DOCS / "images").iterdir()}
    assert drawn <= set(kept)
    assert max(kept[name] for name in drawn) < 100_000
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(f"images/{name})" in pages for name in kept)
    (first, *_) = module.PICTURES
    assert [round(bar.get_width(), 1) for bar in first().patches] == [70.7, 70.7, 57.7, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def simulations():
    spec = importlib.util.spec_from_file_location("coverage_run", COVERAGE / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(COVERAGE))  # run.py imports its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(COVERAGE))
    return module


def test_features_without_an_effect_rarely_have_small_p_values_and_are_rarely_kept(simulations):
    import numpy as np

    rows = simulations.universe(10, 2)
    labels, relevant = simulations.FUNCTIONS["g1"](rows), np.arange(10) < 3
    found = simulations._discoveries_of("g1", "10 binary", 2, "5 %", 0.05, rows, labels, relevant, 1000, 60)
    assert found["false_discovery_rate"] <= 0.08
    assert found["p_below_5_percent"] <= 0.06  # the combination of tests is conservative
    assert found["power"] > 0.9


def test_audits_cover_the_true_difference(simulations):
    settings = [r for r in simulations.audit_effect(quick=True) if r["contexts"] == 40]
    assert len(settings) == 6
    assert 0.92 <= sum(r["coverage"] for r in settings) / 6 <= 0.99
    assert max(r["p_below_5_percent"] for r in settings if r["effect"] == 0) <= 0.12
    assert min(r["p_below_5_percent"] for r in settings if r["effect"] == 0.3 and r["rows_per_context"] == 6) > 0.9


def test_exclusive_ors_over_units_are_right_in_nine_of_ten_rows(simulations):
    import numpy as np

    units = sys.modules["units"]
    kinds = ("varies within units", "fixed in units")
    rows, labels, unit = units._draw_exclusive_or(np.random.default_rng(0), 3000, "6 rows each", kinds)
    assert len(labels) == 18_000
    right = rows[:, 0] ^ rows[:, 1] == labels
    assert abs(right.mean() - 0.9) < 0.01
    assert (np.bincount(unit, rows[:, 1]) % 6 == 0).all()  # all rows of a unit or none
    assert (np.bincount(unit, rows[:, 0]) % 6 != 0).mean() > 0.9


def test_the_numbers_of_blesch_watson_and_wright_depend_on_two_features(simulations):
    import numpy as np

    of_numbers = sys.modules["of_numbers"]
    columns, y = of_numbers._chain(np.random.default_rng(0), 50_000)
    means = np.bincount(columns["x3"], y) / np.bincount(columns["x3"])
    assert np.sort(means - means.mean()) == pytest.approx(np.linspace(-0.5, 0.5, 10), abs=0.15)
    assert np.cov(columns["x4"], y)[0, 1] / columns["x4"].var() == pytest.approx(0.5, abs=0.03)
    left = y - 0.5 * columns["x4"] - means[columns["x3"]]
    of_x1 = np.bincount(columns["x1"], left) / np.bincount(columns["x1"])
    assert np.ptp(of_x1) < 0.1
    assert np.corrcoef(columns["x2"], left)[0, 1] == pytest.approx(0, abs=0.02)
    of_x3 = np.bincount(columns["x3"], columns["x2"]) / np.bincount(columns["x3"])
    assert np.ptp(of_x3) > 1  # in random order of the levels


def test_features_that_do_nothing_change_no_mean_of_a_number(simulations):
    import numpy as np

    of_numbers = sys.modules["of_numbers"]
    (columns, y, _) = of_numbers._unequal(np.random.default_rng(0), 100_000, "x, uneven")
    left = y - columns["z"]
    spread = [left[columns["x"] == value].std() for value in range(3)]
    assert spread == pytest.approx([1, 2, 4], rel=0.02)
    assert [left[columns["x"] == value].mean() for value in range(3)] == pytest.approx([0, 0, 0], abs=0.1)
    ((columns, y, _), size, _) = of_numbers._three_values(np.random.default_rng(0), 100_000, "normal", 1.0)
    means = [y[columns["x"] == value].mean() for value in range(3)]
    pairs = [(means[a] - means[b]) ** 2 for a in range(3) for b in range(a)]
    assert np.sqrt(np.mean(pairs)) == pytest.approx(size, abs=0.03)
