"""How sure the numbers of a table are: intervals and p-values of all features, for independent or grouped rows."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from analogical._progress import Progress
from analogical._types import CodedRows, Floats, Ints
from analogical.counting.pairs import ContextSums
from analogical.engines.base import Engine
from analogical.scoring.clusters import cluster_profile, resample_clusters
from analogical.scoring.intervals import share_interval
from analogical.scoring.score import FeatureScores
from analogical.scoring.significance import adjust_for_features, combine, feature_p_values
from analogical.scoring.summaries import FeatureSummary

__all__ = ["Inference", "infer", "infer_from_groups"]


@dataclass(frozen=True)
class Inference:
    """Numbers of every feature, named as in :class:`analogical.Relevance`; NaN where they are not known."""

    effect: Floats
    noise_rate: Floats
    effect_pairs: Ints
    score: Floats
    ari_std_error: Floats
    ari_low: Floats
    ari_high: Floats
    effect_low: Floats
    effect_high: Floats
    score_low: Floats
    score_high: Floats
    p_value: Floats
    p_adjusted: Floats
    score_std_error: Floats | None = None


def infer(
    rows: CodedRows,
    sums: ContextSums[FeatureSummary],
    score: FeatureScores,
    confidence: float,
    *,
    test: bool,
    seed: int | None,
    progress: Progress | None = None,
) -> Inference:
    """Intervals and p-values if all rows are independent; with ``test=False`` p-values stay unknown.

    Beyond distance 1 labels are shuffled over all rows; where contexts have pairs enough, their tests count as well.
    ``rows`` may be a sample of those that were counted; then nothing that needs every row is tested.
    """
    n_rows = sums.counts.n_rows
    complete = rows if rows.n_rows == n_rows else None
    index, effects = (np.full((3, rows.n_features), np.nan) for _ in range(2))
    for i, summary in enumerate(sums.summaries):
        if summary is not None:
            index[:, i] = share_interval(summary.profile, n_rows, confidence)
            effects[:2, i] = summary.effect.interval(n_rows, confidence)
    found = _with_intervals(sums, score, index, effects, confidence)
    if not test:
        return found
    if score.fit is None:
        return _tested(found, feature_p_values(complete, sums.summaries))
    shuffled = score.fit.p_values(seed, progress)
    if not score.relaxed.has_contexts:
        return _tested(found, shuffled)
    within = feature_p_values(complete, sums.summaries)
    return _tested(found, np.array([combine(two) for two in zip(shuffled, within, strict=True)]))


def infer_from_groups(
    engine: Engine,
    rows: CodedRows,
    groups: Ints,
    sums: ContextSums[FeatureSummary],
    score: FeatureScores,
    confidence: float,
    *,
    seed: int | None,
) -> Inference:
    """Intervals and p-values if rows of the same group depend on each other.

    Intervals of the index leave out one group at a time; effects and tests take one row of each.
    """
    n_groups = int(groups.max()) + 1
    index, effects = (np.full((3, rows.n_features), np.nan) for _ in range(2))
    for i, summary in enumerate(sums.summaries):
        if summary is not None:
            totals = summary.profile.n_pairs, summary.profile.n_changed
            index[:, i] = share_interval(cluster_profile(rows, i, groups), n_groups, confidence, totals=totals)
    drawn = resample_clusters(engine, rows, groups, confidence, seed)
    effects[:2] = drawn.effect_low, drawn.effect_high
    is_effect = np.array([basis == "effect" for basis in score.basis]) & ~np.isnan(drawn.effect)
    found = replace(
        _with_intervals(sums, score, index, effects, confidence),
        effect=drawn.effect,
        noise_rate=drawn.noise_rate,
        effect_pairs=drawn.effect_pairs,
        score=np.where(is_effect, drawn.effect, score.score),
    )
    return _tested(found, drawn.p_value)


def _with_intervals(
    sums: ContextSums[FeatureSummary], score: FeatureScores, index: Floats, effects: Floats, confidence: float
) -> Inference:
    """Intervals of index, effect and score, which is one of them or was fitted beyond distance 1; nothing is tested."""
    known = [None if summary is None else summary.effect for summary in sums.summaries]
    unknown = np.full(len(known), np.nan)
    std_error, low, high = None, unknown.copy(), unknown.copy()
    if score.fit is not None:
        std_error, low, high = score.fit.interval(NormalDist().inv_cdf((1 + confidence) / 2))
    for i, basis in enumerate(score.basis):
        if basis == "effect":
            low[i], high[i] = effects[:2, i]
        elif basis == "index":
            low[i], high[i] = index[1:, i]
    return Inference(
        effect=np.array([np.nan if effect is None else effect.effect() for effect in known]),
        noise_rate=np.array([np.nan if effect is None else effect.noise_rate() for effect in known]),
        effect_pairs=np.array([0 if effect is None else effect.n_pairs for effect in known]),
        score=score.score,
        ari_std_error=index[0],
        ari_low=index[1],
        ari_high=index[2],
        effect_low=effects[0],
        effect_high=effects[1],
        score_low=low,
        score_high=high,
        p_value=unknown,
        p_adjusted=unknown,
        score_std_error=std_error,
    )


def _tested(found: Inference, p_value: Floats) -> Inference:
    return replace(found, p_value=p_value, p_adjusted=adjust_for_features(p_value))
