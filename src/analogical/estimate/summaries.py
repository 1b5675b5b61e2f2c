"""What is kept of the contexts of a feature: small, and additive over parts of a table that share no context."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import RowProfile
from analogical.estimate.deals import DealMoments
from analogical.estimate.directions import DirectionSums, Kinds, direction_p_values
from analogical.estimate.effect import EffectSums
from analogical.estimate.exact_deals import FewDeals
from analogical.estimate.laws import PValue

__all__ = ["FeatureSummary", "all_p_values", "summarise_contexts", "summarise_stack"]


@dataclass(frozen=True)
class FeatureSummary:
    """All that effect, intervals and tests of one feature need."""

    profile: RowProfile
    """How many rows sit in how many pairs: for the interval of the index."""
    effect: EffectSums
    deals: DealMoments
    """The test in any direction."""
    direction: DirectionSums
    """The test in a common direction."""
    few: FewDeals | None
    """The test in any direction exactly, if the labels can be dealt in few ways."""

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        """The summary of two parts that share no context, both summarised by the margins of the whole table."""
        return FeatureSummary(
            self.profile + other.profile,
            self.effect + other.effect,
            self.deals + other.deals,
            self.direction + other.direction,
            None if self.few is None else self.few + other.few,
        )

    def p_values(self) -> tuple[PValue, PValue, PValue]:
        """P-values in any direction, and in a common one of what is frequent and of what is rare; NaN if not known."""
        return all_p_values([self])[0]


def all_p_values(found: Sequence[FeatureSummary]) -> list[tuple[PValue, PValue, PValue]]:
    """The p-values of several features."""
    in_one_direction = direction_p_values([one.direction for one in found])
    return [(_p_any(one), *p_values) for one, p_values in zip(found, in_one_direction, strict=True)]


def _p_any(found: FeatureSummary) -> PValue:
    """The p-value in any direction; NaN where the other tests see that too: it would be paid for twice."""
    if found.direction.sees_all:
        return PValue(math.nan)
    return PValue(found.deals.p_value()) if found.few is None else found.few.p_value()


def summarise_contexts(rows: CodedRows | Margins) -> "partial[FeatureSummary]":
    """The function that summarises the contexts of a feature of these rows: (feature, contexts) to summary."""
    return partial(_summarise, rows, Kinds.of(rows.label_sizes()))


def summarise_stack(stack: Stack, values: Sequence[Kinds], labels: Kinds) -> list[FeatureSummary]:
    """The summaries of several features, from their contexts and the kinds of their values."""
    contexts = stack.contexts
    rows = contexts.sizes * contexts.times[contexts.owner]
    profiles = [RowProfile(contexts.pairs[own], contexts.changed[own], rows[own]) for own in stack.cells()]
    return list(
        map(
            FeatureSummary,
            profiles,
            EffectSums.of_stack(stack),
            DealMoments.of_stack(stack),
            DirectionSums.of_stack(stack, values, labels),
            FewDeals.of_stack(stack),
        )
    )


def _summarise(rows: CodedRows | Margins, labels: Kinds, feature: int, contexts: Contexts) -> FeatureSummary:
    found = summarise_stack(Stack.of([contexts]), [Kinds.of(rows.value_sizes(feature))], labels)[0]
    # Summaries of parts of a table are sent from machine to machine.
    return replace(found, profile=found.profile.compacted(), effect=found.effect.compacted())
