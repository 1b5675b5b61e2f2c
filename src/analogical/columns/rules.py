"""All column options and their defaults: the roles of columns, and how cells are encoded.

| column | becomes |
|---|---|
| booleans, strings, categories, whole numbers of an array or a list | categories |
| whole numbers of a dataframe or file with few values | categories |
| whole numbers that a dataframe stores as floats, with few values | categories |
| other numbers, durations, decimals | bins |
| dates and times with few values | categories; otherwise bins of time, with month, weekday and hour beside them |
| texts, and whole numbers named as an identifier, distinct in half of the rows or more | set aside as an identifier |
| whole numbers that count the rows, distinct in nearly every row | set aside as an identifier |
| whole numbers that name persons or the like, with several rows each | set aside; they may be groups |
| strings that differ only in case or spaces | one value |
| missing cells | a separate value, or their rows are left out, or an error |
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import numpy as np

from analogical._checks import check_choice, check_whole
from analogical.columns.binning import BinRule, Bins, check_bins
from analogical.columns.columns import Column, plain
from analogical.errors import InputError

Missing = Literal["value", "drop", "error"]
Ids = Literal["drop", "keep"]
LabelScale = Literal["auto", "classes", "number", "ranks", "log"]

NEARLY_ALL = 0.95
"""Whole numbers that count the rows are an identifier if they have at least this many distinct values per row."""
MOSTLY = 0.5
"""The same for texts, and for whole numbers with the name of an identifier: hardly two rows agree on them. On the real
tables texts have .79 and more (numbers of cylinders, names of countries) or .13 and less (customers, charges)."""
PERSONS = (
    "(subject|person|patient|participant|respondent|customer|client|user|student|pupil|animal|individual|household)"
)
ID_NAME = re.compile(
    rf"(^|[^a-z])(id|ids|uid|uuid|guid|identifier)($|[^a-z])|{PERSONS}id$|(?-i:[a-z](Id|ID)$)", re.IGNORECASE
)
"""Names of columns that identify the rows, or what they are about, in upper and lower case."""
COUNT_NAME = re.compile(
    r"(^|[^A-Za-z])(key|index|idx|rownum|no|nr|num|number|serial)($|[^A-Za-z])|[a-z](Key|Index|No|Nr|Number)$",
)
"""Names of columns of whole numbers that count the rows."""
GROUP_NAME = re.compile(
    rf"(^|[^a-z])(id|uid|uuid|guid|identifier|{PERSONS}(s?[^a-z]*(id|no|nr|num|number|key|code|name))?)$",
    re.IGNORECASE,
)
"""Names of columns that say whom a row is about; their last words decide."""
FEW_GROUPS = 10
"""A column with fewer values does not identify groups, whatever its name."""


class ColumnOptions(TypedDict, total=False):
    """The roles of columns and how cells are encoded: options that all functions share.

    Every function takes them by name, as in ``relevance(X, y, weights="n", bins=4)``, with the same meanings and
    defaults. A few functions do not have all of them, and say so. The command line has the same names:
    ``--max-values 30`` is ``max_values=30``.

    Attributes
    ----------
    weights : array-like of whole numbers, or name of a column, default None
        How many rows each row represents, so that a table of counts need not be expanded. A row with weight 0 is
        ignored.
    groups : array-like, or name of a column, default None
        Which rows depend on each other, such as the visits of one patient: intervals and tests then assume independent
        groups instead of independent rows. One value per row, the same within a group. Without groups, copies and
        repeated measurements look like evidence.
    features : names of columns, default None
        Columns to use as features: names, or patterns such as ``"price_*"``; all but the label, the weights and the
        groups by default. They are never set aside as identifiers.
    ignore : names of columns, default None
        Columns to leave out: names, or patterns such as ``"date_*"``. Instead of ``features``.
    missing : {"value", "drop", "error"}, default "value"
        Missing cells: a separate value (None), their rows left out, or an error.
    bins : int, str, list or dict, default 5
        How numbers and dates are divided into bins. A number K for K bins of about equal size, ``"widths:K"`` for bins
        of equal width, a list of edges, None for every distinct value, or a dictionary with one of these for each
        column, and ``"*"`` for the others. As given features, numbers in bins of equal size may be divided into 2 to 16
        bins, whichever predicts best.
    max_values : int or None, default 20
        Whole numbers and dates with at most this many values are categories; a label with more is a number. None for no
        limit.
    ids : {"drop", "keep"}, default "drop"
        Identifiers and texts that are distinct in most rows: set aside, or kept.
    classes : int or None, default None
        Divide a label that is a number into this many classes of about equal size.
    scale : {"auto", "classes", "number", "ranks", "log"}, default "auto"
        How labels are compared. By default a number, date or duration with more than ``max_values`` values is a number,
        ordered categories of a dataframe are places in their order, and all others are classes. ``"number"`` compares
        a number with few values as a number, ``"ranks"`` by the share of the rows below it, ``"log"`` by its ratios.
    ordered : list of the classes, default None
        The classes of the label in increasing order: they are compared as places in this order, 0, 1, 2.
    date_parts : bool, default True
        Month, weekday and hour of dates in bins as further features (``"sold.month"``), where they vary over two years,
        two weeks or two days. They come after all columns, and may be named in ``features``, ``ignore`` and ``given``.
        Dates that are distinct in every row have parts, too.
    fold_case : bool or None, default None
        Merge values that differ only in case or spaces, such as ``"Yes"`` and ``"yes "``. True merges single letters
        and all spellings of yes and no, too; False merges nothing. None merges words, and a note says what True would
        merge.
    feature_names : sequence of str, default None
        Names for the features, instead of the dataframe's or ``x0, x1, ...``.

    See Also
    --------
    Study : A table that was encoded once with such options, to ask several questions of it.

    Examples
    --------
    >>> from analogical import ColumnOptions, relevance, select
    >>> rows = [[centimetres / 100, kind] for centimetres in range(100, 200) for kind in ("a", "b")]
    >>> is_tall = [metres >= 1.75 for metres, _ in rows]
    >>> columns: ColumnOptions = {"bins": 4, "feature_names": ["metres", "kind"]}
    >>> relevance(rows, is_tall, **columns).feature_columns[0].edges
    (1.25, 1.5, 1.75)
    >>> select(rows, is_tall, **columns).features
    ('metres',)
    """

    weights: Any
    groups: Any
    features: Any
    ignore: Any
    missing: Missing
    bins: Bins
    max_values: int | None
    ids: Ids
    classes: int | None
    scale: LabelScale
    ordered: Sequence[Any] | None
    date_parts: bool
    fold_case: bool | None
    feature_names: Iterable[str] | None


@dataclass(frozen=True, eq=False)
class Rules:
    """The checked options of :class:`ColumnOptions`, with their defaults, and the decisions that follow from them."""

    weights: Any = None
    groups: Any = None
    features: Any = None
    ignore: Any = None
    missing: Missing = "value"
    bins: Bins = 5
    max_values: int | None = 20
    ids: Ids = "drop"
    classes: int | None = None
    scale: LabelScale = "auto"
    ordered: Sequence[Any] | None = None
    date_parts: bool = True
    fold_case: bool | None = None
    feature_names: Iterable[str] | None = None
    bin_rule: BinRule = field(init=False)
    """How numbers are binned."""
    bins_of: tuple[tuple[Any, BinRule], ...] = field(init=False, default=())
    """Bin rules of single columns, by name."""

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, ("value", "drop", "error"))
        check_choice("ids", self.ids, ("drop", "keep"))
        if self.max_values is not None:
            check_whole("max_values", self.max_values, low=1, other=", or None for no limit")
        check_choice("scale", self.scale, ("auto", "classes", "number", "ranks", "log"))
        if self.classes is not None:
            check_whole("classes", self.classes, low=2, high=1000, other=", or None")
            if self.scale not in ("auto", "classes"):
                raise InputError(f"classes and scale={self.scale!r} cannot be used together; leave out one of them.")
        if self.ordered is not None and (isinstance(self.ordered, str) or not isinstance(self.ordered, Iterable)):
            raise InputError(f"ordered must be a list of the classes in increasing order, got {self.ordered!r}.")
        if self.date_parts not in (True, False):
            raise InputError(f"date_parts must be True or False, got {self.date_parts!r}.")
        if self.fold_case not in (None, True, False):
            raise InputError(f"fold_case must be True, False or None, got {self.fold_case!r}.")
        bins = self.bins
        if isinstance(bins, Mapping):
            bins_of = tuple((name, check_bins(rule, f"bins of {name!r}")) for name, rule in bins.items() if name != "*")
            object.__setattr__(self, "bins_of", bins_of)
            bins = bins.get("*", Rules.bins)
        object.__setattr__(self, "bin_rule", check_bins(bins))

    def has_few_values(self, column: Column) -> bool:
        """Whether a column has few enough values for numbers and dates to be categories."""
        return self.max_values is None or len(column.values) <= self.max_values

    def is_id(self, column: Column, name: str) -> bool:
        """Whether a column identifies rows, distinct in most of them, or whole numbers that identify groups.

        Numbers with a fraction and times never do.
        """
        if column.kind == "real" or self.has_few_values(column) or column.is_time:
            return False
        if column.kind == "whole" and looks_like_group(column, name):
            return True
        is_likely = isinstance(column.values[0], str) or ID_NAME.search(name)
        if len(column.values) < (MOSTLY if is_likely else NEARLY_ALL) * int(column.sizes.sum()):
            return False
        if is_likely or column.kind != "whole":
            return True
        ends = (column.values[0], column.values[-1]) if column.is_sorted else column.values
        return counts_rows(name, len(column.values), min(ends), max(ends))

    def bin_rule_of(self, column: Column, own_rule: BinRule | None) -> BinRule | None:
        """How to bin a column, None if its values are categories; ``own_rule`` is the user's for this column."""
        rule = own_rule
        if rule is None:
            rule = self.bin_rule
            if column.kind == "category":
                return None
            if self.has_few_values(column) and (column.kind != "real" or _are_whole(column)):
                return None
        if rule.method == "quantiles" and len(column.values) <= rule.n_bins:
            return None  # every value would have a bin of its own
        return None if rule.method == "none" else rule


