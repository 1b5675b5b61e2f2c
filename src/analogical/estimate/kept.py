"""The summary of a feature together with its contexts, as long as these are few: sizes need more than sums.

It is made on the executors of Spark, part by part, so this file imports little.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analogical._types import Margins
from analogical.count.contexts import Contexts
from analogical.estimate.summaries import FeatureSummary, summarise_contexts

__all__ = ["KeptSummary", "SummariseAndKeep"]


@dataclass(frozen=True)
class KeptSummary:
    """The summary of a feature, and its contexts as long as they are few."""

    summary: FeatureSummary
    parts: tuple[Contexts, ...] | None
    most: int
    """Cells that are kept at most."""

    def __add__(self, other: "KeptSummary") -> "KeptSummary":
        """Of two parts of a table that share no context (see ``PairCounts.__add__``)."""
        parts = None if self.parts is None or other.parts is None else (*self.parts, *other.parts)
        return KeptSummary(self.summary + other.summary, _at_most(parts, self.most), self.most)

    @property
    def contexts(self) -> Contexts:
        """The contexts of all parts, equal ones once."""
        return _together(self.parts or ()).compacted()


@dataclass(frozen=True)
class SummariseAndKeep:
    """Makes the summary of the contexts of a feature, and keeps them; runs on the executors."""

    margins: Margins
    most: int

    def __call__(self, feature: int, contexts: Contexts) -> KeptSummary:
        """The summary of one part."""
        summary = summarise_contexts(self.margins)(feature, contexts)
        alone = replace(contexts)  # without what was computed from them
        return KeptSummary(summary, _at_most((alone,), self.most), self.most)


def _at_most(parts: tuple[Contexts, ...] | None, most: int) -> tuple[Contexts, ...] | None:
    """The parts if they have at most so many cells, perhaps after equal contexts were put together; else None."""
    if parts is None or sum(len(part.sizes) for part in parts) <= most:
        return parts
    together = _together(parts).compacted()
    return (together,) if len(together.sizes) <= most // 2 else None  # half, so that this is seldom done


def _together(parts: Sequence[Contexts]) -> Contexts:
    """Two by two, so that cells are copied a few times only."""
    if len(parts) <= 1:
        return parts[0] if parts else Contexts.none()
    half = len(parts) // 2
    return _together(parts[:half]) + _together(parts[half:])
