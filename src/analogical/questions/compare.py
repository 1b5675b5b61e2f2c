"""Several methods on one table, side by side: scores, shares and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_whole, seed_from
from analogical._results import Result, entry_at, json_ready
from analogical._types import Floats, Ints, Note, Positions
from analogical.columns.roles import as_list
from analogical.columns.rules import ColumnOptions
from analogical.count.groups import CodedRows
from analogical.questions.relevance import relevance
from analogical.rivals import MAX_ROWS, METHODS, METHODS_OF_NUMBERS, Method, choose_methods, normalise
from analogical.study import study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Scores of every feature by several methods, in column order.

    ``comparison["sex"]`` is one feature as a dictionary, ``len(comparison)`` the number of features.

    Attributes
    ----------
    names, label, notes
        As in :class:`analogical.Relevance`.
    methods : tuple of Method
        The methods.
    scale : str
        How labels were compared, as in :class:`analogical.Settings`.
    scores, shares : dict of str to ndarray
        By name of the method: its score, and the score as a share of the sum (negative ones count as 0).
        NaN where the method has no evidence.
    ranks : dict of str to ndarray of int
        By name of the method: 1 for the best; equal scores share the better rank, and features without
        evidence the last. Those of ``"effect"`` are the places in :meth:`analogical.Relevance.ranking`.
    n_rows, max_rows, seed
        Rows of the table, maximum number of rows for slow methods, and the seed of that sample (and of the forest).
    sampled : tuple of str
        Names of the methods that used a sample of the rows.
    left_out : tuple of str
        Names of the methods that were not run, because they would take more than a few seconds and were not named.

    Examples
    --------
    >>> from analogical import compare, load_table
    >>> result = compare(load_table("titanic").to_frame(), "survived", weights="count", methods=["effect", "mi"])
    >>> result.names, result.ranks["effect"].tolist(), result.ranks["mi"].tolist()
    (('class', 'sex', 'age'), [3, 1, 2], [2, 1, 3])
    """

    names: tuple[str, ...]
    label: str
    methods: tuple[Method, ...]
    scores: dict[str, Floats]
    ranks: dict[str, Ints]
    n_rows: int
    max_rows: int
    seed: int | None
    sampled: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    scale: str = "classes"
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.record(entry_at(name, self.names, "feature"))

    @cached_property
    def shares(self) -> dict[str, Floats]:
        """Scores as shares of their sum."""
        return {name: normalise(scores) for name, scores in self.scores.items()}

    def order(self) -> Positions:
        """Positions of the features by their rank in the first method, ties by the next one, then in column order."""
        return np.lexsort([self.ranks[method.name] for method in reversed(self.methods)])

    def plot(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw the scores of several methods side by side, all in the order of the first one.

        One column per method and one row per feature. A bar is the score as a share of the method's highest one, the
        number beside it the rank; the best feature of each method is orange, a dash means no evidence. At most ``top``
        features are shown, and never more than 20. Without ``ax``, a new figure is made.
        """
        from analogical.plot.figures import plot_comparison

        return plot_comparison(self, ax, top=top)

    def record(self, position: int) -> dict[str, Any]:
        """One feature, with a dictionary of score, share and rank for each method; None where there is no evidence."""
        numbers: dict[str, dict[str, Any]] = {"score": self.scores, "share": self.shares, "rank": self.ranks}
        by_method = {m.name: {k: json_ready(of[m.name][position]) for k, of in numbers.items()} for m in self.methods}
        return {"name": self.names[position], **by_method}

    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns of ``to_frame``."""
        return ("name", *(f"{m.name}_{what}" for m in self.methods for what in ("score", "share", "rank")))

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best of the first method first, with score, share and rank by each method."""
        features = super().records()
        cells = [[of["name"], *(n for m in self.methods for n in of[m.name].values())] for of in features]
        return [dict(zip(self.columns(), row, strict=True)) for row in cells]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; the features in column order, None where there is no evidence."""
        content = super().to_dict()
        del content["names"], content["scores"], content["ranks"]  # they are in the features
        content["methods"] = [{"name": m.name, "title": m.title, "about": m.about} for m in self.methods]
        return content | {"features": [self.record(i) for i in range(len(self))]}


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[str] | None = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    **columns: Unpack[ColumnOptions],
) -> Comparison:
    """Score a table by several methods, side by side.

    Parameters
    ----------
    X, y
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    methods : sequence of str, optional
        Names from ``analogical.rivals.METHODS``, or ``METHODS_OF_NUMBERS`` for a label that is a number or has classes
        in order: ``"effect"``, ``"f"`` (analysis of variance), ``"mi"``, ``"forest"``, ``"permutation"``,
        ``"relieff"`` (RReliefF). If not given, all that are installed and take a few seconds at most on a table of this
        size; ``left_out`` names the others.
    max_rows : int
        Maximum number of rows, drawn at random, for slow methods: the random forest, alone and with permutations, and
        Relief and ReliefF, which compare all rows with each other. The result says so.
    random_state : int, RandomState or None
        Seed of that sample and of the forest.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups``. Rows with a weight are repeated that often.

    Returns
    -------
    Comparison
        Scores, shares and ranks by method.

    Notes
    -----
    ``"effect"`` is :func:`analogical.relevance` with its defaults: its score is the effect, its ranks are those of
    :meth:`analogical.Relevance.ranking`, which puts effects before larger ones that are unclear. ``"ari"`` is the
    paper's exact index.

    The scores of different methods have different scales and mean different things; compare their ranks, and
    how a method's shares are spread. χ² and MI score one feature at a time and cannot detect an interaction.

    Examples
    --------
    The exclusive or of two features, about which no single feature is informative:

    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> from analogical import compare
    >>> result = compare(rows, [a ^ b for a, b, c in rows], methods=["ari", "chi2"])
    >>> result.ranks["ari"].tolist(), result.ranks["chi2"].tolist()
    ([1, 1, 3], [1, 1, 1])
    """
    max_rows, seed = check_whole("max_rows", max_rows, low=2), seed_from(random_state)
    names = None if methods is None else as_list(methods, "methods")
    study = study_of(compare, X, y, columns, without=("groups",), needs_rows=True)
    chosen = choose_methods(names, METHODS if study.scale is None else METHODS_OF_NUMBERS)
    table, rows, left_out = study.table, study.rows, list[str]()
    if methods is None:
        n_rows, chosen = min(rows.n_rows, max_rows), tuple(method for method in chosen if method.is_available)
        left_out = [method.name for method in chosen if method.seconds(n_rows, rows.n_features) > 5]
        chosen = tuple(method for method in chosen if method.name not in left_out)
    scores, ranks = {}, {}
    for method in chosen:
        rng = np.random.default_rng(seed)
        if method.score is None:
            ours = relevance(study)
            scores[method.name], ranks[method.name] = ours.effect, np.argsort(ours.order()) + 1
            continue
        drawn = _draw(rows, max_rows, rng) if method.is_slow else rows
        labels = drawn.labels if study.scale is None else study.label_scores[drawn.labels, 0]
        scores[method.name] = method(drawn.codes, labels, rng, drawn.weights)
        # 1 for the best; scores that are equal up to rounding share the better rank, NaN comes last
        keys = np.where(np.isnan(scores[method.name]), -np.inf, np.round(scores[method.name], 12))
        ranks[method.name] = len(keys) - np.searchsorted(np.sort(keys), keys, side="right") + 1
    return Comparison(
        names=table.names,
        label=table.label,
        methods=chosen,
        scores=scores,
        ranks=ranks,
        n_rows=rows.n_rows,
        max_rows=max_rows,
        seed=seed,
        sampled=tuple(method.name for method in chosen if method.is_slow and rows.n_rows > max_rows),
        left_out=tuple(left_out),
        notes=study.notes,
        scale="classes" if study.scale is None else study.scale.kind,
        backend=table.backend,
    )


def _draw(rows: CodedRows, max_rows: int, rng: np.random.Generator) -> CodedRows:
    """A random sample of at most ``max_rows`` rows, in order; a row with a weight is repeated as often."""
    drawn = np.arange(rows.n_rows)
    if rows.n_rows > max_rows:
        drawn = np.sort(rng.choice(rows.n_rows, max_rows, replace=False, shuffle=False))
    if rows.weights is not None:
        drawn = np.searchsorted(np.cumsum(rows.weights), drawn, side="right")
    return rows.weighted(None).take(drawn)
