"""The score that features are ranked by, at distance 1 or beyond it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from analogical._progress import Progress
from analogical._types import CodedRows, Floats, Ints
from analogical.counting.pairs import ContextSums
from analogical.engines.base import Engine
from analogical.scoring.attribution import AttributionMethod
from analogical.scoring.noise import Basis, score_less_noise
from analogical.scoring.radius import Radius, RelaxedScore, score_within_radius
from analogical.scoring.relaxed import RelaxedFit
from analogical.scoring.summaries import FeatureSummary, summarise_contexts

__all__ = ["FeatureScores", "Scoring"]


@dataclass(frozen=True)
class FeatureScores:
    """One score per feature, what it is, and what it rests on."""

    score: Floats
    basis: tuple[Basis, ...]
    pooled_noise: float
    """Noise that stands in for that of a feature's own contexts; NaN if it was not needed."""
    relaxed: RelaxedScore

    @property
    def fit(self) -> RelaxedFit | None:
        """The fit beyond distance 1, for its intervals and p-values; None at distance 1."""
        return self.relaxed.fit


@dataclass(frozen=True)
class Scoring:
    """How features are scored; the same for a table and for its resamples."""

    engine: Engine
    radius: Radius
    attribution: AttributionMethod
    noise_free: bool
    seed: int | None
    determined: Collection[int] = ()
    """Features that others determine."""

    def score(
        self, rows: CodedRows, sums: ContextSums[FeatureSummary], *, progress: Progress | None = None
    ) -> FeatureScores:
        """Scores of all features from their contexts and, beyond distance 1, from pairs within the radius."""
        relaxed = score_within_radius(
            self.engine,
            rows,
            sums.counts,
            radius=self.radius,
            attribution=self.attribution,
            determined=self.determined,
            summaries=None if self.noise_free else sums.summaries,
            random_state=self.seed,
            progress=progress,
        )
        if relaxed.radius > 1:
            known = relaxed.score == relaxed.score
            basis: tuple[Basis, ...] = tuple("pairs within the radius" if k else "none" for k in known.tolist())
            return FeatureScores(relaxed.score, basis, float("nan"), relaxed)
        found = score_less_noise(sums.counts, relaxed.score, sums.summaries, noise_free=self.noise_free)
        return FeatureScores(found.score, found.basis, found.pooled_noise, relaxed)

    def rescorer(self, rows: CodedRows) -> Callable[[Ints], Floats]:
        """Scores of a resample of the rows, from how often each was drawn."""

        def rescore(times: Ints) -> Floats:
            drawn = rows.weighted(times).take(times > 0)
            return self.score(drawn, self.engine.sum_contexts(drawn, summarise_contexts(drawn))).score

        return rescore
