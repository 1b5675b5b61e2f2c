"""The page as one self-contained HTML file, made of a template, a style sheet and a script."""

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

__all__ = ["render", "require_jinja", "to_percent"]

_RIGHT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+"
RIGHT_TO_LEFT = re.compile(rf"{_RIGHT}(?: {_RIGHT})*")
"""Words in Hebrew, Arabic and other right-to-left scripts."""


def require_jinja() -> None:
    """Raise an error if jinja2 is not installed."""
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


def to_percent(share: float | None) -> float | None:
    """A position from 0 to 100 for a share from 0 to 1, with two decimals; None if it is unknown."""
    return None if share is None or share != share else round(100 * min(max(share, 0.0), 1.0), 2)


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"words": _isolated, "to_percent": to_percent}
    return environment.from_string(_file("template.html.j2"))


def _isolated(text: str) -> "Markup":
    """A text in HTML; right-to-left words do not change the order of others, and a % sign stays with its number."""
    from markupsafe import Markup, escape

    unbroken = str(escape(text)).replace(" %", "\N{NO-BREAK SPACE}%")
    return Markup(RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", unbroken))  # noqa: S704 - escaped before


@cache
def _file(name: str) -> str:
    return files("analogical.show.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which a content security policy allows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
