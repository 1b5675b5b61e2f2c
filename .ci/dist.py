"""Build the sdist and the wheel into dist/, and check them as a user would meet them.

    python .ci/dist.py

- the wheel made from the sdist is the wheel made from the tree, byte for byte;
- the wheel holds the files of the package and nothing else, the sdist every file that the project keeps;
- the tests in the unpacked sdist find what they need;
- in a new environment and an empty folder the library works without extras, and the commands work with them.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "analogical"
KINDS = {".py", ".css", ".j2", ".js", ".json", ".toml", ".typed"}
"""Endings of the files of the package; another kind is a mistake, or is to be added here."""
ABOUT = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def version() -> str:
    """The version in pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def package_files() -> set[str]:
    """The files of the package as a wheel names them."""
    found = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(PACKAGE.parent).as_posix() for path in found}


def faults_of_wheel(wheel: Path) -> list[str]:
    """What the wheel lacks, and what it should not hold."""
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = package_files() | {f"analogical-{version()}.dist-info/{name}" for name in ABOUT}
    odd = {name for name in held if name.startswith("analogical/") and Path(name).suffix not in KINDS}
    return [
        *(f"{wheel.name} lacks {name}" for name in sorted(wanted - held)),
        *(f"{wheel.name} should not hold {name}" for name in sorted((held - wanted) | odd)),
    ]


def faults_of_sdist(sdist: Path) -> list[str]:
    """Files that the project keeps and the sdist lacks, and files in it that the project does not keep."""
    with tarfile.open(sdist) as archive:
        held = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    listed = run(["git", "ls-files", "-z"], cwd=ROOT).split("\0")
    kept = {name for name in listed if name}
    return [
        *(f"{sdist.name} lacks {name}" for name in sorted(kept - held)),
        *(f"{sdist.name} should not hold {name}" for name in sorted(held - kept - {"PKG-INFO"})),
    ]


def run(command: list[str], *, cwd: Path, **settings: str) -> str:
    """Output of a command, which must succeed; the tree is not on its path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment | settings, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """The sdist and the wheel made from it, in dist/; the wheel made from the tree must be the same."""
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", str(target)], cwd=ROOT)
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, "-m", "build", "--wheel", "--outdir", folder], cwd=ROOT)
        (direct,) = Path(folder).glob("*.whl")
        if direct.read_bytes() != wheel.read_bytes():
            raise SystemExit("The wheel made from the sdist differs from the wheel made from the tree.")
    return sdist, wheel


def try_sdist(sdist: Path, folder: Path) -> None:
    """Collect all tests of the unpacked sdist, and run a few that read files of the project."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    pytest = [sys.executable, "-m", "pytest", "--no-cov", "-q", "-p", "no:cacheprovider"]
    run([*pytest, "--collect-only"], cwd=tree, PYTHONPATH=str(tree / "src"))
    run(
        [*pytest, "tests/paper/test_definitions.py", "tests/project/test_release.py"],
        cwd=tree,
        PYTHONPATH=str(tree / "src"),
    )


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel in a new environment and use it in an empty folder."""
    home, place = folder / "environment", folder / "empty"
    place.mkdir()
    run([sys.executable, "-m", "venv", str(home)], cwd=folder)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python, analogical = str(scripts / "python"), str(scripts / "analogical")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, str(wheel)], cwd=place)
    code = "import analogical as a; print(a.__version__, a.relevance([[0, 0], [0, 1]], [0, 1]).ranking())"
    expect(f"{version()} ['x1', 'x0']", run([python, "-c", code], cwd=place))
    run([*install, f"{wheel}[cli,report]"], cwd=place)
    expect(f"analogical {version()}", run([analogical, "--version"], cwd=place))
    expect("sex", run([analogical, "score", "titanic"], cwd=place))
    (place / "table.csv").write_text("size,colour,sold\n1,red,yes\n1,blue,no\n2,red,yes\n2,blue,no\n", "utf-8")
    expect("colour", run([analogical, "score", "table.csv"], cwd=place))
    run([analogical, "report", "titanic", "--out", "page.html"], cwd=place)
    expect("</html>", (place / "page.html").read_text(encoding="utf-8"))
    run([python, "-m", "pip", "check"], cwd=place)


def expect(words: str, text: str) -> None:
    """Stop if the text does not hold the words."""
    if words not in text:
        raise SystemExit(f"Expected {words!r} in:\n{text}")


def main() -> None:
    """Build, look inside, install and use."""
    sdist, wheel = build()
    faults = [*faults_of_wheel(wheel), *faults_of_sdist(sdist)]
    if faults:
        raise SystemExit("\n".join(faults))
    run([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)], cwd=ROOT)
    with tempfile.TemporaryDirectory() as folder:
        try_sdist(sdist, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        try_wheel(wheel, Path(folder))
    for path in (sdist, wheel):
        sys.stdout.write(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
