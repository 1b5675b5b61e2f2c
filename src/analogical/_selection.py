"""The features that predict the label best together, in the order chosen."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_whole, seed_from
from analogical._progress import progress_line
from analogical._relevance import Duplicates, relevance_of
from analogical._results import Result, entry_at, json_ready
from analogical._types import Floats, Note
from analogical.counting.groups import collapse_rows
from analogical.encoding.binning import Bins
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.scoring.attribution import AttributionMethod
from analogical.scoring.radius import Radius
from analogical.scoring.together import Index, Together, Why, choose_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Carried", "Selection", "select", "select_of"]

CONFIDENCE = 0.99
"""What the index must tell from noise at this level to be kept without ``k``, so that shuffled labels keep nothing in
about 99 of 100 tables."""


@dataclass(frozen=True)
class Carried:
    """A feature that was left out because chosen ones carry the same information.

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
    """Nats that it adds to nothing."""
    further: float
    """Nats that it would add to the chosen features: too few."""
    by: tuple[str, ...]
    """The chosen feature that carries its information, or all chosen ones if no single one does."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result):
    """Features that predict the label best together, in the order chosen.

    ``selection["age"]`` is one chosen feature as a dictionary, ``len(selection)`` how many were chosen.

    Attributes
    ----------
    features : tuple of str
        The chosen features, in the order chosen.
    gain : ndarray of float
        What each added to those before it: the rise of the log-likelihood of the labels in nats, every row predicted
        without itself. Below 0 if it made the prediction worse.
    explained : ndarray of float
        How much of the uncertainty of the label the features up to this one explain: 0 for nothing, 1 if the
        labels are predicted with certainty. Features taken by the index do not count until they are part of an
        interaction.
    why : tuple of str
        ``"gain"`` (it adds at least ``need``), ``"interaction"`` (it does so together with its ``partners``, and hardly
        without them) or ``"index"`` (nothing adds that much; it is the next one in the order of
        :func:`analogical.relevance`).
    partners : tuple of tuples of str
        For each chosen feature the ones that it acts together with.
    stop : int or None
        After how many features no other single one earned its keep; None if the next one still does.
    need : float
        Nats that a feature must add to earn its keep: 2 ln(number of features that vary, at least 10).
    next_feature, next_gain : str and float, or None
        The feature that would add most to the chosen ones, and what; None if all were chosen.
    carried : tuple of Carried
        Features that tell something alone, but nothing more beside the chosen ones.
    k : int or None
        How many were asked for; None if the selection stopped by itself.
    names : tuple of str
        All features to choose from.
    label, classes, n_rows, notes
        As in :class:`analogical.Relevance`.
    n_classes : int
        Classes that voted: fewer than there are if rare ones were taken together.

    Examples
    --------
    >>> from analogical import load_table, select
    >>> found = select(load_table("monks-1").to_frame(), "class", weights="count")
    >>> found.features
    ('jacket_color', 'head_shape', 'body_shape')
    """

    features: tuple[str, ...]
    gain: Floats
    explained: Floats
    why: tuple[Why, ...]
    partners: tuple[tuple[str, ...], ...]
    stop: int | None
    need: float
    next_feature: str | None
    next_gain: float | None
    carried: tuple[Carried, ...]
    k: int | None
    names: tuple[str, ...]
    label: str
    classes: tuple[Hashable, ...]
    n_classes: int
    n_rows: int
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._record(entry_at(name, self.features, "chosen feature"))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """What each chosen feature added; see :func:`analogical.plotting.plot_selection`."""
        from analogical.plotting import plot_selection

        return plot_selection(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per chosen feature, in the order chosen."""
        return [self._record(i) for i in range(len(self.features))]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        rest = ("stop", "need", "next_feature", "next_gain", "carried", "k", "names", "n_classes")
        return {
            "label": self.label,
            "classes": json_ready(self.classes),
            "n_rows": self.n_rows,
            "notes": json_ready(self.notes),
            **{name: json_ready(getattr(self, name)) for name in rest},
            "features": self.records(),
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("feature", "gain", "explained", "why", "partners")

    def _record(self, i: int) -> dict[str, Any]:
        return {
            "feature": self.features[i],
            "gain": json_ready(self.gain[i]),
            "explained": json_ready(self.explained[i]),
            "why": self.why[i],
            "partners": list(self.partners[i]),
        }


def select(
    X: Any,
    y: Any,
    k: int | None = None,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    missing: Missing = "value",
    bins: Bins = 5,
    max_values: int | None = 20,
    ids: Ids = "drop",
    bin_label: int | None = None,
    random_state: Any = 0,
    progress: bool = False,
    feature_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Selection:
    """Choose the k features that predict the label best together.

    A ranking says which features matter, all else equal; the best few of it may say the same thing. This function asks
    another question: which features *together* predict the label best? It chooses one after the other. Rows that
    agree on the chosen features vote on the label of each other, every row is predicted without itself, and the
    feature that improves the prediction most comes next. Where no single feature does, pairs are tried, and then the
    order of :func:`analogical.relevance` decides, so features that act only together are found as well.

    Parameters
    ----------
    X, y, weights, features, ignore, missing, bins, max_values, ids, bin_label, feature_names, n_jobs
        As in :func:`analogical.relevance`. Rows are taken as independent.
    k : int, optional
        How many features to choose. If not given, the selection stops when nothing earns its keep and the index tells
        nothing else from noise (adjusted p at most 0.01); it may then be empty.
    random_state : int, RandomState or None
        Seed of the samples of pairs that the index draws on large tables.
    progress : bool
        Show on stderr how far long work is.

    Returns
    -------
    Selection
        The features in the order chosen, what each added and why, where it would have stopped, and which features were
        left out because a chosen one carries the same information.

    Notes
    -----
    A feature earns its keep if it adds 2 ln(n) nats, n being the number of features (at least 10): what luck alone adds
    hardly ever does.
    The first k features of a larger selection are mostly, but not always, the selection of k: two features that act
    only together are not chosen where there is room for one. The cost is one count of the rows for each feature and
    step, plus the index where it is needed. Greedy choice is not a search of all subsets.

    Examples
    --------
    The label of this table is 1 if the jacket is red, or if head and body have the same shape:

    >>> from analogical import load_table, select
    >>> monks = load_table("monks-1").to_frame("pandas").drop(columns="count")
    >>> select(monks, "class")
    Selection of 3 of 6 features for 'class' (2 classes), 432 rows
       feature       adds (nats)  explained  why
    1  jacket_color         89.7     29.9 %  adds most
    2  head_shape           -6.0     27.9 %  an interaction with body_shape
    3  body_shape            182     88.3 %  an interaction with head_shape
    Nothing else adds 4.6 nats: is_smiling would add 0.0.
    <BLANKLINE>
    A feature adds what the log-likelihood of the labels rises by, every row
    predicted by the others.
    """
    if k is not None:
        k = check_whole("k", k, low=1, other=", or None to stop where nothing more earns its keep")
    table = encode_table(
        X,
        y,
        weights=weights,
        features=features,
        ignore=ignore,
        treatment=Treatment.of(missing, bins, max_values, ids, bin_label),
        feature_names=feature_names,
    )
    return select_of(table, MemoryEngine(n_jobs), k, seed=seed_from(random_state), progress=progress, n_jobs=n_jobs)


def select_of(
    table: EncodedTable,
    engine: MemoryEngine,
    k: int | None,
    *,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    noise_free: bool = False,
    seed: int | None = 0,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Selection:
    """The road after encoding: votes, the index where they do not decide, and names."""

    def ask_index() -> Index:
        result = relevance_of(
            table,
            engine,
            radius=radius,
            attribution=attribution,
            duplicates=duplicates,
            noise_free=noise_free,
            confidence=CONFIDENCE if k is None else None,  # whether a feature is told from noise matters without k only
            seed=seed,
            progress=progress,
        )
        return Index(result.order(), np.array([status == "effect" for status in result.status]))

    rows = collapse_rows(table.coded) if duplicates == "once" else table.coded
    show = progress_line("choosing features") if progress else None
    return _named(table, choose_together(rows, k, ask_index, n_jobs=n_jobs, progress=show), k)


def _named(table: EncodedTable, found: Together, k: int | None) -> Selection:
    """What was chosen, by name."""
    names, steps = table.names, found.steps
    further = np.round(found.further, 6)  # ties go to the earlier column
    best = None if np.isnan(further).all() else int(np.nanargmax(further))
    return Selection(
        features=tuple(names[step.feature] for step in steps),
        gain=np.array([step.gain for step in steps], dtype=np.float64),
        explained=np.array([1 - step.value / found.log_likelihood for step in steps], dtype=np.float64),
        why=tuple(step.why for step in steps),
        partners=tuple(tuple(names[f] for f in step.partners) for step in steps),
        stop=found.stop,
        need=found.need,
        next_feature=None if best is None else names[best],
        next_gain=None if best is None else float(further[best]),
        carried=tuple(
            Carried(names[f], float(found.alone[f]), float(found.further[f]), tuple(names[j] for j in by))
            for f, by in enumerate(found.carried_by)
            if by
        ),
        k=k,
        names=names,
        label=table.label,
        classes=table.classes,
        n_classes=found.n_classes,
        n_rows=table.coded.n_rows,
        notes=table.notes,
        backend=table.backend,
    )
