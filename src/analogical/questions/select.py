"""The features that predict the label best together, in the order selected."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_whole
from analogical._results import Result, entry_at, per_entry
from analogical._types import Floats, Note
from analogical.columns.rules import ColumnOptions
from analogical.search import Step, Why
from analogical.study import Duplicates, Study, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Carried", "Selection", "select"]


@dataclass(frozen=True)
class Carried:
    """A feature that was left out because selected ones carry the same information.

    Examples
    --------
    >>> from analogical import select
    >>> rows = [[0, 0, 1], [0, 0, 2], [1, 1, 1], [1, 1, 2]] * 25
    >>> (left_out,) = select(rows, [0, 0, 1, 1] * 25).carried
    >>> left_out.feature, left_out.by
    ('x1', ('x0',))
    """

    feature: str
    alone: float
    """Log-likelihood gain as the only feature."""
    further: float
    """Log-likelihood gain over the selected features: below the threshold."""
    by: tuple[str, ...]
    """The selected feature to which it adds least, or all selected ones if no single one is enough."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Selection(Result):
    """Features that predict the label best together, in the order selected.

    ``selection["age"]`` is one selected feature as a dictionary, ``len(selection)`` the number selected.

    The main fields, with one item per selected feature:

    - ``features``: their names, in order
    - ``gain``, ``explained``: log-likelihood gain over those before; share of the label's uncertainty explained so far
    - ``why``: ``"gain"``, ``"interaction"``, ``"significant"`` or ``"next"``

    Examples
    --------
    >>> from analogical import load_table, select
    >>> result = select(load_table("monks-1").to_frame(), "class", weights="count")
    >>> result.features
    ('jacket_color', 'body_shape', 'head_shape')
    """

    ENTRIES = "features"

    features: tuple[str, ...] = per_entry("feature")
    """The selected features, in order; without ``k`` the deciding set of :func:`analogical.relevance`."""
    gain: Floats = per_entry()
    """Log-likelihood gain of each over those before it, in nats, each row predicted from the other rows. Negative if
    the prediction gets worse."""
    explained: Floats = per_entry()
    """Share of the uncertainty of the label that the features up to this one explain, 0 to 1. Features that come
    ``"next"`` do not count."""
    why: tuple[Why, ...] = per_entry()
    """``"gain"`` (it gains at least ``need``), ``"interaction"`` (it does so only together with its ``partners``),
    ``"significant"`` (it gains less, but is significant given the others) or ``"next"`` (neither; of the features left
    it gains most)."""
    partners: tuple[tuple[str, ...], ...] = per_entry()
    """For each selected feature those that it interacts with, selected or not."""
    stop: int
    """Size of the deciding set: where the selection stops without ``k``."""
    need: float
    """The threshold for a gain: 2 ln(number of features that vary, at least 10)."""
    next_feature: str | None
    """The next feature of the deciding set, or else the one with the largest gain; None if all were selected."""
    next_gain: float | None
    carried: tuple[Carried, ...]
    """Features that predict the label alone and gain less than ``need`` over the selected ones."""
    k: int | None
    """The number requested; None if the selection stopped by itself."""
    names: tuple[str, ...]
    """All candidate features."""
    label: str
    classes: tuple[Hashable, ...]
    n_classes: int
    """Number of classes after rare ones were merged."""
    n_rows: int
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.record(entry_at(name, self.features, "chosen feature"))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw what each selected feature adds to those before it, in the order selected.

        A bar is the share of the uncertainty of the label that the feature adds: blue where its gain reaches the
        threshold, orange for features that act together, dark grey where the feature is significant only, light grey
        where it gains too little. On the right is the share explained so far.
        """
        from analogical.plot.figures import plot_selection

        return plot_selection(self, ax)


def select(
    X: Any,
    y: Any = None,
    k: int | None = None,
    *,
    duplicates: Duplicates = "count",
    n_jobs: int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Selection:
    """Select the features that predict the label best together.

    The best features of a ranking may be redundant. Here each row is predicted by the votes of the other rows that
    agree with it on the selected features.

    Parameters
    ----------
    X, y, duplicates, n_jobs
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``. Assumes independent rows.
    k : int, optional
        Number of features: the first ones of the deciding set and, if it has fewer, those that come next. By default
        the deciding set, which may be empty.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups``.

    Returns
    -------
    Selection
        The features in the order selected, their gains, where the selection stops by itself, and what was left out
        because selected features carry the same information.

    Notes
    -----
    A feature must gain 2 ln(n), n being the number of features (at least 10): few do so by chance. If no single feature
    does, two or three are tried together. Then a member that gains little over the others is removed, an outside
    feature that predicts better replaces a member, features and pairs that are significant given the set are added, and
    members that are not are removed. So the set is what :func:`analogical.relevance` uses, whatever the gains.

    With ``k``, members come in the order of their gains. If ``k`` separates features that act only together, the first
    of them is selected without its partners, and ``next_feature`` names the next one. After the deciding set come
    the features left, those with the largest gain first, copies of selected ones last.

    The set is searched on at most 20,000 rows, greedily. The cost is one count of these rows for each
    feature and step, and a matrix product of all values to screen pairs: in 1,500 rows half a minute at 11,000 features
    of three values. Of more features, and of more than about seventy for sets of three, those with the largest gain
    alone are tried, and a note says how many.

    Examples
    --------
    The label of this table is 1 if the jacket is red, or if head and body have the same shape:

    >>> from analogical import load_table, select
    >>> monks = load_table("monks-1").to_frame("pandas").drop(columns="count")
    >>> select(monks, "class")
    3 of 6 features explain 88.3 % of 'class' together.
    feature                    adds  explained          why
    jacket_color             29.9 %     29.9 %  █▊      adds most
    body_shape × head_shape  58.5 %     88.3 %  █████▎  act together
    No other feature adds more than chance would, or is significant; the next is
    is_smiling.
    432 rows, 6 features.
    """
    if k is not None:
        k = check_whole("k", k, low=1, other=", or None for the deciding set")
    study = study_of(select, X, y, columns, without=("groups",), duplicates=duplicates, n_jobs=n_jobs)
    table, decider = study.table, study.decider
    deciding = study.explanation.steps()
    chosen = deciding if k is None else deciding[:k]
    if k is not None:
        chosen += _next_steps(study, chosen, min(k, study.n_features) - len(chosen))
    voters = [step.column for step in chosen if step.why != "next"]
    inside = {int(study.owner[step.column]) for step in chosen}
    gains = {f: gain for f, gain in _gains_over(study, voters).items() if f not in inside}
    next_feature = _best(gains) if gains else None
    next_gain = None if next_feature is None else gains[next_feature]
    if len(chosen) < len(deciding):
        next_feature, next_gain = int(study.owner[deciding[len(chosen)].column]), deciding[len(chosen)].gain
    return Selection(
        features=study.names_of([step.column for step in chosen]),
        gain=np.array([step.gain for step in chosen], dtype=np.float64),
        explained=np.array([1 - step.value / decider.voting.start.value for step in chosen], dtype=np.float64),
        why=tuple(step.why for step in chosen),
        partners=tuple(study.names_of(step.partners) for step in chosen),
        stop=len(deciding),
        need=decider.need,
        next_feature=study.name_of(next_feature),
        next_gain=next_gain,
        carried=_carried(study, voters, gains),
        k=k,
        names=table.names,
        label=table.label,
        classes=table.classes,
        n_classes=decider.voting.rows.n_labels,
        n_rows=study.n_rows,
        notes=study.search_notes,
        backend=table.backend,
    )


def _next_steps(study: Study, chosen: Sequence[Step], n_wanted: int) -> list[Step]:
    """The next features: those that gain enough, the others by gain, then copies, then constant features."""
    steps = list[Step]()
    members = [step.column for step in chosen]
    gains = _gains_over(study, members)
    while len(steps) < n_wanted and max(gains.values(), default=-np.inf) >= study.decider.need:
        members.append(_best(gains))
        steps.append(_last_step(study, members, "gain"))
        gains = _gains_over(study, members)
    taken, copies = list[int](), list[int]()
    for feature in sorted(gains, key=lambda f: (-round(gains[f], 6), int(study.rank[f]))):
        if len(taken) == n_wanted - len(steps):
            break
        is_copy = study.copied(feature, [*members, *taken]) is not None
        (copies if is_copy else taken).append(feature)
    constant = sorted(set(range(study.n_features)) - set(_varying(study)))
    value = study.decider.voting.follow(members, study.explanation.together).value
    left = [Step(f, gains.get(f, 0.0), value, "next") for f in [*taken, *copies, *constant]]
    return [*steps, *left][:n_wanted]


def _last_step(study: Study, members: Sequence[int], why: Why) -> Step:
    """The last member, with its gain over those before it."""
    before, after = (study.decider.voting.follow(m, study.explanation.together).value for m in (members[:-1], members))
    return Step(members[-1], after - before, after, why)


def _gains_over(study: Study, members: Sequence[int]) -> dict[int, float]:
    """The gain of every other feature over the members, in column order; 0 for a copy of a member."""
    voting, need = study.decider.voting, study.decider.need
    inside = {int(study.owner[c]) for c in members}
    outside = [f for f in _varying(study) if f not in inside]
    gains = voting.gains(voting.follow(members, study.explanation.together), outside)
    return {
        f: 0.0 if gain >= need and study.copied(f, members) is not None else gain for f, gain in sorted(gains.items())
    }


def _varying(study: Study) -> list[int]:
    """Features of more than one value; copies too, which the search leaves out."""
    return np.flatnonzero(study.decider.voting.varies[: study.n_features]).tolist()


def _best(gains: dict[int, float]) -> int:
    """The feature with the largest gain; ties, up to rounding, go to the earlier column."""
    return max(gains, key=lambda f: round(gains[f], 6))


def _carried(study: Study, voters: Sequence[int], gains: dict[int, float]) -> tuple[Carried, ...]:
    """Features that predict the label alone and gain too little over the chosen ones, with those that carry them."""
    decider, names = study.decider, study.table.names
    copies = [f for f in gains if f not in decider.alone]
    alone = {**decider.alone, **decider.voting.gains(decider.voting.start, copies)}
    features = [f for f in gains if alone[f] >= decider.need > gains[f]]
    if not features or not voters:
        return ()
    gains_over = {c: _gains_over(study, [c]) for c in voters}
    carried = []
    for feature in features:
        closest = min(voters, key=lambda c: round(gains_over[c][feature], 6))
        by = [closest] if gains_over[closest][feature] < decider.need else voters
        carried.append(Carried(names[feature], alone[feature], gains[feature], study.names_of(by)))
    return tuple(carried)
