"""Tables whose relevant features are known: made-up labels on real features, made-up tables, and shuffled labels.

Beside these, rules of more features than contexts have room for ("long"), the mixed features of Blesch, Watson and
Wright ("blesch"), and the same rules with a number as label ("numbers").

A feature is relevant ("true") if the rule that draws the labels reads it. Given the true ones, every other feature
says nothing about the label, however correlated it is.

    from benchmarks.truth.cases import real_cases, shuffled_cases, synthetic_cases

    for case in synthetic_cases(seeds=range(2)):
        case.X, case.y, case.true, case.shares
"""

import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

__all__ = [
    "BLESCH",
    "LONG",
    "LONG_RULES",
    "NOISES",
    "NUMBERS",
    "RULES",
    "SETTINGS",
    "SHUFFLED",
    "TABLES",
    "Case",
    "blesch_cases",
    "long_cases",
    "number_cases",
    "real_cases",
    "shuffled_cases",
    "synthetic_cases",
]

VARIABLE = "ANALOGICAL_DATA"
TABLES = [
    "adult",
    "anneal",
    "breast-cancer",
    "car",
    "colic",
    "compas",
    "cylinder-bands",
    "dermatology",
    "flags",
    "hepatitis",
    "ionosphere",
    "lymph",
    "mushroom",
    "nursery",
    "primary-tumor",
    "segment",
    "spambase",
    "tic-tac-toe",
    "vehicle",
    "vote",
]
SHUFFLED = [*TABLES, "postoperative", "spect-train"]
"""The two further tables have 90 and 80 rows: too few for a rule of four features, enough for a false discovery."""
RULES = ("main", "mixed", "interaction")
LONG_RULES = {
    f"{n} features of a real table{also}": (n, rule)
    for n in (6, 9)
    for also, rule in (("", "main"), (", exclusive or", "mixed"))
}
"""Number of true features and rule."""
LONG_MIN_ROWS = 700
"""Rows of a real table with a long rule: with fewer, nobody finds nine features."""
NEIGHBOUR = 0.7
"""Correlation of a feature that does nothing with the true one beside it; Cramér's V of two categories."""
MAX_ROWS = 2000
STRENGTH = 2.2
"""Standard deviation of the log odds: the best guess is right in about four of five rows."""
KNOWN_BEFORE = [
    "sex",
    "age",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "c_charge_degree",
    "decile_score",
    "v_decile_score",
    "days_b_screening_arrest",
]
"""The columns of compas that are known before its label."""

