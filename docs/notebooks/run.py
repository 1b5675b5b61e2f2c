"""Run the notebooks in this folder again and write down what they show.

    python docs/notebooks/run.py                    # run all, and keep what they show: make notebooks
    python docs/notebooks/run.py --check start_here # exit 1 if one fails, or its text is not what is written down

Files that a notebook writes go to a folder that is removed. Pictures are not compared: they depend on fonts.
"""

import difflib
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
SOURCE = FOLDER.parent.parent / "src"
SECONDS = 120
"""More than this for one cell is an error."""


def run(notebook: Any) -> Any:
    """The notebook with what its cells show now, and nothing about the machine; a cell that fails raises its error."""
    from nbclient import NotebookClient

    # The library of this tree, by its full path, because the kernel runs in another folder.
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def text_of(notebook: Any) -> list[str]:
    """Lines of what the cells show, without pictures and without what goes to standard error."""
    lines: list[str] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                lines += output.text.splitlines() if output.name == "stdout" else []
            else:
                lines += output.data["text/plain"].splitlines()
    return lines


def main() -> int:
    """Run all notebooks or those named; with --check compare instead of writing."""
    import nbformat

    check = "--check" in sys.argv[1:]
    named = [name for name in sys.argv[1:] if name != "--check"]
    outdated = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        if named and path.stem not in named:
            continue
        written = nbformat.read(path, as_version=4)
        before = text_of(written)
        shown = run(written)
        difference = list(difflib.unified_diff(before, text_of(shown), "written down", "shown now", lineterm="", n=1))
        outdated += bool(difference)
        if check:
            sys.stderr.write("".join(f"{path.name}: {line}\n" for line in difference))
        else:
            nbformat.write(shown, path)
            sys.stderr.write(f"{path.name}: {path.stat().st_size / 1000:.0f} kB\n")
    return int(check and outdated > 0)


if __name__ == "__main__":
    sys.exit(main())
