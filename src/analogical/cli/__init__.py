"""The command line: parse, read, call, write, exit code. The files of commands are imported when one is typed."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NoReturn

if TYPE_CHECKING:
    import typer

COMMANDS = {
    "score": "Score every feature of a table: how much the label depends on it, given the others.",
    "select": "Select the features that predict the label best together.",
    "evidence": "Show the pairs of rows behind the effect of a feature.",
    "interactions": "Find features that act together: the effect of one depends on the other.",
    "audit": "Audit one feature: the difference in label shares or means between its values, given other features.",
    "redundancies": "Find columns that are constant, copies or near-copies of others, or determined by them.",
    "report": "Write a report on a table: which features have an effect, given which others, and the rows behind it.",
    "compare": "Score the features of a table by several methods, side by side.",
    "reproduce": "Reproduce the paper's tables and figure, next to the printed numbers.",
    "generate": "Write a table labelled by one of the paper's eight functions, as CSV on stdout.",
    "tables": "List the built-in tables, which can be named in place of a file.",
}
"""The commands with the sentence about each in the list of commands."""


def main() -> None:
    """Run the command; an error of ours or of the system becomes one line on stderr and exit code 2."""
    gc.set_threshold(1_000_000)  # a short command makes hardly any garbage, and imports are faster without the search
    atexit.register(_skip_last_collection)
    try:
        import_module("typer")
        from analogical.cli.streams import guarded_streams, say
        from analogical.errors import AnalogicalError
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        raise SystemExit(130) from None
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich", "polars", "click"):
            raise
        sys.stderr.write(
            f"The command line needs {missing.name}, which is not installed."
            ' Install it with: pip install "analogical[cli]"\n'
        )
        raise SystemExit(2) from None
    signal.signal(signal.SIGTERM, _end)
    code: int | str | None = 0
    try:
        with guarded_streams():
            try:
                app_for(sys.argv[1:])()
            except SystemExit as stop:
                code = stop.code
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
        code = 130  # as in shells
    if code == 130:
        say("Interrupted.")
    raise SystemExit(code)


def app_for(typed: Sequence[str]) -> "typer.Typer":
    """The command line with the commands needed for what was typed; importing all of them is slow."""
    if typed and typed[0] in COMMANDS:
        return app_with(typed[:1])
    is_completing = "_ANALOGICAL_COMPLETE" in os.environ  # a shell completes; what was typed is in the environment
    return app_with(COMMANDS, for_help=not is_completing and not set(typed) - {"-h", "--help"})


def app_with(names: Iterable[str], *, for_help: bool = False) -> "typer.Typer":
    """The command line with the named commands; ``for_help`` has their names and sentences only, and imports none."""
    import typer

    def show_version(wanted: bool) -> None:
        if wanted:
            from importlib.metadata import version

            typer.echo(f"analogical {version('analogical')}")
            raise typer.Exit

    option = typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")

    def about(version: Annotated[bool, option] = False) -> None:
        """Which features the label depends on, given the others.

        Compares rows that agree on the other relevant features and differ on one. If their labels differ more often
        than those of equal rows, the label depends on that feature.
        """

    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="First run: analogical score titanic",
    )
    app.callback()(about)
    for name in names:
        if for_help:
            app.command(name, help=COMMANDS[name])(lambda: None)
        else:
            is_papers = name in ("reproduce", "generate", "tables")
            file = import_module(f"analogical.cli.{'paper' if is_papers else 'verbs'}")
            app.command(short_help=COMMANDS[name])(getattr(file, name))
    return app


def _end(number: int, _: object) -> NoReturn:
    """Exit on SIGTERM as after an error, so that temporary folders are removed."""
    raise SystemExit(128 + number)


def _skip_last_collection() -> None:
    """Leave all objects to the end of the process: a last search for garbage takes a fifth of a short command."""
    if "duckdb" not in sys.modules:  # its bindings report objects that are not freed as leaks
        gc.freeze()
