"""The tables of docs/cli.md: every command, and every option once with the commands that take it."""

import typer
from typer.main import get_command

from analogical.cli import COMMANDS, app_with

MANY = 6
"""An option of this many commands or more is in the first table."""


def table() -> str:
    """The commands, the options that most of them share, and all others, as tables of markdown."""
    takers: dict[tuple[str, str], list[str]] = {}
    for name in COMMANDS:
        for record in _help_records(name):
            takers.setdefault(record, []).append(name)
    shared = [(*record, "") for record, names in takers.items() if len(names) >= MANY]
    others = [(*record, ", ".join(names)) for record, names in takers.items() if len(names) < MANY]
    return (
        _rows(("command", ""), list(COMMANDS.items()))
        + "\n### Options that most commands share\n\n"
        + _rows(("option", ""), [(option, text) for option, text, _ in shared])
        + "\n### Options of some commands\n\n"
        + _rows(("option", "commands", ""), [(option, names, text) for option, text, names in others])
    )


def _help_records(name: str) -> list[tuple[str, str]]:
    """Each option of a command: how it is typed, and its help."""
    command = get_command(app_with([name, "tables"])).commands[name]  # type: ignore[attr-defined]
    context = typer.Context(command)
    options = [param for param in command.params if param.param_type_name == "option" and "--help" not in param.opts]
    return [option.get_help_record(context) for option in options]


def _rows(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of markdown whose first column is code."""
    lines = [heading, ("---",) * len(heading), *((f"`{first}`", *rest) for first, *rest in rows)]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)
