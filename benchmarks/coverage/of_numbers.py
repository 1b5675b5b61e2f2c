"""Labels that are numbers: p-values of features that do nothing, and intervals of effects, with the default options."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from analogical import relevance

__all__ = ["blesch", "numbers"]

Drawn = tuple[dict[str, Any], Any, dict[str, Any]]
"""Columns (whole numbers are categories), labels and options."""
NOISES: dict[str, Callable[[Any, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal, sigma 1": lambda rng, n: rng.lognormal(0, 1, n),
    "lognormal, sigma 1.5": lambda rng, n: rng.lognormal(0, 1.5, n),
    "t, 2 degrees of freedom": lambda rng, n: rng.standard_t(2, n),
    "1 % outliers x 100": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.01, 100, 1),
}
LEVELS = np.array([1.0, 2.0, 4.0])
"""Standard deviations of the noise by value."""


def _tied(rng: Any, z: Any, correlation: float) -> Any:
    """A normal number correlated with another one."""
    return correlation * z + math.sqrt(1 - correlation**2) * rng.normal(size=len(z))


def _flipped(rng: Any, z: Any, share: float = 0.25) -> Any:
    """A copy of a column of three values with another value in this share of the rows."""
    return np.where(rng.random(len(z)) < share, (z + rng.integers(1, 3, len(z))) % 3, z)


def _shuffled(rng: Any, n: int, noise: str) -> Drawn:
    """Categories of 2, 3 and 10 values and two numbers."""
    z = rng.normal(size=n)
    columns = {f"x{k}": rng.integers(0, k, n) for k in (2, 3, 10)} | {"x number": z, "x tied": _tied(rng, z, 0.8)}
    return columns, NOISES[noise](rng, n), {}


def _conditional(rng: Any, n: int, correlation: float, n_members: int = 1) -> Drawn:
    """Numbers that add up, and one that is tied to the first of them."""
    z = rng.normal(size=(n_members, n))
    columns = {f"z{i}": column for i, column in enumerate(z)}
    return columns | {"x": _tied(rng, z[0], correlation)}, z.sum(axis=0) + rng.normal(size=n), {}


def _conditional_tails(rng: Any, n: int, noise: str) -> Drawn:
    """A category tied to a relevant one."""
    z = rng.integers(0, 3, n)
    return {"z": z, "x": _flipped(rng, z)}, z + NOISES[noise](rng, n), {}


def _unequal(rng: Any, n: int, of: str) -> Drawn:
    """Noise whose standard deviation goes with a relevant category, or with the tested one, the rare values more."""
    z = rng.integers(0, 3, n)
    x = _flipped(rng, z) if of == "z" else rng.choice(3, n, p=(0.7, 0.2, 0.1) if of == "x, uneven" else (1 / 3,) * 3)
    return {"z": z, "x": x}, z + LEVELS[z if of == "z" else x] * rng.normal(size=n), {}


def _rare(rng: Any, n: int, rows: int, noise: str) -> Drawn:
    """A value with few rows beside a relevant category."""
    z = rng.integers(0, 3, n)
    return {"z": z, "x": rng.permutation(np.arange(n) < rows).astype(int)}, z + NOISES[noise](rng, n), {}


def _groups(rng: Any, n: int, fixed: bool) -> Drawn:
    """Units of six rows that are alike; the feature is fixed in them or varies."""
    unit = np.repeat(np.arange(n // 6), 6)
    x = rng.integers(0, 2, n // 6)[unit] if fixed else rng.integers(0, 2, n)
    z = rng.integers(0, 3, n)
    return {"z": z, "x": x}, z + 1.2 * rng.normal(size=n // 6)[unit] + rng.normal(size=n), {"groups": unit}


NULLS: dict[str, tuple[int, Callable[..., Drawn], tuple[Any, ...]]] = {
    **{f"shuffled, {noise}, {n:,} rows": (n, _shuffled, (noise,)) for noise in NOISES for n in (30, 100, 1000)},
    **{f"number tied to a relevant one, {r}": (1000, _conditional, (r,)) for r in (0.7, 0.8, 0.9, 0.95)},
    **{f"the same beside 6 more that add up, {r}": (1500, _conditional, (r, 7)) for r in (0.7, 0.8, 0.9, 0.95)},
    **{f"category tied to a relevant one, {noise}": (500, _conditional_tails, (noise,)) for noise in NOISES},
    "standard deviation by a relevant feature that it is tied to": (500, _unequal, ("z",)),
    "standard deviation by the feature, values even": (500, _unequal, ("x",)),
    "standard deviation by the feature, largest for the rarest value": (500, _unequal, ("x, uneven",)),
    **{
        f"value of {rows} rows, {noise}": (1000, _rare, (rows, noise))
        for rows in (1, 3, 10)
        for noise in ("normal", "lognormal, sigma 1.5")
    },
    **{
        f"{n // 6} groups of 6 rows, {name}": (n, _groups, (fixed,))
        for n in (120, 360)
        for name, fixed in (("fixed in groups", True), ("varies within groups", False))
    },
}
"""Rows, and how they are drawn; features whose name begins with x do nothing."""


def _asked(columns: dict[str, Any], y: Any, options: dict[str, Any]) -> Any:
    """What the library says."""
    import pandas as pd

    table = {name: column.astype(str) if column.dtype.kind == "i" else column for name, column in columns.items()}
    return relevance(pd.DataFrame(table), y, **options)


def numbers(quick: bool) -> Iterator[dict[str, Any]]:
    """Labels that are numbers: p-values of features that do nothing, and how often intervals hold the truth."""
    yield from _nulls(5 if quick else 100)
    yield from _sizes(5 if quick else 100)


def _line(part: str, setting: str, rows: int, tables: int, **said: Any) -> dict[str, Any]:
    known = dict.fromkeys(("p_known", "p_below_5_percent", "p_below_1_percent", "called_effect"))
    known |= dict.fromkeys(("true_size", "mean_size", "coverage", "direction_coverage"))
    return {"part": part, "setting": setting, "rows": rows, "tables": tables} | known | said


def _nulls(n_tables: int) -> Iterator[dict[str, Any]]:
    for at, (setting, (n, draw, arguments)) in enumerate(NULLS.items()):
        rng, p, called = np.random.default_rng([31, at]), [], []
        for _ in range(n_tables):
            found = _asked(*draw(rng, n, *arguments))
            null = [i for i, name in enumerate(found.names) if name.startswith("x")]
            p.append(found.p_value[null])
            called.append([found.status[i] == "effect" for i in null])
        values = np.array(p)
        known = values[~np.isnan(values)]
        share = float(np.mean(known <= 0.05))
        yield _line(
            "null",
            setting,
            n,
            n_tables,
            p_known=len(known) / values.size,
            p_below_5_percent=share,
            p_below_1_percent=float(np.mean(known <= 0.01)),
            called_effect=float(np.mean(called)),
            missed=["p_below_5_percent"] if share > 0.06 else [],
        )


def _two_values(rng: Any, n: int, noise: str, size: float, n_members: int = 0) -> tuple[Drawn, float, Any]:
    """A feature of two values beside a relevant category, and numbers that add up."""
    z, x, w = rng.integers(0, 3, n), rng.integers(0, 2, n), rng.normal(size=(n_members, n))
    columns = {"x": x, "z": z} | {f"w{i}": column for i, column in enumerate(w)}
    return (columns, size * x + z + w.sum(axis=0) + NOISES[noise](rng, n), {}), size, lambda d: size * _sign(d)


def _three_values(rng: Any, n: int, noise: str, size: float) -> tuple[Drawn, float, Any]:
    """A feature of three values, with means in equal steps."""
    z, x = rng.integers(0, 3, n), rng.integers(0, 3, n)
    effect = size * math.sqrt((1 + 1 + 4) / 3)
    truth = lambda d: size * (int(d.value) - int(d.against))  # noqa: E731
    return ({"x": x, "z": z}, size * x + z + NOISES[noise](rng, n), {}), effect, truth


def _by_context(rng: Any, n: int, noise: str, size: float) -> tuple[Drawn, float, Any]:
    """A feature of two values whose effect goes with that of another one, and changes its sign."""
    z, x = rng.integers(0, 3, n), rng.integers(0, 2, n)
    return (
        ({"x": x, "z": z}, size * x * (z - 0.5) + z + NOISES[noise](rng, n), {}),
        size * math.sqrt((0.25 + 0.25 + 2.25) / 3),
        lambda d: 0.5 * size * _sign(d),
    )


def _unequal_size(rng: Any, n: int, noise: str, size: float) -> tuple[Drawn, float, Any]:
    """A feature of two values, the rarer of which has four times the standard deviation."""
    z, x = rng.integers(0, 3, n), (rng.random(n) < 0.2).astype(int)
    return ({"x": x, "z": z}, size * x + z + (1 + 3 * x) * NOISES[noise](rng, n), {}), size, lambda d: size * _sign(d)


def _sign(direction: Any) -> int:
    return 1 if int(direction.value) > int(direction.against) else -1


SIZES: dict[str, tuple[Callable[..., tuple[Drawn, float, Any]], tuple[Any, ...]]] = {
    **{f"two values, {noise}": (_two_values, (noise,)) for noise in NOISES},
    "two values, 6 members that add up": (_two_values, ("normal",)),
    "three values": (_three_values, ("normal",)),
    "three values, lognormal, sigma 1": (_three_values, ("lognormal, sigma 1",)),
    "by context": (_by_context, ("normal",)),
    "standard deviation by the feature": (_unequal_size, ("normal",)),
}
"""How tables are drawn of which the size of x is known; all by means (scale="number")."""


def _sizes(n_tables: int) -> Iterator[dict[str, Any]]:
    for at, (setting, (draw, arguments)) in enumerate(SIZES.items()):
        for n in (100, 1000):
            for size in (0.3, 1.0):
                rng, inside, pointed, sizes = np.random.default_rng([32, at, n, int(10 * size)]), [], [], []
                for _ in range(n_tables):
                    more = (6,) if "members" in setting else ()
                    (columns, y, options), truth, difference = draw(rng, n, *arguments, size, *more)
                    found = _asked(columns, y, options | {"scale": "number"})
                    low, high = np.sqrt([max(found.effect_low[0], 0), max(found.effect_high[0], 0)])
                    if math.isnan(found.effect[0]):
                        continue
                    inside.append(low <= truth <= high)
                    sizes.append(math.sqrt(max(found.effect[0], 0)))
                    if (way := found.direction[0]) is not None:
                        pointed.append(way.low <= difference(way) <= way.high)
                coverages = {"coverage": float(np.mean(inside)), "direction_coverage": float(np.mean(pointed))}
                yield _line(
                    "size",
                    setting,
                    n,
                    n_tables,
                    true_size=truth,
                    mean_size=float(np.mean(sizes)),
                    **coverages,
                    missed=[name for name, share in coverages.items() if not 0.92 <= share <= 0.98],
                )


# ---------------------------------------------------------------- beside published figures

PUBLISHED = {500: (0.364, 0.092), 3000: (0.99, None)}
"""Power for x3 of conditional predictive impact with sequential and with Gaussian knockoffs, as published, by rows."""
N_LEVELS = 10
EFFECT = 0.5


def blesch(quick: bool) -> Iterator[dict[str, Any]]:
    """A number that depends on two of four mixed features, as drawn by Blesch, Watson and Wright."""
    n_tables = 5 if quick else 500
    for n in (500, 1000, 2000, 3000, 5000, 7000):
        rng = np.random.default_rng([33, n])
        p = np.array([_asked(*_chain(rng, n), {}).p_value for _ in range(n_tables)])
        shares = dict(zip(("x1", "x2", "x3", "x4"), np.mean(p <= 0.05, axis=0).tolist(), strict=True))
        sequential, gaussian = PUBLISHED.get(n, (None, None))
        yield {
            "rows": n,
            "tables": n_tables,
            "x1_nothing": shares["x1"],
            "x2_nothing": shares["x2"],
            "x3": shares["x3"],
            "x3_sequential_knockoffs": sequential,
            "x3_gaussian_knockoffs": gaussian,
            "x4": shares["x4"],
            "missed": [f"{name}_nothing" for name in ("x1", "x2") if shares[name] > 0.07],
        }


def _chain(rng: Any, n: int) -> tuple[dict[str, Any], Any]:
    """x1 -> x4 -> label <- x3 <- x2; x1 and x3 have ten levels without order."""
    weight = np.linspace(-EFFECT, EFFECT, N_LEVELS)

    def levels(number: Any) -> Any:
        ends = np.quantile(number, np.arange(1, N_LEVELS) / N_LEVELS)
        return rng.permutation(N_LEVELS)[np.searchsorted(ends, number, side="right")]

    x1, x2 = levels(rng.normal(size=n)), rng.normal(size=n)
    x3 = levels(EFFECT * x2 + rng.normal(size=n))
    x4 = weight[x1] + rng.normal(size=n)
    return {"x1": x1, "x2": x2, "x3": x3, "x4": x4}, weight[x3] + EFFECT * x4 + rng.normal(size=n)