Codes = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A table with a known answer.

    Parameters
    ----------
    name : str
        Unique: kind, setting, table and seed.
    kind : {"real", "synthetic", "shuffled", "long", "blesch", "numbers"}
    setting : str
        The rule of a real case, the setting of a made-up one, the noise and the features of numbers, "shuffled"
        otherwise.
    table : str
        The real table, or "" for a made-up one.
    seed : int
    X : DataFrame
    y : array of shape (n_rows,)
        Labels from 0, or numbers.
    true : tuple of str
        The features that the rule reads; those of an exclusive or first.
    shares : array of shape (n_rows, n_labels)
        The probability of every label in every row, from which its label was drawn; of numbers a single column, what
        the rule says of the row.
    """

    name: str
    kind: str
    setting: str
    table: str
    seed: int
    X: pd.DataFrame
    y: Codes | Shares
    true: tuple[str, ...]
    shares: Shares

    @property
    def has_numbers(self) -> bool:
        """Whether the label is a number."""
        return self.kind == "numbers"


def draw_labels(shares: Shares, rng: np.random.Generator) -> Codes:
    """One label per row; with two labels, 1 where a uniform number is below its share."""
    drawn = rng.random(len(shares))
    if shares.shape[1] == 2:
        return (drawn < shares[:, 1]).astype(np.int64)
    n_below: Codes = (drawn[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return np.minimum(n_below, shares.shape[1] - 1)


def two_shares(share: Shares) -> Shares:
    """The shares of the labels 0 and 1 from that of label 1."""
    return np.column_stack([1 - share, share])


def logistic(log_odds: Shares) -> Shares:
    """The shares of two labels from log odds, which are first given mean 0 and standard deviation STRENGTH."""
    scaled = (log_odds - log_odds.mean()) / max(log_odds.std(), 1e-9) * STRENGTH
    return two_shares(1 / (1 + np.exp(-scaled)))


def main_effect(codes: Codes, rng: np.random.Generator) -> Shares:
    """A random number for every value, as seen in every row: mean 0 and standard deviation 1."""
    values, place = np.unique(codes, return_inverse=True)
    effect = rng.normal(size=len(values))
    effect -= np.average(effect, weights=np.bincount(place))
    seen: Shares = effect[place]
    return seen / max(seen.std(), 1e-9)


def random_half(codes: Codes, rng: np.random.Generator) -> Codes:
    """0 or 1 in every row: the values in two random groups of about half of the rows each."""
    values, place = np.unique(codes, return_inverse=True)
    order = rng.permutation(len(values))
    rows_so_far = np.bincount(place)[order].cumsum()
    group = np.zeros(len(values), dtype=np.int64)
    group[order[rows_so_far > len(codes) / 2]] = 1
    if group.all():  # the first value alone is more than half of the rows
        group = (np.arange(len(values)) == order[0]).astype(np.int64)
    return group[place]


def sign(bits: Codes) -> Codes:
    """-1 for 0 and 1 for 1."""
    return 2 * bits - 1


# ---------------------------------------------------------------- real features


def values_seen_by_rule(column: pd.Series) -> Codes:
    """Numbers in quarters of the rows (missing: -1), other values as they are (missing: one more value)."""
    if column.dtype.kind in "if" and column.nunique() > 5:
        quarters = pd.qcut(column, 4, labels=False, duplicates="drop")
        return quarters.fillna(-1).to_numpy().astype(np.int64)
    words = column.astype("object").where(column.notna(), "?")
    return words.astype("category").cat.codes.to_numpy().astype(np.int64)


def is_usable(codes: Codes) -> bool:
    """Whether a rule may read the feature: no value has 85 % of the rows."""
    return bool(np.unique(codes, return_counts=True)[1].max() < 0.85 * len(codes))


@cache
def read_table(name: str, folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Features and own label of a real table; of columns that a rule sees alike only the first is kept."""
    header = None if name == "adult" else 0
    table = pd.read_csv(folder / f"{name}.csv", skipinitialspace=True, na_values="?", header=header)
    table.columns = [str(column) for column in table.columns]
    X, label = table.iloc[:, :-1], table.iloc[:, -1]
    if name == "compas":
        X = X[KNOWN_BEFORE]
    kept: dict[bytes, str] = {}
    for column in map(str, X):
        if X[column].nunique(dropna=False) > 1:
            in_order_of_appearance = pd.factorize(values_seen_by_rule(X[column]))[0]
            kept.setdefault(in_order_of_appearance.tobytes(), column)
    return X[list(kept.values())], label


