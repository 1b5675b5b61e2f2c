"""Run every console block of the README and the docs again, and copy the recorded benchmark tables into them.

    python docs/refresh.py           # rewrite the blocks
    python docs/refresh.py --check   # exit 1 if a block is out of date

A console block holds one command, ``$ analogical ...``, and its output at 80 columns. A table between
``<!-- from FILE -->`` and ``<!-- end -->`` is the one between ``<!-- table -->`` and ``<!-- end -->`` in that file.
The table between ``<!-- kinds of columns -->`` and ``<!-- end -->`` is made by column_kinds.py, those between
``<!-- commands and options -->`` and ``<!-- end -->`` by options.py.
The lines between ``<!-- summary of FILE -->`` and ``<!-- end -->`` are the points at the top of that file, and those
between ``<!-- section HEADING of FILE -->`` and ``<!-- end -->`` what stands below that heading in it.
Tests run the check, so no page shows output that the program does not print, or a figure that was not recorded.
"""

import os
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n\$ (?P<command>analogical .*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)

TABLE = re.compile(r"<!-- from (?P<file>\S+) -->\n(?:.*\n)*?<!-- end -->")
SUMMARY = re.compile(r"<!-- summary of (?P<file>\S+) -->\n(?:.*\n)*?<!-- end -->")
SECTION = re.compile(r"<!-- section (?P<heading>.+) of (?P<file>\S+) -->\n(?:.*\n)*?<!-- end -->")
MADE = re.compile(r"<!-- (?P<what>kinds of columns|commands and options) -->\n(?:.*\n)*?<!-- end -->")
RECORDED = re.compile(r"<!-- table -->\n(?P<table>(?:.*\n)*?)<!-- end -->")


@cache
def run(command: str) -> str:
    """Output of a command as a terminal of 80 columns without colours shows it."""
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if "Traceback (most recent call last)" in done.stdout:
        raise SystemExit(f"{command} failed:\n{done.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines()).strip("\n") + "\n"


def recorded(file: str) -> str:
    """The table that a file of results holds."""
    found = RECORDED.search((ROOT / file).read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{file} has no table between <!-- table --> and <!-- end -->")
    return found["table"]


def summarised(file: str) -> str:
    """The points at the top of a file of results."""
    head = (ROOT / file).read_text(encoding="utf-8").partition("\n|")[0]
    return "".join(f"{line}\n" for line in head.splitlines() if line.startswith("- "))


def section(heading: str, file: str) -> str:
    """What stands below a heading of the second level in a file of results."""
    _, found, rest = (ROOT / file).read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    if not found:
        raise SystemExit(f"{file} has no heading '## {heading}'")
    return rest.partition("\n## ")[0].strip("\n") + "\n"


def made(what: str) -> str:
    """A table that a script beside this one makes."""
    return import_module({"kinds of columns": "column_kinds", "commands and options": "options"}[what]).table()


def refreshed(page: str) -> str:
    """The page with every console block run again and every recorded table copied anew."""
    page = BLOCK.sub(lambda block: f"```console\n$ {block['command']}\n{run(block['command'])}```", page)
    page = SUMMARY.sub(lambda s: f"<!-- summary of {s['file']} -->\n{summarised(s['file'])}<!-- end -->", page)
    page = SECTION.sub(
        lambda s: f"<!-- section {s['heading']} of {s['file']} -->\n{section(s['heading'], s['file'])}<!-- end -->",
        page,
    )
    page = MADE.sub(lambda m: f"<!-- {m['what']} -->\n{made(m['what'])}<!-- end -->", page)
    return TABLE.sub(lambda t: f"<!-- from {t['file']} -->\n{recorded(t['file'])}<!-- end -->", page)


def pages() -> list[Path]:
    """All pages that may hold console blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    """Refresh all pages, or with --check name those that are out of date."""
    check = "--check" in sys.argv[1:]
    outdated = 0
    for path in pages():
        page = path.read_text(encoding="utf-8")
        new = refreshed(page)
        if new != page:
            outdated += 1
            sys.stderr.write(f"{'out of date' if check else 'refreshed'}: {path.relative_to(ROOT)}\n")
            if not check:
                path.write_text(new, encoding="utf-8")
    return int(check and outdated > 0)


if __name__ == "__main__":
    sys.exit(main())
