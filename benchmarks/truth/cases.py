"""Tables whose relevant features are known: made-up labels on real features, made-up tables, and shuffled labels.

A feature is relevant ("true") if the rule that draws the labels reads it. Given the true ones, every other feature
says nothing about the label, however correlated it is.

    from benchmarks.truth.cases import real_cases, shuffled_cases, synthetic_cases

    for case in synthetic_cases(seeds=range(2)):
        case.X, case.y, case.true, case.shares
"""

import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

__all__ = ["RULES", "SETTINGS", "SHUFFLED", "TABLES", "Case", "real_cases", "shuffled_cases", "synthetic_cases"]

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
    kind : {"real", "synthetic", "shuffled"}
    setting : str
        The rule of a real case, the setting of a synthetic one, "shuffled" otherwise.
    table : str
        The real table, or "" for a synthetic case.
    seed : int
    X : DataFrame
    y : array of shape (n_rows,)
        Labels from 0.
    true : tuple of str
        The features that the rule reads; those of an exclusive or first.
    shares : array of shape (n_rows, n_labels)
        The probability of every label in every row, from which its label was drawn.
    """

    name: str
    kind: str
    setting: str
    table: str
    seed: int
    X: pd.DataFrame
    y: Codes
    true: tuple[str, ...]
    shares: Shares


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


def real_rule(X: pd.DataFrame, rule: str, rng: np.random.Generator) -> tuple[Codes, tuple[str, ...], Shares]:
    """Labels, true features and shares of a random rule over two to four columns.

    main: a sum of main effects. mixed: with an exclusive or of the first two. interaction: an exclusive or of two
    without main effects, and the main effect of a third.
    """
    codes = {str(name): values_seen_by_rule(X[name]) for name in X}
    usable = [name for name in codes if is_usable(codes[name])]
    n_true = min(4, max(2, X.shape[1] // 3), len(usable))
    true = [str(name) for name in rng.choice(usable, n_true, replace=False)]
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


SETTINGS: dict[str, Callable[[np.random.Generator], Made]] = {
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


def synthetic_cases(seeds: Iterable[int] = range(2), *, settings: Sequence[str] = tuple(SETTINGS)) -> Iterator[Case]:
    """Made-up tables with a known rule; their columns are in random order.

    Parameters
    ----------
    seeds : iterable of int
    settings : sequence of str
        Some of SETTINGS.

    Yields
    ------
    Case
    """
    for seed in seeds:
        for setting in settings:
            rng = np.random.default_rng([seed, key_of(setting), 6])
            columns, true, shares = SETTINGS[setting](rng)
            y = draw_labels(shares, rng)
            names = rng.permutation(list(columns)).tolist()
            X = pd.DataFrame({name: as_words(columns[name]) for name in names})
            yield Case(f"{setting}, seed {seed}", "synthetic", setting, "", seed, X, y, true, shares)
