"""The numbers that the paper prints, as data."""

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = ["published"]


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    text = (files("analogical.paper") / "published.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def published(table: str) -> Any:
    """The printed numbers of one table, ``"table1"`` to ``"table6"``.

    Examples
    --------
    >>> published("table1")["g3"]["ari"][:4]
    [0.33, 0.33, 0.33, 0.0]
    """
    return _content()[table]
