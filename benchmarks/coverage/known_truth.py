"""Effects, intervals and tests of drawn tables beside what is known of their populations.

The truth of an effect, and of the index, is the ratio of sums over many independent tables of the same size: sum of
effects over pairs to pairs, and changed pairs to pairs. A feature that does nothing has an effect of exactly 0.
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

ENOUGH_ROWS = 30
"""Effective rows from which on the goal of 92 to 98 % holds."""
N_TRUTH = 2500
"""Tables that the truth comes from."""
NUMBERS = ("ari", "ari_low", "ari_high", "effect", "effect_low", "effect_high", "p_value")


@dataclass(frozen=True)
class Drawn:
    """What the library says of many tables, and the truth; arrays have the shape (tables, features)."""

    said: dict[str, Any]
    effect_rows: Any
    index_rows: Any
    """Effective rows of effect and index."""
    effect: Any
    index: Any
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
    sums = np.zeros((4, n_features))
    for _ in range(n_truth):
        sums += _sums(*setting.draw(rng_truth, setting.n_rows, strength), setting.n_values)
    said: dict[str, list[Any]] = {name: [] for name in NUMBERS}
    rows: list[list[list[float]]] = [[], []]
    p_cmh, p_shuffles = [], []
    while len(p_cmh) < n_tables:
        X, y = setting.draw(rng, setting.n_rows, strength)
        if y.min() == y.max():  # one class only
            continue
        result = relevance(X, y, radius=1, redundancies=False)
        for name in NUMBERS:
            said[name].append(getattr(result, name))
        tables = [context_tables(X, y, setting.n_values, i) for i in range(n_features)]
        for told in (False, True):
            rows[told].append([kish(table, told=told) for table in tables])
        _check(result, tables)
        p_cmh.append(cmh(tables[0]))
        p_shuffles.append(shuffle_test(tables[0], rng_shuffles) if strength else np.nan)
    effect = np.divide(sums[0], sums[1], out=np.full(n_features, np.nan), where=sums[1] > 0)
    effect[[i for i in _nothing(setting, strength) if sums[1, i]]] = 0.0
    return Drawn(
        {name: np.array(numbers) for name, numbers in said.items()},
        np.array(rows[True]),
        np.array(rows[False]),
        effect,
        sums[2] / sums[3],
        np.array(p_cmh),
        np.array(p_shuffles),
    )


def _sums(X: Any, y: Any, n_values: tuple[int, ...]) -> Any:
    """Numerators and pairs of effect and index, of every feature."""
    tables = [context_tables(X, y, n_values, i) for i in range(len(n_values))]
    return np.array([(*effect_sums(table), *index_sums(table)) for table in tables]).T


def _check(result: Any, tables: list[Any]) -> None:
    """Stop if the library's effect or index is not that of the second count."""
    for i, table in enumerate(tables):
        numerator, pairs = effect_sums(table)
        changed, all_pairs = index_sums(table)
        if (pairs, changed, all_pairs) != (result.effect_pairs[i], result.changed[i], result.pairs[i]):
            raise SystemExit(f"other counts for feature {i}: {(pairs, changed, all_pairs)}")
        if pairs and abs(numerator / pairs - result.effect[i]) > 1e-9:
            raise SystemExit(f"another effect for feature {i}: {numerator / pairs}, said {result.effect[i]}")


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


def _covered(said: dict[str, Any], kind: str, truth: float, i: int, known: Any) -> float:
    low, high = said[f"{kind}_low"][known, i], said[f"{kind}_high"][known, i]
    return float(np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9)))


def _is_missed(coverage: float, effective_rows: float) -> bool:
    return effective_rows >= ENOUGH_ROWS and not 0.92 <= coverage <= 0.98


def effects(quick: bool) -> Iterator[dict[str, Any]]:
    """Bias of the effect, and how often the 95 % intervals of effect and index hold the truth."""
    for setting, does, drawn, i in _cases(quick):
        said = drawn.said
        row: dict[str, Any] = {
            "setting": setting.name,
            "rows": setting.n_rows,
            "does_something": does,
            "tables": len(said["ari"]),
        }
        missed = []
        for kind, truth, rows in (("effect", drawn.effect, drawn.effect_rows), ("ari", drawn.index, drawn.index_rows)):
            known = ~np.isnan(said[f"{kind}_low"][:, i])
            name = {"effect": "effect", "ari": "index"}[kind]
            effective = float(np.median(rows[:, i]))
            row[f"{name}_known"] = float(known.mean())
            row[f"{name}_effective_rows"] = round(effective, 1)
            enough = bool(known.any()) and not np.isnan(truth[i])
            row[f"true_{name}"] = float(truth[i]) if enough else None
            if kind == "effect":
                off = said["effect"][known, i] - truth[i]
                row["bias"] = float(off.mean()) if enough else None
                row["bias_std_error"] = float(off.std(ddof=1) / np.sqrt(len(off))) if enough else None
            row[f"{name}_coverage"] = _covered(said, kind, float(truth[i]), i, known) if enough else None
            width = (said[f"{kind}_high"] - said[f"{kind}_low"])[known, i]
            row[f"{name}_mean_width"] = float(width.mean()) if enough else None
            if enough and _is_missed(row[f"{name}_coverage"], effective):
                missed.append(f"{name}_coverage")
        yield {**row, "missed": missed}


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
