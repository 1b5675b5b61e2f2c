"""The features that predict the label best together, in the order selected."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np

from analogical._checks import check_whole
from analogical._results import Result, entry_at, per_entry
from analogical._types import Floats, Note
from analogical.columns.rules import ColumnOptions
from analogical.study import Duplicates, Study, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Why: TypeAlias = Literal["gain", "interaction", "significant", "next"]
"""Why a feature was selected: what it adds, alone or together with partners, its p-value, or because it comes next."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Selection(Result):
    """Features that predict the label best together, in the order selected.

    ``selection["age"]`` is one selected feature as a dictionary, ``len(selection)`` the number selected.

    The main fields, with one item per selected feature:

    - ``features``: their names, in order
    - ``adds``, ``explained``: share of the variance of the label that it adds to those before; share explained so far
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
    adds: Floats = per_entry()
    """Share of the variance of the label that each explains beyond those before it, each row left out of the fit.
    Negative if the prediction gets worse. Of features that come ``"next"`` about what each would add as the only one of
    them."""
    explained: Floats = per_entry()
    """Share of the variance of the label that the features up to this one explain; those that come ``"next"`` do not
    count."""
    why: tuple[Why, ...] = per_entry()
    """``"gain"`` (of the members left it adds most), ``"interaction"`` (together with its ``partners``),
    ``"significant"`` (it is significant given the others, but adds nothing to the prediction) or ``"next"`` (it is not
    in the deciding set)."""
    partners: tuple[tuple[str, ...], ...] = per_entry()
    """For each selected feature those that it interacts with, selected or not."""
    stop: int
    """Size of the deciding set: where the selection stops without ``k``."""
    next_feature: str | None
    """The next feature of the deciding set, or else the one that would add most; None if all were selected."""
    k: int | None
    """The number requested; None if the selection stopped by itself."""
    names: tuple[str, ...]
    """All candidate features."""
    label: str
    classes: tuple[Hashable, ...]
    n_rows: int
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.record(entry_at(name, self.features, "chosen feature"))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw what each selected feature adds to those before it, in the order selected.

        A bar is the share of the variance of the label that the feature adds: blue for a member of the deciding set,
        orange for members that act together, light grey for features that come next. A member without a bar is
        significant only. On the right is the share explained so far.
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

    The best features of a ranking may be redundant. Here each one counts for what it adds to the prediction by those
    before it.

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
        The features in the order selected, what each adds, and where the selection stops by itself.

    Notes
    -----
    Without ``k`` it is the set that :func:`analogical.relevance` uses: features that are each significant given the
    others. The label is predicted by an additive fit of the members, with a coefficient for every combination of values
    of members that act together, and each row is left out of its own prediction. The member that adds most comes first;
    what members add that act together is divided among them.

    If ``k`` separates features that act only together, the first of them is selected without its partners, and
    ``next_feature`` names the next one. After the deciding set come the features left: those first that would explain
    most of what it leaves, copies of selected ones last.

    The set is searched on at most 20,000 rows, greedily, and what is explained is that of these rows. The cost is one
    count of these rows for each feature and step, and a matrix product of all values to screen pairs: in 1,500 rows
    half a minute at 11,000 features of three values. Of more features, and of more than about seventy for sets of
    three, those with the largest gain alone are tried, and a note says how many.

    Examples
    --------
    The label of this table is 1 if the jacket is red, or if head and body have the same shape:

    >>> from analogical import load_table, select
    >>> monks = load_table("monks-1").to_frame("pandas").drop(columns="count")
    >>> select(monks, "class")
    3 of 6 features explain 99.8 % of 'class' together.
    feature                    adds  explained          why
    jacket_color             32.4 %     32.4 %  ██      adds most
    body_shape × head_shape  67.4 %     99.8 %  ██████  act together
    No other feature is significant given these; the next is has_tie.
    432 rows, 6 features.
    """
    if k is not None:
        k = check_whole("k", k, low=1, other=", or None for the deciding set")
    study = study_of(select, X, y, columns, without=("groups",), duplicates=duplicates, n_jobs=n_jobs)
    table, explanation = study.table, study.explanation
    members = explanation.features[:k]
    rest = chain(((feature, 0.0) for feature in explanation.features[len(members) :]), _following(study))
    following = list(islice(rest, max(0, (k or 0) - len(members))))
    explained = np.array([explanation.explained(n) for n in range(len(members) + 1)])
    adds, partners, why = np.diff(explained), list(map(explanation.partners, members)), list[Why]()
    for share, with_it in zip(adds, partners, strict=True):
        why.append("interaction" if with_it else "gain" if share > 0 else "significant")
    why.extend(["next"] * len(following))
    return Selection(
        features=study.names_of([*members, *(feature for feature, _ in following)]),
        adds=np.array([*adds, *(share for _, share in following)]),
        explained=np.array([*explained[1:], *(explained[-1] for _ in following)]),
        why=tuple(why),
        partners=(*map(study.names_of, partners), *[()] * len(following)),
        stop=len(explanation.columns),
        next_feature=study.name_of(next(rest, (None, 0.0))[0]),
        k=k,
        names=table.names,
        label=table.label,
        classes=table.classes,
        n_rows=study.n_rows,
        notes=study.search_notes,
        backend=table.backend,
    )


def _following(study: Study) -> Iterator[tuple[int, float]]:
    """The features outside the deciding set with what each would add, largest first; then copies, then constants."""
    explanation, varies = study.explanation, study.decider.voting.varies
    outside = [f for f in range(study.n_features) if f not in explanation.features]
    taken, copies = list(explanation.columns), list[int]()
    for feature, share in explanation.further(f for f in outside if varies[f]).items():
        if study.copied(feature, taken) is None:
            taken.append(feature)
            yield feature, share
        else:
            copies.append(feature)
    constant = sorted((f for f in outside if not varies[f]), key=lambda f: int(study.rank[f]))
    yield from ((feature, 0.0) for feature in [*copies, *constant])
