"""``analogical report``: one HTML page about a table."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from analogical.cli.options import Confidence, GivenOption, read_given, reads_table
from analogical.cli.reading import Source, refuse_role, split_names
from analogical.cli.streams import say_notes, shows_progress, start_output
from analogical.cli.writing import Output
from analogical.errors import InputError

__all__ = ["report"]

HEAD = 2_000
"""Bytes at the start of a file that are searched for the mark of our pages."""


@reads_table(writes=())
def report(
    source: Source,
    _: Output,
    given: GivenOption = "auto",
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to write the page.")] = "report.html",
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLS",
            help="Columns to audit, such as gender. May be repeated, or separated by commas.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.", show_default=False)] = None,
    top: Annotated[
        int, typer.Option(metavar="K", help="Number of features with a panel of their own; all are in the table.")
    ] = 20,
    confidence: Confidence = 0.95,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is not a report.")] = False,
) -> None:
    """Write a report on a table: which features have an effect, given which others, and the rows behind it.

    The report is one self-contained HTML file; it opens offline and without JavaScript. It says whether the table can
    answer at all, ranks the features by their effects in points, shows the deciding set, stand-ins, interactions and
    example pairs of the best features, and audits protected columns.

    Examples
    --------
    - analogical report titanic

    - analogical report loans.csv --label approved --protected gender,age --out loans.html
    """
    from analogical.show.report import require_jinja

    target = Path(out)
    require_jinja()
    _refuse_target(target, force=force)
    audited = [name for names in protected or [] for name in _names(names, source)]
    for name in audited:
        refuse_role(name, source, "--protected")
    from analogical.questions import report as library

    result = library.report(
        *source.data,
        **source.options,
        given=read_given(given),
        protected=list(dict.fromkeys(audited)) or None,
        title=title,
        top=top,
        confidence=confidence,
        progress=shows_progress(),
    )
    result = replace(
        result, source=source.title, reading=source.notes, command=shlex.join(["analogical", *sys.argv[1:]])
    )
    result.save(target)
    start_output()
    say_notes(source.notes)
    say_notes([f"written to {target} ({target.stat().st_size / 1000:,.0f} kB)"])


def _names(text: str, source: Source) -> list[str]:
    """The columns named in one option: one, or several separated by commas."""
    return [text] if text in source.frame.columns else split_names(text)


def _refuse_target(target: Path, *, force: bool) -> None:
    """Refuse, before the work, a file that cannot be written or is not a report of ours."""
    from analogical.show.report import MARK

    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; name a file with --out.")
    if not target.parent.is_dir():
        raise InputError(f"The folder of {str(target)!r} does not exist; create it, or name another file with --out.")
    if target.is_file() and not force:
        with target.open("rb") as file:
            is_ours = f'content="{MARK}"'.encode() in file.read(HEAD)
        if not is_ours:
            raise InputError(
                f"{str(target)!r} was not written by analogical report and would be overwritten; name another file with"
                " --out, or overwrite it with --force."
            )
