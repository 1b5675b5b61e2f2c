"""The page's content as one HTML file: a template, a style sheet and a script, all inside, and nothing from outside."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from analogical.errors import MissingDependencyError

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["render", "require_jinja"]

_RIGHT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+"
RIGHT_TO_LEFT = re.compile(rf"{_RIGHT}(?: {_RIGHT})*")
"""Words in Hebrew, Arabic and other scripts that are written from right to left."""


def require_jinja() -> None:
    """Refuse to go on without what the page is made with."""
    if find_spec("jinja2") is None:
        raise MissingDependencyError(
            'The page needs jinja2, which is not installed. Install it with: pip install "analogical[report]"'
        )


def render(page: dict[str, Any], generator: str) -> str:
    """The page as HTML; everything from the data is escaped."""
    require_jinja()
    from markupsafe import Markup

    style, script = _file("page.css"), _file("page.js")
    return _template().render(
        page=page,
        generator=generator,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        embedded=Markup(page["json"]),  # noqa: S704 - <, > and & are escaped
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none';"
        " form-action 'none'",
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["words"] = _isolated
    return environment.from_string(_file("template.html.j2"))


def _isolated(text: str) -> "Markup":
    """A text in which words that are written from right to left do not change the order of the words around them."""
    from markupsafe import Markup, escape

    return Markup(RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", str(escape(text))))  # noqa: S704 - escaped before


@cache
def _file(name: str) -> str:
    return files("analogical.show.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """How a content security policy names a style or a script that may be used."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
