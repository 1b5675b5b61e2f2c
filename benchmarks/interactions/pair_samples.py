"""Tables in which two features act together, or none do: epistasis without main effects, rules, mixtures, noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

__all__ = ["Setting", "all_settings", "draw"]


@dataclass(frozen=True)
class Setting:
    """What is drawn: kind of table, its strength (or noise), minor allele frequency, features and rows."""

    kind: str
    strength: float
    maf: float
    n_features: int
    n_rows: int

    @property
    def name(self) -> str:
        """The setting as a key."""
        return f"{self.kind} {self.strength:g} maf {self.maf:g} {self.n_features} x {self.n_rows}"

    @property
    def has_pair(self) -> bool:
        """Whether some pair acts together."""
        return self.kind in ("epistasis", "xor", "and", "mixture")


def all_settings() -> Iterator[Setting]:
    """All settings, small tables first."""
    for n_features in (20, 100):
        for n_rows in (400, 800, 1600):
            for maf in (0.2, 0.4):
                for heritability in (0.05, 0.1, 0.2, 0.4):
                    yield Setting("epistasis", heritability, maf, n_features, n_rows)
    for n_rows in (400, 1600):
        for noise in (0.1, 0.3):
            yield Setting("xor", noise, 0.5, 20, n_rows)
            yield Setting("and", noise, 0.5, 20, n_rows)
        for strength in (0.2, 0.4):
            yield Setting("mixture", strength, 0.4, 20, n_rows)


def draw(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray, tuple[int, int] | None]:
    """Rows, labels and the pair that acts together, at random places among the features."""
    rng = np.random.default_rng([seed, sum(map(ord, setting.name))])
    n, m = setting.n_features, setting.n_rows
    a, b, c, d = rng.permutation(n)[:4].tolist()
    if setting.kind in ("xor", "and"):
        X = rng.integers(0, 2, size=(m, n))
        both = X[:, a] ^ X[:, b] if setting.kind == "xor" else X[:, a] & X[:, b]
        y = both ^ (rng.random(m) < setting.strength)
        return X, y, _sorted(a, b)
    X = rng.binomial(2, setting.maf, size=(m, n))
    if setting.kind == "epistasis":
        shares = _penetrance(setting.strength, setting.maf, seed)[X[:, a], X[:, b]]
        return X, (rng.random(m) < shares).astype(int), _sorted(a, b)
    if setting.kind == "mixture":  # two features add to the share of the label, two act together as well
        shares = 0.2 + 0.1 * X[:, c] + 0.1 * X[:, d] + setting.strength * ((X[:, a] > 0) & (X[:, b] > 0))
        return X, (rng.random(m) < np.clip(shares, 0, 1)).astype(int), _sorted(a, b)
    if setting.kind == "main effects":  # additive shares of three features
        shares = 0.1 + setting.strength * (X[:, a] + X[:, b] + X[:, c])
        return X, (rng.random(m) < shares).astype(int), None
    if setting.kind == "linked main effects":  # and neighbours that go with them
        copied = rng.random(m) < 0.7
        X[copied, d] = X[copied, a]
        shares = 0.1 + setting.strength * (X[:, a] + X[:, b] + X[:, c])
        return X, (rng.random(m) < shares).astype(int), None
    if setting.kind == "noise":
        return X, (rng.random(m) < setting.strength).astype(int), None
    raise ValueError(setting.kind)


def _sorted(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


@lru_cache(maxsize=1000)
def _penetrance(heritability: float, maf: float, seed: int) -> np.ndarray:
    """Shares of the label by two genotypes that have no main effects, and this variance over K (1 - K).

    Random tables, centred over rows and columns with the genotypes' frequencies as weights, stretched until they touch
    0 and 1; the first one of which the variance is large enough is shrunk to it.
    """
    rng = np.random.default_rng([seed, int(1000 * heritability), int(1000 * maf)])
    q = np.array([(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2])
    weights = np.outer(q, q)
    while True:
        d = rng.normal(size=(20_000, 3, 3)) * rng.choice([0.2, 1.0], size=(20_000, 3, 3))
        d = d - (d @ q)[:, :, None]
        d = d - np.einsum("u,tuv->tv", q, d)[:, None]
        low, high = d.min(axis=(1, 2)), d.max(axis=(1, 2))
        d /= (high - low)[:, None, None]
        prevalence = -low / (high - low)
        found = (weights * d**2).sum(axis=(1, 2)) / (prevalence * (1 - prevalence))
        good = np.flatnonzero(found >= heritability)
        if len(good):
            k = good[0]
            return prevalence[k] + d[k] * np.sqrt(heritability / found[k])
