"""The explanation of the label: features that are each significant given the others.

**Contexts see what acts together, subtraction what adds up.** A feature is compared among rows that agree on the
features that it acts with and on the other members of the explanation, those first that say most about it, as long as
there are enough rows for each combination of values. Members for which there is no room are *subtracted*: the label of
a row less its prediction from them is a number, and that number is compared. So an explanation is never full. The
prediction is subtracted, too, if a held number is tied to the feature, because rows of one bin still differ in it.

**Search.** It begins with the features that the votes choose (``search``). Then the feature with the smallest p-value
given the explanation joins it, if that is significant among all features. If none is, all pairs of features are
screened on what the explanation leaves of the label, and a pair joins if one of the two is significant given the other,
among all pairs. Then members that are not significant given the others leave, one after the other, and others may join
again. Features that join and leave by turns stay, so every effect is a member, and nearly every member is an effect.
In the end pairs of members act together that are significant on what is left, and add to what is explained.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from analogical._types import Floats
from analogical.estimate.dependencies import explained_by_chance
from analogical.estimate.fit import Left
from analogical.estimate.status import LEVEL
from analogical.estimate.tests import adjust_for_features
from analogical.search import SCREENED_ROWS, Screened, screen_pairs

if TYPE_CHECKING:
    from analogical.study import Study

TIED = 2.0
"""A held number is tied to a feature if it explains more of it than this many times what chance would: then the
prediction from the members is subtracted, too, and for a feature outside the explanation the number is binned more
finely, if that explains so much more. On 24 tables of correlated numbers finer bins lowered the false discoveries from
.083 to .038. With subtraction, p of a number correlated .7 to .85 with a relevant one was at most .05 in .012 to .038
of the tables (without: .05 to .081), and .034 instead of .039 of the effects on 272 numbers by known rules were false,
.043 instead of .046 on 120 classes."""
MOST_TRIED = 60
"""Outside features tested as further members, those that would explain most: time on wide tables."""
MOST_MEMBERS = 20
"""Largest number of members: time."""
MOST_PAIRS = 4
"""Largest number of pairs found after the votes, and of pairs of members: time."""
ROUNDS = 2
"""Times that members join and leave: nearly always they stay after the first or second."""


@dataclass(frozen=True)
class GivenColumns:
    """What a feature is compared given."""

    columns: tuple[int, ...]
    """The columns on which compared rows agree."""
    same_as: int | None = None
    """The feature that it copies, if it does."""
    adjusted_for: tuple[int, ...] = ()
    """Further features, whose contribution is subtracted from the label."""
    terms: tuple[tuple[int, ...], ...] = ()
    """The terms of the fit that is subtracted, but for those with the feature itself; none if nothing is subtracted.

    All members are among them, so that what held numbers do within their bins is subtracted, too."""

    def item(self, feature: int) -> tuple[int, tuple[int, ...]]:
        """The feature with these columns, to be counted and tested."""
        return feature, tuple(sorted(self.columns))


class Explanation:
    """The explanation of the label of a study, found on its rows.

    Attributes
    ----------
    columns : list of int
        The members: features, or numbers in another number of bins. The one that adds most to those before it comes
        first; those that act together follow each other, and what they add is divided among them.
    parts : list of tuple of int
        Features that act together.
    """

    def __init__(self, study: "Study", n_rows: int) -> None:
        self.study, self.decider, self.n_rows = study, study.decider, n_rows
        self.columns = list(self.decider.decide())
        self._voted = list(self.columns)
        self.parts = sorted({tuple(sorted({f, *partners})) for f, partners in self.decider.partners.items()})
        for _ in range(ROUNDS):
            self._extend()
            if not self._prune():
                break
        else:
            self._extend(MOST_PAIRS)  # those that join and leave by turns are members
        # pairs are screened as if rows were independent
        if study.group_column is None and self._pair_members():
            self._extend(MOST_PAIRS)  # others may be significant given what is held now
        self._order()

    @property
    def features(self) -> list[int]:
        """The members as features."""
        return [self._own(column) for column in self.columns]

    def partners(self, feature: int) -> tuple[int, ...]:
        """The features that a feature acts with."""
        return tuple(sorted({f for part in self.parts if feature in part for f in part} - {feature}))

    def explained(self, n_members: int | None = None) -> float:
        """Share of the variance of the label that the members, or the first ones, explain; each row is left out."""
        return self.study.explained(self._left(self.features[:n_members]))

    def further(self, features: Iterable[int]) -> dict[int, float]:
        """About the share that each of some features would add to the members, the largest first."""
        return {f: share for (f,), share in self.study.further(self._left(self.features), ((f,) for f in features))}

    def given_of(self, feature: int) -> GivenColumns:
        """What a feature is compared given: partners, and members while there is room; the others are subtracted."""
        same_as = self.decider.original.get(feature, self.study.copied(feature, self.columns))
        if same_as is not None:
            return GivenColumns((), same_as)
        column_of = {self._own(column): column for column in self.columns}
        held = [column_of.get(partner, partner) for partner in self.partners(feature)]
        others = [column for f, column in column_of.items() if f != feature and column not in held]
        for column in sorted(others, key=lambda c: (round(self.study.entropy_left(feature, c), 9), self._rank(c))):
            if self._has_room([*held, column]):
                held.append(column)
        subtracted = tuple(sorted(self._own(column) for column in others if column not in held))
        if feature not in column_of and not subtracted:
            held = self._finer(feature, held)
        terms = self.terms() if subtracted or self._is_tied(feature, held) else ()
        return GivenColumns(tuple(held), None, subtracted, terms)

    def terms(self) -> tuple[tuple[int, ...], ...]:
        """What adds up to the label: the members, and those that act together."""
        return tuple(sorted([*((f,) for f in self.features), *self.parts]))

    def _left(self, features: Sequence[int]) -> Left:
        """What some of the members leave of the label."""
        return self.study.left(self.terms(), *(f for f in self.features if f not in features))

    def _own(self, column: int) -> int:
        """The feature of a column."""
        return int(self.study.owner[column])

    def _rank(self, column: int) -> int:
        """Rank of the feature of a column."""
        return int(self.study.rank[self._own(column)])

    def _has_room(self, columns: Sequence[int]) -> bool:
        """Whether there are enough rows, of all that are compared, for each combination of values."""
        n_values = self.decider.voting.rows.n_values[list(columns)].tolist()
        return self.decider.is_enough(math.prod(n_values), self.n_rows) or self.decider.has_room(columns)

    def _p_values(self, features: Iterable[int]) -> Floats:
        """P-values of some features given the explanation; 1 for the others that vary, NaN for constant ones."""
        p = np.full(self.study.n_features, math.nan)
        p[self.decider.varying] = 1.0
        given = {f: self.given_of(f) for f in features}
        p[[f for f, context in given.items() if context.same_as is not None]] = math.nan
        given = {f: context for f, context in given.items() if context.same_as is None}
        self.study.test(context.item(f) for f, context in given.items() if not context.terms)
        for f, context in given.items():
            p[f] = self.study.p_value(f, context)
        return p

    def _tried(self) -> list[int]:
        """The outside features that may join: those that predict best beside the members."""
        outside = [f for f in self.decider.varying if f not in self.features]
        if len(outside) <= MOST_TRIED:
            return outside
        return list(self.further(outside))[:MOST_TRIED]

    def _extend(self, n_pairs: int = 0) -> None:
        """Add features that are significant given the explanation, and pairs that are; so many pairs were added."""
        while len(self.columns) < MOST_MEMBERS:
            tried = self._tried()
            p = self._p_values(tried)
            p[self.features] = 0.0
            adjusted = adjust_for_features(p)
            new = [f for f in tried if adjusted[f] <= LEVEL]
            if new:
                self.columns.append(min(new, key=lambda f: (round(math.log(p[f]), 6), int(self.study.rank[f]))))
            elif n_pairs == MOST_PAIRS or not self._add_pair():
                return
            else:
                n_pairs += 1

    def _add_pair(self) -> bool:
        """Add the pair that explains most of what the explanation leaves of the label, if it is significant."""
        if self.columns == self._voted and not self.decider.has_refused:
            return False  # the votes have screened all pairs
        tried = [f for f in self.decider.screened[2] if self.study.copied(f, self.columns) is None]
        for part in self._screened(tried):
            self.parts.append(part)
            p = self._p_values(part)[list(part)]
            if np.nan_to_num(p, nan=1.0).min() <= LEVEL / math.comb(len(tried), 2):
                self.columns += [f for f in part if f not in self.features]
                return True
            self.parts.remove(part)
        return False

    def _pair_members(self) -> bool:
        """Let pairs of members act together that are significant and add to what is explained; whether any do."""
        n_parts = len(self.parts)
        for _ in range(MOST_PAIRS):
            explained = self.explained()
            for part in self._screened(self.features):
                self.parts.append(part)
                if self.explained() > explained:
                    break
                self.parts.remove(part)
            else:
                break
        return len(self.parts) > n_parts

    def _screened(self, tried: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """The pairs of some features that are significant on what is left of the label, most significant first."""
        for z, part in self.likely(tried):
            is_known = any({*part} <= {*known} for known in self.parts)
            if z >= NormalDist().inv_cdf(1 - LEVEL / math.comb(len(tried), 2)) and not is_known:
                yield part

    def likely(self, tried: Sequence[int]) -> list[Screened]:
        """The pairs of some features that explain most of what is left of the label, best first."""
        if len(tried) < 2:
            return []
        rows, left, scores = self.decider.voting.rows, self.study.left(self.terms()), self.study.scores
        some = self.study.some_rows(SCREENED_ROWS[2])
        # a number varies as two even classes, whatever its unit
        unit = 1.0 if scores.are_classes else 0.25 / (float(left.variance.mean()) or 1.0)
        weights = unit * rows.weights_or_ones()[some, None]
        residuals, variances = weights / math.sqrt(unit) * left.scores[some], weights * left.variance[some]
        pairs = screen_pairs(rows.codes[some][:, tried], rows.n_values[tried], residuals, variances)
        return [(z, tuple(sorted(tried[place] for place in places))) for z, places in pairs]

    def _order(self) -> None:
        """Put the member first that adds most, with those that it acts with, which share what they add; and so on."""
        column_of, order = {self._own(column): column for column in self.columns}, list[int]()
        left = [*self.parts, *((f,) for f in self.features if not self.partners(f))]
        while left:
            fit = self._left(order)
            best, _ = max(self.study.further(fit, left), key=lambda one: one[1] / len({*one[0]} - {*order}))
            order += [f for (f,), _ in self.study.further(fit, ((f,) for f in best if f not in order))]
            left = [term for term in left if not {*term} <= {*order}]
        self.columns = [column_of[f] for f in order]

    def _prune(self) -> bool:
        """Remove members that are not significant given the others, one after the other; whether there were any."""
        n_members, outside = len(self.columns), self._p_values(self._tried())
        while self.columns:
            p = self._p_values(self.features)
            p = adjust_for_features(np.where(p == 1.0, outside, p))
            leaving = [c for c in self.columns if not p[self._own(c)] <= LEVEL and not math.isnan(p[self._own(c)])]
            if not leaving:
                break
            worst = max(leaving, key=lambda c: (round(float(p[self._own(c)]), 6), self._rank(c)))
            self.columns.remove(worst)
            self.parts = [part for part in self.parts if self._own(worst) not in part]
        return len(self.columns) < n_members

    def _is_tied(self, feature: int, held: Iterable[int]) -> bool:
        """Whether a held number says more about a feature than chance would, so that rows of one bin differ in both."""
        rows, columns = self.decider.voting.rows, self.study.table.columns
        numbers = [column for column in held if columns[self._own(column)].edges is not None]
        chance = {c: explained_by_chance(rows, feature, int(rows.n_values[c])) for c in numbers}
        return any(1 - self.study.entropy_left(feature, c) > TIED * chance[c] for c in numbers)

    def _finer(self, feature: int, given: list[int]) -> list[int]:
        """The given columns, with finer bins for numbers that are tied to the feature, where there are enough rows.

        Otherwise the effect of a number within its bins would be attributed to a feature that is correlated with it.
        The number that explains most of the feature comes first.
        """
        rows, left = self.decider.voting.rows, {c: self.study.entropy_left(feature, c) for c in given}
        n_bins = rows.n_values
        for column in sorted(given, key=lambda c: (left[c], self._rank(c))):
            finer_ones = [c for c in self.decider.bins[self._own(column)] if n_bins[c] > n_bins[column]]
            for finer in sorted(finer_ones, key=lambda c: -int(n_bins[c])):
                more, fewer = (explained_by_chance(rows, feature, int(n_bins[c])) for c in (finer, column))
                is_tied = left[column] - self.study.entropy_left(feature, finer) > TIED * (more - fewer)
                changed = [finer if c == column else c for c in given]
                if is_tied and self.decider.has_room(changed):
                    given = changed
                    break
        return given
