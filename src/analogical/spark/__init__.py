"""Tables on Apache Spark: every verb of the package takes a Spark dataframe, counts it there and answers as in memory.

>>> from analogical.spark import open_session, relevance             # doctest: +SKIP
>>> spark = open_session("local[2]")                                 # doctest: +SKIP
>>> relevance(spark.read.parquet("visits"), "readmitted")            # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analogical import Study as Study
    from analogical import audit as audit
    from analogical import evidence as evidence
    from analogical import interactions as interactions
    from analogical import redundancies as redundancies
    from analogical import relevance as relevance
    from analogical import report as report
    from analogical import select as select
    from analogical import transitions as transitions
    from analogical.spark.opening import open_study as open_study
    from analogical.spark.session import open_session

__all__ = ["open_session"]

_HOMES = {"open_session": "analogical.spark.session", "open_study": "analogical.spark.opening"}
_VERBS = (
    *("Study", "audit", "evidence", "interactions", "redundancies"),
    *("relevance", "report", "select", "transitions"),
)


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: executors import files of this package and have numpy only."""
    if name in _HOMES or name in _VERBS:
        return getattr(import_module(_HOMES.get(name, "analogical")), name)
    raise AttributeError(f"module 'analogical.spark' has no attribute {name!r}")
