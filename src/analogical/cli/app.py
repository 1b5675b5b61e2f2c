"""The commands, whose files are imported only when one is typed, and how errors are reported."""

import os
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from analogical.cli.streams import guarded_streams, say
from analogical.errors import AnalogicalError

__all__ = ["COMMANDS", "app_with", "run"]

COMMANDS = {
    "score": "Score every feature of a table: how much the label depends on it, given the others.",
    "select": "Select the features that predict the label best together.",
    "evidence": "Show the pairs of rows behind the effect of a feature.",
    "interactions": "Find features that act together: the effect of one depends on the other.",
    "audit": "Audit one feature: the difference in label shares between its values, adjusted for the given features.",
    "redundancies": "Find columns that are constant, copies or near-copies of others, or determined by them.",
    "report": "Write a report on a table: which features have an effect, given which others, and the rows behind it.",
    "compare": "Score the features of a table by several methods, side by side.",
    "reproduce": "Reproduce the paper's tables and figure, next to the printed numbers.",
    "generate": "Write a table labelled by one of the paper's eight functions, as CSV on stdout.",
    "tables": "List the built-in tables, which can be named in place of a file.",
}
"""The commands with the sentence about each in the list of commands."""
FILES = {"report": "report", **dict.fromkeys(("reproduce", "generate", "tables"), "paper")}
"""The files of commands that are not in ``verbs.py``."""
HELP = ("-h", "--help")
INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"analogical {version('analogical')}")
        raise typer.Exit


def _about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which features the label depends on, given the others.

    Compares rows that agree on the other relevant features and differ on one. If their labels differ more often
    than those of equal rows, the label depends on that feature.
    """


def app_with(names: Iterable[str]) -> typer.Typer:
    """The command line with the named commands."""
    app = _empty_app()
    for name in names:
        file = import_module(f"analogical.cli.{FILES.get(name, 'verbs')}")
        app.command(short_help=COMMANDS[name])(getattr(file, name))
    return app


def _list_of_commands() -> typer.Typer:
    """The command line with names and descriptions only, for its help page: imports no command."""
    app = _empty_app()
    for name, sentence in COMMANDS.items():
        app.command(name, help=sentence)(lambda: None)
    return app


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": list(HELP)},
        epilog="First run: analogical score titanic",
    )
    app.callback()(_about)
    return app


def _app_for(typed: Sequence[str]) -> typer.Typer:
    """The command line with the commands needed for what was typed; importing all of them is slow."""
    if typed and typed[0] in COMMANDS:
        return app_with(typed[:1])
    is_completing = "_ANALOGICAL_COMPLETE" in os.environ  # a shell completes; what was typed is in the environment
    return _list_of_commands() if not is_completing and not set(typed) - {*HELP} else app_with(COMMANDS)


def run() -> None:
    """Run the command; an error of ours or of the system becomes one line on stderr and exit code 2."""
    signal.signal(signal.SIGTERM, _end)
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


def _end(number: int, _: object) -> NoReturn:
    """Exit on SIGTERM as after an error, so that temporary folders are removed."""
    raise SystemExit(128 + number)


def _run_app() -> int | str | None:
    """The exit code of the command."""
    try:
        _app_for(sys.argv[1:])()
    except SystemExit as stop:
        return stop.code
    return 0
