"""What the paper prints, and which data files its authors published, as data."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["published"]


@cache
def published(part: str) -> Any:
    """The printed numbers of one table, ``"table1"`` to ``"table6"``; or the data files, ``"files"``.

    Examples
    --------
    >>> published("table1")["g3"]["ari"][:4]
    [0.33, 0.33, 0.33, 0.0]
    """
    return json.loads((files("analogical.paper") / "published.json").read_text(encoding="utf-8"))[part]
