"""The notebooks run without a browser, show what is written down, and their text says what they show."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CLAIMS = {
    "start_here": ("138,516", "57.8 %", "34.2 %"),
    "audit": ("14.2 points", "1.8", "130,731", "115,965", "4,526", "13,578", ".228", ".002"),
}
"""Numbers of the text that the cells must show."""


def of(path, kind):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == kind]


def outputs_of(path):
    return [output for cell in of(path, "code") for output in cell["outputs"]]


def test_there_are_two_notebooks():
    assert [path.stem for path in NOTEBOOKS] == sorted(CLAIMS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_written_down(path):
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel: pip install ipykernel")
    pytest.importorskip("nbclient", reason="notebooks are run by nbclient: pip install nbclient")
    before = path.read_bytes()
    command = [sys.executable, str(FOLDER / "run.py"), "--check", path.stem]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stderr}Run: make notebooks"
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_clean_and_small(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell["execution_count"] for cell in of(path, "code")] == list(range(1, len(of(path, "code")) + 1))
    assert not any(cell["metadata"] for cell in notebook["cells"])
    pictures = [output["data"]["image/png"] for output in outputs_of(path) if "image/png" in output.get("data", {})]
    assert len(pictures) >= 2
    assert max(map(len, pictures)) < 100_000
    assert not [output for output in outputs_of(path) if output["output_type"] in ("stream", "error")]
    assert not re.search(r"/(home|tmp|root|Users|work)/", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_text_of_a_notebook_says_what_its_cells_show(path):
    text = "".join("".join(cell["source"]) for cell in of(path, "markdown") + of(path, "code"))
    shown = " ".join(" ".join(output["data"]["text/plain"]) for output in outputs_of(path))
    shown = re.sub(r"\s+", " ", shown)
    for claim in CLAIMS[path.stem]:
        assert claim in text
        if claim != "34.2 %":  # in a picture
            assert claim in shown


def test_children_by_class_are_as_the_first_notebook_says():
    from analogical import interactions, load_table

    titanic = load_table("titanic").to_frame("pandas")
    found = interactions(titanic, "survived", weights="count")["class", "age"]
    child = found.second_values.index("child")
    shown = {
        of_class: (int(rows.sum()), round(float(100 * share), 1))
        for of_class, rows, share in zip(
            found.first_values[:3], found.counts[:3, child], found.shares("yes")[:3, child], strict=True
        )
    }
    assert shown == {"1st": (6, 100), "2nd": (24, 100), "3rd": (79, 34.2)}
