"""Effects, intervals and tests of drawn tables beside what is known of their populations.

Every feature is compared given all others. The truth of an effect is the ratio of sums over many independent tables of
the same size: sum of effects over pairs to pairs. A feature that does nothing has an effect of exactly 0.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from peers import cmh, context_tables, effect_sums, index_sums, kish, shuffle_test
from settings import SETTINGS, Setting

from analogical import relevance

__all__ = ["effects", "nulls", "power"]

N_TRUTH = 1000
"""Tables that the truth comes from."""
NUMBERS = ("effect", "effect_low", "effect_high", "p_value")


@dataclass(frozen=True)
class Drawn:
    """What the library says of many tables, and the truth; arrays have the shape (tables, features)."""

    said: dict[str, Any]
    has_repeats: Any
    """Whether rows repeat, so that noise can be told from an effect."""
    effective_rows: Any
    effect: Any
    """The truth, for each feature."""
    p_cmh: Any
    p_shuffles: Any
    """For the first feature; shape (tables,)."""


@functools.cache
def drawn_tables(at: int, strength: float, n_tables: int, n_truth: int) -> Drawn:
    """Draw tables of a setting and see what is said of them."""
    setting = SETTINGS[at]
    n_features = len(setting.n_values)
    rng, rng_truth, rng_shuffles = (np.random.default_rng([24, at, int(100 * strength), part]) for part in range(3))
    sums = np.zeros((2, n_features))
    for _ in range(n_truth):
        sums += _sums(*setting.draw(rng_truth, setting.n_rows, strength), setting.n_values)
    said: dict[str, list[Any]] = {name: [] for name in NUMBERS}
    rows, has_repeats = [], []
    p_cmh, p_shuffles = [], []
    while len(p_cmh) < n_tables:
        X, y = setting.draw(rng, setting.n_rows, strength)
        if np.ptp(y) == 0 or not np.ptp(X, axis=0).any():  # one class only, or no feature varies
            continue
        result = relevance(X, y, given="all")
        for name in NUMBERS:
            said[name].append(getattr(result, name))
        tables = [context_tables(X, y, setting.n_values, i) for i in range(n_features)]
        rows.append([kish(table) for table in tables])
        has_repeats.append([effect_sums(table)[1] > 0 for table in tables])
        _check(result, tables)
        p_cmh.append(cmh(tables[0]))
        p_shuffles.append(shuffle_test(tables[0], rng_shuffles) if strength else np.nan)
    effect = np.divide(sums[0], sums[1], out=np.full(n_features, np.nan), where=sums[1] > 0)
    effect[[i for i in _nothing(setting, strength) if sums[1, i]]] = 0.0
    return Drawn(
        {name: np.array(numbers) for name, numbers in said.items()},
        np.array(has_repeats),
        np.array(rows),
        effect,
        np.array(p_cmh),
        np.array(p_shuffles),
    )


def _sums(X: Any, y: Any, n_values: tuple[int, ...]) -> Any:
    """Numerator and pairs of the effect of every feature."""
    return np.array([effect_sums(context_tables(X, y, n_values, i)) for i in range(len(n_values))]).T


def _check(result: Any, tables: list[Any]) -> None:
    """Stop if the library's pairs or index are not those of the second count."""
    for i, table in enumerate(tables):
        changed, pairs = index_sums(table)
        if (changed, pairs) != (result.changed[i], result.pairs[i]) or pairs != result.compared[i]:
            raise SystemExit(f"other counts for feature {i}: {(changed, pairs)}")
        if pairs and abs(changed / pairs - result.index[i]) > 1e-12:
            raise SystemExit(f"another index for feature {i}: {changed / pairs}, said {result.index[i]}")


def _nothing(setting: Setting, strength: float) -> list[int]:
    """Features that do nothing."""
    return [*setting.idle, *([] if strength else [0])]


def _cases(quick: bool) -> Iterator[tuple[Setting, str, Drawn, int]]:
    """Every setting with its effect and without, and the feature to look at."""
    for at, setting in enumerate(SETTINGS):
        n_tables, n_truth = (20, 100) if quick else (setting.n_tables, N_TRUTH)
        yield setting, "yes", drawn_tables(at, 1.0, n_tables, n_truth), 0
        if setting.idle:
            yield setting, "no", drawn_tables(at, 1.0, n_tables, n_truth), setting.idle[0]
        else:
            yield setting, "no", drawn_tables(at, 0.0, n_tables, n_truth), 0


def effects(quick: bool) -> Iterator[dict[str, Any]]:
    """Bias of the effect, and how often its 95 % interval holds the truth."""
    for setting, does, drawn, i in _cases(quick):
        effect, low, high = (drawn.said[name][:, i] for name in ("effect", "effect_low", "effect_high"))
        known = ~np.isnan(low)
        repeats = float(drawn.has_repeats[:, i].mean())
        row: dict[str, Any] = {
            "setting": setting.name,
            "rows": setting.n_rows,
            "does_something": does,
            "tables": len(effect),
            "with_pairs": float(known.mean()),
            "with_repeated_rows": repeats,
            "effective_rows": round(float(np.median(drawn.effective_rows[:, i])), 1),
        }
        truth = float(drawn.effect[i])
        off = (effect - truth)[known]
        above, below = (low[known] > truth + 1e-9).mean(), (high[known] < truth - 1e-9).mean()
        coverage = float(1 - above - below)
        numbers: dict[str, Any] = {
            "true_effect": truth,
            "bias": float(off.mean()),
            "bias_std_error": float(off.std(ddof=1) / np.sqrt(len(off))),
            "coverage": coverage,
            "truth_below": float(above),
            "truth_above": float(below),
            "mean_width": float((high - low)[known].mean()),
        }
        if not repeats:  # the effect is the index there, an upper bound
            numbers = dict.fromkeys(numbers)
        yield row | numbers | {"missed": ["coverage"] if repeats and not 0.92 <= coverage <= 0.99 else []}


def nulls(quick: bool) -> Iterator[dict[str, Any]]:
    """How often a feature that does nothing has p <= .05."""
    for setting, does, drawn, _ in _cases(quick):
        if does == "yes":
            continue
        p = drawn.said["p_value"][:, list(setting.idle) or [0]]
        known = ~np.isnan(p)
        share = float((p[known] <= 0.05).mean())
        yield {
            "setting": setting.name,
            "rows": setting.n_rows,
            "tables": len(p),
            "features": p.shape[1],
            "p_known": float(known.mean()),
            "p_below_5_percent": share,
            "p_below_1_percent": float((p[known] <= 0.01).mean()),
            "cmh_below_5_percent": None if setting.idle else float(np.mean(drawn.p_cmh <= 0.05)),
            "missed": ["p_below_5_percent"] if share > 0.06 else [],
        }


def power(quick: bool) -> Iterator[dict[str, Any]]:
    """How often a feature that does something has p <= .05, beside two other tests."""
    for setting, does, drawn, _ in _cases(quick):
        if does == "yes":
            p = drawn.said["p_value"][:, 0]
            yield {
                "setting": setting.name,
                "rows": setting.n_rows,
                "tables": len(p),
                "true_effect": None if np.isnan(drawn.effect[0]) else float(drawn.effect[0]),
                "p_known": float(np.mean(~np.isnan(p))),
                "analogical": float(np.mean(p <= 0.05)),
                "cmh": float(np.mean(drawn.p_cmh <= 0.05)),
                "shuffles_within_contexts": float(np.mean(drawn.p_shuffles <= 0.05)),
                "missed": [],
            }
