"""Write oldest.txt: the lower bounds of pyproject.toml as constraints for pip.

    python .github/oldest.py

Tests run with these versions as well, so that the lower bounds are true; a test compares the file with pyproject.toml.
Tools that only run the tests or build the pages are left out: they need not be old.
"""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = ("bench", "dev", "docs", "test", "test-tools")
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?>=(?P<version>[\d.]+)")


def constraints() -> str:
    """One line for each library that a user may install, at its oldest supported version."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name not in TOOLS}
    oldest: dict[str, str] = {}
    for need in [*project["dependencies"], *(need for needs in extras.values() for need in needs)]:
        if need.startswith("analogical["):
            continue
        found = BOUND.match(need)
        if found is None:
            raise SystemExit(f"{need!r} in pyproject.toml has no lower bound; write it as name>=version.")
        if oldest.setdefault(found["name"], found["version"]) != found["version"]:
            raise SystemExit(f"{found['name']} has two lower bounds in pyproject.toml; give it one.")
    head = "# Made by .github/oldest.py from the lower bounds in pyproject.toml.\n"
    return head + "".join(f"{name}=={version}\n" for name, version in sorted(oldest.items()))


if __name__ == "__main__":
    (HERE / "oldest.txt").write_text(constraints(), encoding="utf-8")
