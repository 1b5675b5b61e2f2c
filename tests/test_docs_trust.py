"""The terminal sessions in the documentation are real; its Python examples run as doctests."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from analogical.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
SESSIONS = re.findall(r"```console\n\$ analogical ([^\n]*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_sessions():
    assert SESSIONS


@pytest.mark.parametrize(("arguments", "expected"), SESSIONS)
def test_sessions_print_what_the_page_says(arguments, expected):
    result = CliRunner().invoke(app, arguments.split(), env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.output.splitlines()] == expected.splitlines()
