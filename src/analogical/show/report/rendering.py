"""The page's content as one HTML file: a template, a style sheet and a script, all inside, and nothing from outside."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from analogical.errors import MissingDependencyError
from analogical.show.report.words import CLOSE, OPEN, unmarked

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["render", "require_jinja"]


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
    environment.filters["words"] = _with_words
    environment.filters["plain"] = unmarked
    return environment.from_string(_file("template.html.j2"))


def _with_words(text: str) -> "Markup":
    """A sentence in which the user's words are elements of their own, so that their direction stays theirs."""
    from markupsafe import Markup, escape

    parts = []
    for part in text.split(OPEN):
        inside, closed, rest = part.partition(CLOSE)
        parts.append(Markup("<bdi>{}</bdi>{}").format(inside, rest) if closed else escape(inside))
    return Markup("").join(parts)


@cache
def _file(name: str) -> str:
    return files("analogical.show.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """How a content security policy names a style or a script that may be used."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