def rules_of(columns: ColumnOptions, verb: Callable[..., Any], without: Sequence[str] = ()) -> Rules:
    """The rules from the keyword arguments of a public function, which takes all column options except some."""
    allowed = [name for name in ColumnOptions.__annotations__ if name not in without]
    for name in columns:
        if name not in allowed:
            raise _unknown_option(name, verb, allowed)
    return Rules(**columns)


def _unknown_option(name: str, verb: Callable[..., Any], columns: Sequence[str]) -> InputError:
    """Error for an option that a function does not have, with the nearest one that it does."""
    from difflib import get_close_matches
    from inspect import Parameter, signature

    own = [p for p in signature(verb).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    is_known = name in ColumnOptions.__annotations__  # an option of other functions is not a typing error
    near = [] if is_known else get_close_matches(name, [*columns, *(p.name for p in own)], n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    known = sorted([*columns, *(p.name for p in own if p.kind is Parameter.KEYWORD_ONLY)])
    return InputError(f"{verb.__name__} has no option {name!r}{hint}; it has {', '.join(known)}.")


def asked_of(columns: ColumnOptions) -> dict[str, tuple[Any, Any]]:
    """The options that were given, each with its default."""
    given: Mapping[str, Any] = columns
    return {name: (given[name], getattr(Rules, name)) for name in ColumnOptions.__annotations__ if name in given}


def written_call(name: str, data: Sequence[str], options: Mapping[str, tuple[Any, Any]]) -> str:
    """A function call as text: its data, and the options that are not the default."""
    arguments = list(data)
    for option, (value, default) in options.items():
        if value is default or (isinstance(value, str | int | float) and value == default):
            continue
        is_short = (
            value is None
            or isinstance(value, str | int | float)
            or (isinstance(value, list | tuple) and len(value) <= 20 and all(isinstance(item, str) for item in value))
        )
        arguments.append(f"{option}={value!r}" if is_short else f"{option}={option}")
    return f"{name}({', '.join(arguments)})"


def counts_rows(name: str, n_values: int, low: Any, high: Any) -> bool:
    """Whether whole numbers, distinct in nearly every row, count or identify the rows, by their name or range."""
    return bool(ID_NAME.search(name) or COUNT_NAME.search(name)) or int(high) - int(low) < 2 * n_values


def looks_like_group(column: Column, name: str) -> bool:
    """Whether a column says whom a row is about and most occur several times, such as several rows per person."""
    if column.kind not in ("category", "whole") or len(column.values) < FEW_GROUPS:
        return False
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return bool(GROUP_NAME.search(words)) and float(np.median(column.sizes)) >= 2


def _are_whole(column: Column) -> bool:
    """Whether all numbers are whole, such as counts stored as floats because some are missing."""
    return all(isinstance(value, int | float) and float(value).is_integer() for value in map(plain, column.values))
