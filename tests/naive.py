"""The definitions in slow loops; imports nothing from analogical, so that it can be its oracle.

Read it against the paper: a pair for feature i is two rows that differ on i and agree everywhere else.
"""

from itertools import combinations


def naive_counts(rows, labels, weights=None):
    """Pairs and changed pairs per feature, and what identical rows say, by comparing all rows with all."""
    rows = [tuple(row) for row in rows]
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    n_features = len(rows[0])
    pairs, changed = [0] * n_features, [0] * n_features
    identical = contradictions = 0
    for w in weights:
        identical += w * (w - 1) // 2
    for r, s in combinations(range(len(rows)), 2):
        differing = [i for i in range(n_features) if rows[r][i] != rows[s][i]]
        together = weights[r] * weights[s]
        if not differing:
            identical += together
            contradictions += together if labels[r] != labels[s] else 0
        elif len(differing) == 1:
            pairs[differing[0]] += together
            changed[differing[0]] += together if labels[r] != labels[s] else 0
    return {
        "pairs": pairs,
        "changed": changed,
        "n_values": [len({row[i] for row, w in zip(rows, weights, strict=True) if w}) for i in range(n_features)],
        "n_rows": sum(weights),
        "n_distinct": len({row for row, w in zip(rows, weights, strict=True) if w}),
        "n_identical": identical,
        "n_contradictions": contradictions,
    }


def naive_once(rows, labels):
    """The sample as a set: identical rows with an identical label once, in order of appearance."""
    kept = list(dict.fromkeys((tuple(row), label) for row, label in zip(rows, labels, strict=True)))
    return [row for row, _ in kept], [label for _, label in kept]


def naive_ari(rows, labels, feature):
    """The paper's index of one feature."""
    if len({row[feature] for row in rows}) == 1:
        return 0.0
    counts = naive_counts(rows, labels)
    if counts["pairs"][feature] == 0:
        return 2.0
    return counts["changed"][feature] / counts["pairs"][feature]