def draw_rows(n_rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """All rows, or MAX_ROWS of them."""
    return rng.choice(n_rows, MAX_ROWS, replace=False) if n_rows > MAX_ROWS else np.arange(n_rows)


def usable_columns(X: pd.DataFrame) -> dict[str, Codes]:
    """What a rule sees of the columns that it may read."""
    codes = {str(name): values_seen_by_rule(X[name]) for name in X}
    return {name: seen for name, seen in codes.items() if is_usable(seen)}


def real_rule(
    X: pd.DataFrame, rule: str, rng: np.random.Generator, n_true: int | None = None
) -> tuple[Codes, tuple[str, ...], Shares]:
    """Labels, true features and shares of a random rule over two to four columns, or as many as asked for.

    main: a sum of main effects. mixed: with an exclusive or of the first two. interaction: an exclusive or of two
    without main effects, and the main effect of a third.
    """
    codes = usable_columns(X)
    n_true = n_true or min(4, max(2, X.shape[1] // 3), len(codes))
    true = [str(name) for name in rng.choice(list(codes), n_true, replace=False)]
    if rule == "interaction":
        true = true[:3]
    log_odds = np.zeros(len(X))
    if rule != "interaction":
        for name in true:
            log_odds += main_effect(codes[name], rng)
    if rule != "main":
        either = random_half(codes[true[0]], rng) ^ random_half(codes[true[1]], rng)
        log_odds += (1.5 if rule == "mixed" else 2.0) * sign(either)
    if rule == "interaction" and len(true) > 2:
        log_odds += main_effect(codes[true[2]], rng)
    shares = logistic(log_odds)
    return draw_labels(shares, rng), tuple(true), shares


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder that holds the real tables.

    Raises
    ------
    FileNotFoundError
        If neither a folder nor the variable ANALOGICAL_DATA names one that holds the folder real.
    """
    above = folder or os.environ.get(VARIABLE)
    if not above or not (Path(above) / "real").is_dir():
        raise FileNotFoundError(f"The real tables are missing: let {VARIABLE} name the folder that holds real/.")
    return Path(above) / "real"


def key_of(name: str) -> int:
    """A number for a name, the same in every process."""
    return zlib.crc32(name.encode())


def real_cases(
    seeds: Iterable[int] = range(2),
    *,
    tables: Sequence[str] = TABLES,
    rules: Sequence[str] = RULES,
    folder: str | Path | None = None,
) -> Iterator[Case]:
    """Real features with labels drawn from a random rule.

    Parameters
    ----------
    seeds : iterable of int
    tables, rules : sequences of str
        Some of TABLES and RULES.
    folder : path, optional
        The folder that holds the folder real; without it, ANALOGICAL_DATA names it.

    Yields
    ------
    Case
        None where one label has less than 5 % of the rows.
    """
    where = data_folder(folder)
    for seed in seeds:
        for table in tables:
            for rule in rules:
                rng = np.random.default_rng([seed, key_of(table), RULES.index(rule), 5])
                X = read_table(table, where)[0]
                X = X.iloc[draw_rows(len(X), rng)].reset_index(drop=True)
                y, true, shares = real_rule(X, rule, rng)
                if len(true) >= 2 and 0.05 <= y.mean() <= 0.95:
                    yield Case(f"{table}, {rule}, seed {seed}", "real", rule, table, seed, X, y, true, shares)


def shuffled_cases(
    seeds: Iterable[int] = range(2), *, tables: Sequence[str] = SHUFFLED, folder: str | Path | None = None
) -> Iterator[Case]:
    """Real features with the table's own labels in random order: any effect is a false discovery.

    Parameters
    ----------
    seeds : iterable of int
    tables : sequence of str
        Some of SHUFFLED.
    folder : path, optional
        The folder that holds the folder real; without it, ANALOGICAL_DATA names it.

    Yields
    ------
    Case
    """
    where = data_folder(folder)
    for seed in seeds:
        for table in tables:
            rng = np.random.default_rng([seed, key_of(table), 7])
            X, label = read_table(table, where)
            rows = draw_rows(len(X), rng)
            y = rng.permutation(pd.factorize(label.iloc[rows], sort=True, use_na_sentinel=False)[0]).astype(np.int64)
            shares = np.tile(np.bincount(y) / len(y), (len(y), 1))
            X = X.iloc[rows].reset_index(drop=True)
            yield Case(f"{table}, shuffled, seed {seed}", "shuffled", "shuffled", table, seed, X, y, (), shares)


# ---------------------------------------------------------------- made-up tables

Made = tuple[Mapping[str, Codes | Shares], tuple[str, ...], Shares]
"""Columns (whole numbers are categories), the true ones, and the shares of the labels."""
Maker = Callable[[np.random.Generator], Made]


def categories(rng: np.random.Generator, n_rows: int, n_values: int = 3) -> Codes:
    """A random column."""
    return rng.integers(0, n_values, n_rows)


def flipped(codes: Codes, share: float, rng: np.random.Generator, n_values: int = 3) -> Codes:
    """A copy with another value in this share of the rows."""
    moved = (codes + rng.integers(1, n_values, len(codes))) % n_values
    return np.where(rng.random(len(codes)) < share, moved, codes)


def noise_columns(rng: np.random.Generator, n_rows: int, n: int, n_values: int = 3) -> dict[str, Codes]:
    """Columns that have nothing to do with any other."""
    return {f"noise {i}": categories(rng, n_rows, n_values) for i in range(1, n + 1)}


def sum_of_effects(columns: Collection[Codes], rng: np.random.Generator) -> Shares:
    """The log odds of a rule of main effects."""
    return np.asarray(np.sum([main_effect(column, rng) for column in columns], axis=0), dtype=np.float64)


def copies_of(true: dict[str, Codes], share: float, rng: np.random.Generator, n_values: int = 3) -> dict[str, Codes]:
    """Two flipped copies of every column."""
    return {f"{name} copy {i}": flipped(codes, share, rng, n_values) for name, codes in true.items() for i in (1, 2)}


def make_copies(rng: np.random.Generator, n_rows: int, flips: float) -> Made:
    """Three true features of three values, two flipped copies of each, and five noise columns."""
    true = {name: categories(rng, n_rows) for name in "abc"}
    shares = logistic(sum_of_effects(true.values(), rng))
    return true | copies_of(true, flips, rng) | noise_columns(rng, n_rows, 5), tuple(true), shares


def make_chain(rng: np.random.Generator, n_rows: int, flips: float) -> Made:
    """Twenty columns, each a flipped copy of the one before; three of them are true."""
    columns = {"link 1": categories(rng, n_rows)}
    for i in range(2, 21):
        columns[f"link {i}"] = flipped(columns[f"link {i - 1}"], flips, rng)
    true = tuple(f"link {i}" for i in sorted(rng.choice(np.arange(1, 21), 3, replace=False)))
    return columns, true, logistic(sum_of_effects([columns[name] for name in true], rng))


def make_numbers(rng: np.random.Generator, n_rows: int, correlation: float) -> Made:
    """Twelve numbers, normal, exponential or uniform, whose normal scores are correlated with their neighbours'.

    The log odds are a sum of the normal scores of two or three of them, with random signs.
    """
    scores = rng.normal(size=(n_rows, 12))
    for i in range(1, 12):
        scores[:, i] = correlation * scores[:, i - 1] + np.sqrt(1 - correlation**2) * scores[:, i]
    margins: list[Callable[[Shares], Shares]] = [np.asarray, lambda z: -norm.logsf(z), norm.cdf]
    columns = {f"number {i + 1}": margins[i % 3](scores[:, i]) for i in range(12)}
    chosen = np.sort(rng.choice(12, rng.integers(2, 4), replace=False))
    log_odds = scores[:, chosen] @ rng.choice([-1.0, 1.0], len(chosen))
    return columns, tuple(f"number {i + 1}" for i in chosen), logistic(log_odds)


def make_exclusive_or(rng: np.random.Generator, n_rows: int, n_true: int, with_copies: bool) -> Made:
    """The exclusive or of two or three columns of two values, wrong in 10 % of the rows; copies have 10 % flips."""
    true = {name: categories(rng, n_rows, 2) for name in "abc"[:n_true]}
    odd = np.sum(list(true.values()), axis=0) % 2
    copies = copies_of(true, 0.1, rng, 2) if with_copies else {}
    shares = two_shares(np.where(odd == 1, 0.9, 0.1))
    return true | copies | noise_columns(rng, n_rows, 10, 2), tuple(true), shares


def make_many_values(rng: np.random.Generator, n_rows: int, n_values: int) -> Made:
    """Three true features of three values beside six noise columns of many."""
    true = {name: categories(rng, n_rows) for name in "abc"}
    shares = logistic(sum_of_effects(true.values(), rng))
    return true | noise_columns(rng, n_rows, 6, n_values), tuple(true), shares


def make_noiseless(rng: np.random.Generator, n_rows: int, with_copies: bool) -> Made:
    """Labels that are a function: a = 0 and (b = 0 or c = 0), with three values each."""
    true = {name: categories(rng, n_rows) for name in "abc"}
    label = (true["a"] == 0) & ((true["b"] == 0) | (true["c"] == 0))
    copies = copies_of(true, 0.1, rng) if with_copies else {}
    return true | copies | noise_columns(rng, n_rows, 6), tuple(true), two_shares(label.astype(float))


def make_four_classes(rng: np.random.Generator, n_rows: int) -> Made:
    """Four labels by a softmax of the main effects of three features, with copies of 20 % flips."""
    true = {name: categories(rng, n_rows) for name in "abc"}
    log_odds = np.column_stack([sum_of_effects(true.values(), rng) for _ in range(4)])
    odds = np.exp(STRENGTH / np.sqrt(3) * log_odds)
    columns = true | copies_of(true, 0.2, rng) | noise_columns(rng, n_rows, 5)
    return columns, tuple(true), odds / odds.sum(axis=1, keepdims=True)


SETTINGS: dict[str, Maker] = {
    **{f"copies, {flips:.0%} flips": partial(make_copies, n_rows=2000, flips=flips) for flips in (0.1, 0.2, 0.3)},
    **{f"Markov chain, {flips:.0%} flips": partial(make_chain, n_rows=2000, flips=flips) for flips in (0.1, 0.3)},
    **{f"numbers correlated {r}": partial(make_numbers, n_rows=2000, correlation=r) for r in (0.8, 0.95)},
    "exclusive or of two, with copies": partial(make_exclusive_or, n_rows=2000, n_true=2, with_copies=True),
    "exclusive or of three": partial(make_exclusive_or, n_rows=2000, n_true=3, with_copies=False),
    **{f"noise of {n} values": partial(make_many_values, n_rows=2000, n_values=n) for n in (5, 50, 500)},
    "labels without noise": partial(make_noiseless, n_rows=2000, with_copies=False),
    "labels without noise, with copies": partial(make_noiseless, n_rows=2000, with_copies=True),
    "four classes": partial(make_four_classes, n_rows=2000),
    **{f"copies, 20% flips, {n:,} rows": partial(make_copies, n_rows=n, flips=0.2) for n in (100, 200, 20_000)},
}
"""The made-up tables by what is hard about them; 2,000 rows unless another number is named."""


def as_words(column: Codes | Shares) -> pd.Series:
    """Whole numbers as words, so that nobody takes them for numbers."""
    return pd.Series(column).map("v{}".format) if column.dtype.kind == "i" else pd.Series(column)


def made_cases(kind: str, makers: Mapping[str, Maker], seeds: Iterable[int], settings: Sequence[str]) -> Iterator[Case]:
    """Made-up tables; their columns are in random order."""
    for seed in seeds:
        for setting in settings:
            rng = np.random.default_rng([seed, key_of(setting), 6])
            columns, true, shares = makers[setting](rng)
            y = draw_labels(shares, rng)
            names = rng.permutation(list(columns)).tolist()
            X = pd.DataFrame({name: as_words(columns[name]) for name in names})
            yield Case(f"{setting}, seed {seed}", kind, setting, "", seed, X, y, true, shares)


def synthetic_cases(seeds: Iterable[int] = range(2), *, settings: Sequence[str] = tuple(SETTINGS)) -> Iterator[Case]:
    """Made-up tables with a known rule of two or three features.

    Parameters
    ----------
    seeds : iterable of int
    settings : sequence of str
        Some of SETTINGS.

    Yields
    ------
    Case
    """
    return made_cases("synthetic", SETTINGS, seeds, settings)


# ---------------------------------------------------------------- long rules


def number_beside(scores: Shares, rng: np.random.Generator) -> Shares:
    """A normal number correlated with another one."""
    return np.asarray(NEIGHBOUR * scores + np.sqrt(1 - NEIGHBOUR**2) * rng.normal(size=scores.shape))


def category_beside(codes: Codes, rng: np.random.Generator, n_values: int) -> Codes:
    """A flipped copy of a column whose values are equally frequent."""
    return flipped(codes, (1 - NEIGHBOUR) * (n_values - 1) / n_values, rng, n_values)


def numbers_with_neighbours(scores: Shares, rng: np.random.Generator) -> tuple[dict[str, Shares], tuple[str, ...]]:
    """Columns, and the names of those that are not neighbours."""
    true = {f"number {i}": column for i, column in enumerate(scores.T, 1)}
    return true | {f"beside {name}": number_beside(column, rng) for name, column in true.items()}, tuple(true)


def make_long_numbers(rng: np.random.Generator, n_rows: int, n_true: int) -> Made:
    """Numbers that add up, all with the same weight."""
    scores = rng.normal(size=(n_rows, n_true))
    return *numbers_with_neighbours(scores, rng), logistic(scores.sum(axis=1))


def make_long_categories(rng: np.random.Generator, n_rows: int, n_true: int) -> Made:
    """Features of three values that add up."""
    true = {f"category {i}": categories(rng, n_rows) for i in range(1, n_true + 1)}
    beside = {f"beside {name}": category_beside(codes, rng, 3) for name, codes in true.items()}
    return true | beside, tuple(true), logistic(sum_of_effects(true.values(), rng))


def make_exclusive_or_and_more(rng: np.random.Generator, n_rows: int, n_more: int) -> Made:
    """An exclusive or of two columns of two values, half as strong again as each of some numbers that add up."""
    either = {name: categories(rng, n_rows, 2) for name in "ab"}
    beside = {f"beside {name}": category_beside(codes, rng, 2) for name, codes in either.items()}
    scores = rng.normal(size=(n_rows, n_more))
    numbers, true = numbers_with_neighbours(scores, rng)
    log_odds = 1.5 * sign(either["a"] ^ either["b"]) + scores.sum(axis=1)
    return either | beside | numbers, ("a", "b", *true), logistic(log_odds)


LONG: dict[str, Maker] = {
    **{
        f"{k} + {k} numbers, {n:,} rows": partial(make_long_numbers, n_rows=n, n_true=k)
        for k, n in ((4, 1000), (5, 1500), (7, 2000), (7, 8000), (8, 5000))
    },
    **{
        f"{k} + {k} categories, {n:,} rows": partial(make_long_categories, n_rows=n, n_true=k)
        for k, n in ((7, 2500), (8, 2000))
    },
    **{
        f"exclusive or beside {k}, {n:,} rows": partial(make_exclusive_or_and_more, n_rows=n, n_more=k)
        for k in (2, 4, 6)
        for n in (1000, 2000, 5000, 8000)
    },
}
"""Made-up tables with rules of up to eight features, each with a neighbour that does nothing."""


def long_cases(
    seeds: Iterable[int] = range(2),
    *,
    settings: Sequence[str] = (*LONG, *LONG_RULES),
    tables: Sequence[str] = TABLES,
    folder: str | Path | None = None,
) -> Iterator[Case]:
    """Rules of four to nine features: made-up tables, and real features of larger tables.

    Parameters
    ----------
    seeds : iterable of int
    settings : sequence of str
        Some of LONG and LONG_RULES.
    tables : sequence of str
        Some of TABLES, for LONG_RULES.
    folder : path, optional
        The folder that holds the folder real; without it, ANALOGICAL_DATA names it.

    Yields
    ------
    Case
        None where a real table has under LONG_MIN_ROWS rows, or no usable column more than the rule reads.
    """
    for seed in seeds:
        yield from made_cases("long", LONG, [seed], [setting for setting in settings if setting in LONG])
        for setting in settings:
            for table in tables if setting in LONG_RULES else ():
                n_true, rule = LONG_RULES[setting]
                rng = np.random.default_rng([seed, key_of(table), key_of(setting), 8])
                X = read_table(table, data_folder(folder))[0]
                X = X.iloc[draw_rows(len(X), rng)].reset_index(drop=True)
                if len(X) < LONG_MIN_ROWS or len(usable_columns(X)) <= n_true:
                    continue
                y, true, shares = real_rule(X, rule, rng, n_true)
                yield Case(f"{table}, {setting}, seed {seed}", "long", setting, table, seed, X, y, true, shares)


# ---------------------------------------------------------------- mixed features

WRONG_AT_BEST = 0.2
"""Share of the rows in which the likelier label is not the drawn one."""
WEIGHTS = np.tile([0.0, 1.0, 0.0, 3.0], 3)


def make_blesch(rng: np.random.Generator, n_rows: int, n_levels: int, correlation: float = 0.8) -> Made:
    """Six pairs of correlated features; the second of each is true, with the weights 1 and 3 by turns.

    The design of section 3.2 of K. Blesch, D. S. Watson and M. N. Wright, Conditional feature importance for mixed
    data, AStA Advances in Statistical Analysis (2023): features 1 to 4 act as they are, 5 to 8 by being in the
    outer half of the rows, 9 to 12 are quantiles under other names, each with its own weight from -1 to 1. (Their code
    draws labels of two classes so that the best guess is wrong in 20 % of the rows.)
    """
    scores = rng.normal(size=(n_rows, 12))
    scores[:, 1::2] = correlation * scores[:, ::2] + np.sqrt(1 - correlation**2) * scores[:, 1::2]
    columns: dict[str, Codes | Shares] = {f"number {i}": scores[:, i - 1] for i in range(1, 9)}
    seen = scores.copy()
    seen[:, 4:8] = np.where(np.abs(scores[:, 4:8]) > norm.ppf(0.75), -1.0, 1.0)
    for i in range(9, 13):
        codes = rng.permutation(n_levels)[pd.qcut(scores[:, i - 1], n_levels, labels=False)]
        columns[f"category {i}"] = codes
        seen[:, i - 1] = np.linspace(-1, 1, n_levels)[codes]
    log_odds = seen @ WEIGHTS

    def wrong(factor: float) -> float:
        return float(expit(-np.abs(factor * log_odds)).mean())

    share = expit(brentq(lambda factor: wrong(factor) - WRONG_AT_BEST, 0, 5) * log_odds)
    return columns, tuple(list(columns)[1::2]), two_shares(share)


BLESCH: dict[str, Maker] = {
    f"{levels} levels, {n:,} rows": partial(make_blesch, n_rows=n, n_levels=levels)
    for levels in (5, 3)
    for n in (300, 1000, 3000)
}
"""The tables of Blesch, Watson and Wright."""


def blesch_cases(seeds: Iterable[int] = range(2), *, settings: Sequence[str] = tuple(BLESCH)) -> Iterator[Case]:
    """Twelve mixed features, six of them true, as drawn by Blesch, Watson and Wright.

    Parameters
    ----------
    seeds : iterable of int
    settings : sequence of str
        Some of BLESCH.

    Yields
    ------
    Case
    """
    return made_cases("blesch", BLESCH, seeds, settings)


# ---------------------------------------------------------------- numbers as labels

NOISE = float(np.pi / np.sqrt(3))
"""Standard deviation of the noise, that of the noise with which a label of two classes is drawn: beside STRENGTH, the
rule explains 60 % of the variance."""


def normal_noise(signal: Shares, rng: np.random.Generator) -> Shares:
    """The signal and normal noise."""
    return np.asarray(signal + NOISE * rng.normal(size=len(signal)))


def skewed_noise(signal: Shares, rng: np.random.Generator) -> Shares:
    """The signal and lognormal noise of the same variance: 1 % of the rows are more than 3.6 standard deviations up."""
    noise = np.exp(rng.normal(size=len(signal)))
    return np.asarray(signal + NOISE / np.sqrt(np.e * (np.e - 1)) * noise)


def prices(signal: Shares, rng: np.random.Generator) -> Shares:
    """Signal and normal noise multiply: a label whose logarithm has standard deviation 1."""
    return np.asarray(np.exp(normal_noise(signal, rng) / np.hypot(STRENGTH, NOISE)))


def counts(signal: Shares, rng: np.random.Generator) -> Shares:
    """Counts as of Poisson, about 3 each; the rule explains 60 % of their variance."""
    return rng.poisson(np.exp(1 + 0.6 * signal / STRENGTH)).astype(np.float64)


NOISES: dict[str, Callable[[Shares, np.random.Generator], Shares]] = {
    "normal": normal_noise,
    "skewed": skewed_noise,
    "prices": prices,
    "counts": counts,
}
WITH_LOG_ODDS = [name for name in SETTINGS if not name.startswith(("labels without", "four")) and "20,000" not in name]
NUMBERS = {noise: (f"{noise}, real features", f"{noise}, made-up features") for noise in NOISES}
"""The two settings of every noise."""


def number_cases(
    seeds: Iterable[int] = range(2),
    *,
    settings: Sequence[str] = tuple(setting for two in NUMBERS.values() for setting in two),
    tables: Sequence[str] = TABLES,
    folder: str | Path | None = None,
) -> Iterator[Case]:
    """The rules of real and made-up tables with a number as label: their log odds, and noise.

    Parameters
    ----------
    seeds : iterable of int
    settings : sequence of str
        Some of those in NUMBERS.
    tables : sequence of str
        Some of TABLES.
    folder : path, optional
        The folder that holds the folder real; without it, ANALOGICAL_DATA names it.

    Yields
    ------
    Case
        Of a real table, one of RULES by turns.
    """
    for seed in seeds:
        for at, (noise, (on_real, on_made)) in enumerate(NUMBERS.items()):
            for place, table in enumerate(tables if on_real in settings else ()):
                rng = np.random.default_rng([seed, key_of(table), key_of(noise), 9])
                X = read_table(table, data_folder(folder))[0]
                X = X.iloc[draw_rows(len(X), rng)].reset_index(drop=True)
                rule = RULES[(seed + at + place) % len(RULES)]
                _, true, shares = real_rule(X, rule, rng)
                if len(true) >= 2:
                    name = f"{table}, {rule}, {noise}, seed {seed}"
                    yield with_number(Case(name, "numbers", on_real, table, seed, X, shares, true, shares), noise, rng)
            for setting in WITH_LOG_ODDS if on_made in settings else ():
                rng = np.random.default_rng([seed, key_of(setting), key_of(noise), 9])
                (made,) = made_cases("numbers", SETTINGS, [int(rng.integers(2**31))], [setting])
                named = replace(made, name=f"{setting}, {noise}, seed {seed}", setting=on_made, seed=seed)
                yield with_number(named, noise, rng)


def with_number(case: Case, noise: str, rng: np.random.Generator) -> Case:
    """A case of two classes with a number as label instead."""
    signal = np.log(case.shares[:, 1] / case.shares[:, 0])
    return replace(case, y=NOISES[noise](signal, rng), shares=signal[:, None])
