"""The command line: its commands, one file each, and how errors are reported."""

from typing import Annotated

import typer

from analogical.cli.audit import audit
from analogical.cli.compare import compare
from analogical.cli.evidence import evidence
from analogical.cli.generate import generate, tables
from analogical.cli.interactions import interactions
from analogical.cli.redundancies import redundancies
from analogical.cli.report import report
from analogical.cli.reproduce import reproduce
from analogical.cli.score import score
from analogical.cli.select import select
from analogical.cli.streams import guarded_streams, say
from analogical.errors import AnalogicalError

__all__ = ["app", "run"]

INTERRUPTED = 130
"""Exit code of a command that was stopped with Ctrl-C, as shells have it."""

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First run: analogical score titanic",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"analogical {version('analogical')}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which features the label depends on, given the others.

    Compares rows that agree on the other relevant features and differ on one. If their labels differ more often
    than those of equal rows, the label depends on that feature.
    """


for command in (
    score,
    select,
    evidence,
    interactions,
    audit,
    redundancies,
    report,
    compare,
    reproduce,
    generate,
    tables,
):
    app.command()(command)


def run() -> None:
    """Run the command; an error of ours or of the system becomes one line on stderr and exit code 2."""
    try:
        with guarded_streams():
            code = _run_app()
    except AnalogicalError as refused:
        code = 2
        say(refused)
    except MemoryError:
        code = 2
        say(
            "There is not enough memory for this table; leave out columns with --ignore, use a sample of the rows, or"
            " a machine with more memory."
        )
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        say("Interrupted.")
    raise SystemExit(code)


def _run_app() -> int | str | None:
    """The exit code of the command."""
    try:
        app()
    except SystemExit as stop:
        return stop.code
    return 0
