"""A report on a table: which features have an effect, given which others, and the rows behind it."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from analogical._checks import check_confidence, check_whole
from analogical._progress import timed
from analogical._results import Result, entry_at, json_ready
from analogical._types import Floats, Ints, Note
from analogical.arguments import study_of
from analogical.columns.rules import ColumnOptions, asked_of, written_call
from analogical.count.groups import count_cells
from analogical.estimate.differences import crude_difference
from analogical.questions.audit import Audit, audit
from analogical.questions.compared import ComparedRows, ExampleRows
from analogical.questions.evidence import Transition, list_transitions, name_pairs
from analogical.questions.interactions import Interaction, Interactions, find_features, interactions
from analogical.questions.redundancies import Redundancies, redundancies
from analogical.questions.relevance import DEFAULT_CONFIDENCE, Relevance, relevance
from analogical.questions.select import Selection, select
from analogical.study import Given, Study

__all__ = ["Answer", "Doubt", "Panel", "Report", "Turn", "ValueRows", "WhyTurned", "has_part", "report"]

MAX_PAIRED_VALUES = 32
"""Features with more values are not paired: testing them takes long, and a grid of them cannot be read."""
MAX_TOGETHER = 6
"""Pairs of features that are shown value by value."""
MAX_VALUES = 12
"""Values of a feature whose label shares are kept, the most frequent ones."""
MAX_CLASSES = 6
"""Classes whose shares are kept, the most frequent ones."""
MAX_LISTED_VALUES = 64
"""Features with more values have no list of transitions."""
MAX_TRANSITIONS = 12
"""Transitions of a feature that are kept, the largest ones."""
FEW_COLUMNS = 60
"""Columns up to which dependencies on two columns are searched."""
HALF = 0.5
"""Share of the rows that at least half of the features with a panel should compare."""

Answer = Literal["yes", "partly", "no"]
"""Whether a table can say which features have an effect."""
Doubt = Literal["unclear", "stand-ins", "copies", "few-compared", "leak"]
"""Why a table answers only partly: the status of some features is unclear; other features would do nearly as well in
the deciding set; some are copies; most features compare less than half of the rows; a column may be the label under
another name."""
WhyTurned = Literal["explained", "together", "hidden"]
"""Why a feature is significant only alone, or only given others: the others explain what it shows alone; it acts
together with others; or the others hide its effect over all rows."""


@dataclass(frozen=True)
class ValueRows:
    """Rows of the whole table that have one value of a feature."""

    value: Any
    n_rows: int
    by_class: tuple[int, ...]
    """Rows by class, of ``Report.shown_classes``."""


@dataclass(frozen=True)
class Panel:
    """What the page shows about one feature."""

    feature: str
    values: tuple[ValueRows, ...]
    n_values: int
    crude: float
    """The difference of ``Relevance.points`` between all rows of the two values, in points; NaN without points."""
    n_compared: int
    """Rows that are in at least one pair."""
    transitions: tuple[Transition, ...]
    """The largest ones first."""
    n_transitions: int
    changed_pair: ExampleRows | None
    """A typical pair whose labels differ: of the most frequent change, in the context that holds most of it."""
    kept_pair: ExampleRows | None
    """A typical pair whose labels are the same, of the same two values where there is one."""


@dataclass(frozen=True)
class Turn:
    """A feature that is significant only alone, or only given others."""

    feature: str
    reason: WhyTurned
    others: tuple[str, ...]
    """The given features, or those that it acts together with."""


_LEFT_OUT = ("name", "p_value", "index", "noise_rate", "n_values", "n_missing", "edges")
_SHOWN = tuple(name for name in Relevance.columns() if name not in _LEFT_OUT)
"""Columns of a relevance that the records of a report have, too."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """One page about a table; ``report.save("report.html")`` writes it, ``report.html`` is its text.

    ``report["sex"]`` is one feature as a dictionary, ``len(report)`` the number of features.

    Attributes
    ----------
    relevance : Relevance
        Every feature.
    alone, alone_p : ndarray of float
        Effect of each feature with nothing given, and its adjusted p-value, as in a univariate filter.
    turned : tuple of Turn
        Features that are significant only alone or only given others, and why.
    panels : tuple of Panel
        The best features, one by one.
    class_sizes : ndarray of int
        Rows of each class.
    shown_classes : tuple
        The classes whose shares are kept in panels: all, or the most frequent ones.
    redundancies : Redundancies
        Redundant columns.
    interactions : Interactions or None
        Pairs of features that have an effect or are in the deciding set, and have up to 32 values; None with fewer than
        two such features, and with groups.
    together : tuple of Interaction
        Label shares of the pairs that act together.
    selection : Selection
        The deciding set, with the gain of each member.
    audits : tuple of Audit
        One for each protected column.
    title, source, command : str or None
        Title of the page, source of the table, and the command that makes the page again.
    versions : dict
        Versions of the libraries.
    reading : tuple of str
        Notes on how the file was read.

    Examples
    --------
    >>> from analogical import load_table, report
    >>> page = report(load_table("titanic").to_frame(), "survived", weights="count")
    >>> page.answer, page.html.startswith("<!doctype html>")
    ('yes', True)
    """

    COLUMNS = ("name", "rank", *_SHOWN, "alone", "alone_p")
    DERIVED = ("answer",)

    relevance: Relevance
    alone: Floats
    alone_p: Floats
    turned: tuple[Turn, ...]
    panels: tuple[Panel, ...]
    class_sizes: Ints
    shown_classes: tuple[Any, ...]
    redundancies: Redundancies
    interactions: Interactions | None
    together: tuple[Interaction, ...]
    selection: Selection
    audits: tuple[Audit, ...]
    title: str | None
    source: str | None
    command: str
    versions: dict[str, str]
    reading: tuple[str, ...] = ()
    backend: str | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting."""
        return self.relevance.notes

    @property
    def html(self) -> str:
        """The page: one HTML file without any reference to a network."""
        from analogical.show.report import render_page

        return render_page(self)

    def save(self, path: Any) -> Path:
        """Write the page to a file and return its path; an existing file is overwritten."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8", newline="\n")
        return target

    @property
    def answer(self) -> Answer:
        """Whether the table can answer which features have an effect: for all, partly, or not at all.

        Not at all if no feature has an effect or surely none.
        """
        if not {"effect", "none"} & set(self.relevance.status):
            return "no"
        return "partly" if self.doubts() else "yes"

    def doubts(self) -> tuple[Doubt, ...]:
        """Why the table answers only partly; empty if it answers fully."""
        ranked = self.relevance
        shares = [panel.n_compared / ranked.n_rows for panel in self.panels if panel.n_compared]
        applies: dict[Doubt, bool] = {
            "unclear": "unclear" in ranked.status,
            "stand-ins": any(ranked.stand_ins),
            "copies": "same" in ranked.status,
            "few-compared": bool(shares) and float(np.median(shares)) < HALF,
            "leak": any(note.kind == "leak" for note in ranked.notes),
        }
        return tuple(doubt for doubt, is_doubt in applies.items() if is_doubt)

    def __len__(self) -> int:
        return len(self.relevance)

    def __getitem__(self, name: str) -> dict[str, Any]:
        entry_at(name, self.relevance.names, "feature")
        return next(record for record in self.records() if record["name"] == name)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best first: what the table of the page shows."""
        ranked = self.relevance
        return [
            {
                "name": ranked.names[i],
                "rank": place + 1,
                **{name: value for name, value in feature.items() if name in _SHOWN},
                "alone": json_ready(self.alone[i]),
                "alone_p": json_ready(self.alone_p[i]),
            }
            for place, (i, feature) in enumerate(zip(ranked.order().tolist(), ranked.records(), strict=True))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; what the relevance says about a feature is not repeated."""
        content = super().to_dict()
        del content["alone"], content["alone_p"]  # they are in the features
        parts = [content[name] for name in ("selection", "redundancies", "interactions")]
        for part in (*filter(None, parts), *content["together"]):  # they have the names and notes of the relevance
            part.pop("names", None)
            part.pop("notes", None)
        own = ("name", "rank", "alone", "alone_p")
        return {**content, "features": [{name: record[name] for name in own} for record in self.records()]}


def report(
    X: Any,
    y: Any = None,
    *,
    given: Given = "auto",
    protected: Any = None,
    confidence: float = DEFAULT_CONFIDENCE,
    top: int = 20,
    title: str | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Report:
    """A report on a table: which features have an effect, given which others, and the rows behind it.

    Parameters
    ----------
    X, y, given, confidence, progress, n_jobs
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    protected : names of columns, optional
        Columns to audit, such as gender.
    top : int
        Number of features with a panel of their own; all are in the table.
    title : str, optional
        Title of the page.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`.

    Returns
    -------
    Report
        Its ``save(path)`` writes the page, which needs jinja2: ``pip install "analogical[report]"``.

    Notes
    -----
    The table is encoded once, and relevance, interactions, selection, audits and the rows shown all use the same
    deciding set. Interactions are tested between features that have an effect or are in the deciding set, except those
    with more than 32 values; with ``groups`` there are none, because their tests assume independent rows.

    Examples
    --------
    >>> from analogical import load_table, report
    >>> page = report(load_table("titanic").to_frame(), "survived", weights="count")
    >>> page.answer, [panel.feature for panel in page.panels]
    ('yes', ['sex', 'age', 'class'])
    >>> page.selection.features == page.relevance.deciding
    True
    >>> pair = page.panels[0].changed_pair
    >>> pair.context, pair.values, pair.labels
    ((('class', '3rd'), ('age', 'adult')), ('male', 'female'), ('no', 'yes'))
    >>> page.html.startswith("<!doctype html>")
    True
    """
    confidence = check_confidence(confidence)
    top = check_whole("top", top, low=1, about=" (features)")
    with timed(progress):
        study = study_of(report, X, y, columns, n_jobs=n_jobs)
    table = study.table
    audited = [] if protected is None else find_features(table, protected, "protected")
    ranked = relevance(study, given=given, confidence=confidence, progress=progress)
    alone = relevance(study, given=[], confidence=confidence)
    class_sizes = study.margins.label_sizes()
    classes = sorted(np.argsort(-class_sizes, kind="stable")[:MAX_CLASSES].tolist())
    pairs, grids = _acting_together(study, ranked, given, confidence, progress)
    return Report(
        relevance=ranked,
        alone=alone.effect,
        alone_p=alone.p_adjusted,
        turned=_turned(ranked, alone.p_adjusted, grids),
        panels=tuple(_panel(study, ranked, i, classes) for i in ranked.order()[:top].tolist()),
        class_sizes=class_sizes,
        shown_classes=tuple(table.classes[c] for c in classes),
        redundancies=redundancies(study, max_determinants=2 if len(table.names) <= FEW_COLUMNS else 1),
        interactions=pairs,
        together=grids,
        selection=select(study),
        audits=tuple(audit(study, table.names[i], given=given, confidence=confidence, limit=4) for i in audited),
        title=title,
        source=None,
        command=written_call(
            "report",
            [study.call] if study is X else ["X", repr(y) if isinstance(y, str) else "y"],
            {
                "given": (given, "auto"),
                **asked_of(columns),
                "protected": (protected, None),
                "confidence": (confidence, DEFAULT_CONFIDENCE),
                "top": (top, 20),
                "title": (title, None),
            },
        ),
        versions=_versions(),
        backend=table.backend,
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "analogical": version("analogical"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }


# ---------------------------------------------------------------- one feature


def _panel(study: Study, ranked: Relevance, i: int, classes: Sequence[int]) -> Panel:
    """One feature: its values, how the label changes with them, and a typical pair of rows."""
    column, points = study.table.columns[i], ranked.points[i]
    rows, compared = study.rows_of([i]), ComparedRows.of(study, i, ranked.settings.given)
    by_class = count_cells(rows, [0])
    values, n_rows = study.table.named(i, range(len(column.values))), by_class.sum(axis=1).tolist()
    # Ties are broken by the text of the values, because libraries number the same categories in different ways.
    texts = [str(value) if column.treatment == "categories" else "" for value in values]
    shown = sorted(range(len(values)), key=lambda v: (-n_rows[v], texts[v]))[:MAX_VALUES]
    transitions: list[Transition] = []
    if ranked.compared[i] and len(values) <= MAX_LISTED_VALUES:
        transitions = sorted(list_transitions(compared) or (), key=lambda t: -t.pairs)
    changed = next((t for t in transitions if t.changed), None)
    kept = [t for t in transitions if not t.changed]
    kept.sort(key=lambda t: changed is not None and t.values != changed.values)  # those of the same two values first
    crude = np.nan
    if points is not None:
        two_values = values.index(points.against), values.index(points.value)
        crude = 100 * crude_difference(rows, 0, two_values, ranked.classes.index(points.label))
    return Panel(
        feature=ranked.names[i],
        values=tuple(
            ValueRows(values[v], n_rows[v], tuple(by_class[v, classes].tolist()))
            for v in (sorted(shown) if column.treatment == "bins" else shown)
        ),
        n_values=len(values),
        crude=crude,
        n_compared=compared.contexts.profile.n_paired_rows if ranked.compared[i] else 0,
        transitions=tuple(transitions[:MAX_TRANSITIONS]),
        n_transitions=len(transitions),
        changed_pair=_typical_pair(compared, changed) if changed else None,
        kept_pair=_typical_pair(compared, kept[0]) if kept else None,
    )


def _typical_pair(compared: ComparedRows, transition: Transition) -> ExampleRows:
    """The first pair of rows of a transition in the context that holds most of them."""
    listed = compared.listed
    sides = [
        compared.has_value(value) & compared.has_label(label)
        for value, label in zip(transition.values, transition.labels, strict=True)
    ]
    n_first, n_second = (listed.count_by_context(side).astype(np.float64) for side in sides)
    in_context = np.flatnonzero(listed.context == int(np.argmax(n_first * n_second)))
    first, second = (int(in_context[side[in_context]][0]) for side in sides)
    return name_pairs(compared, [(first, second)])[0]


# ---------------------------------------------------------------- features together


def has_part(ranked: Relevance, i: int) -> bool:
    """Whether a feature has an effect, or is in the deciding set."""
    return ranked.status[i] == "effect" or ranked.names[i] in ranked.deciding


def _acting_together(
    study: Study, ranked: Relevance, given: Given, confidence: float, progress: bool
) -> tuple[Interactions | None, tuple[Interaction, ...]]:
    """Interactions of the features that have a part, and those that act together.

    None with groups, because tests of interactions assume independent rows.
    """
    keys, n_values = study.table.keys, study.margins.n_values
    pool = [keys[i] for i in range(study.n_features) if has_part(ranked, i) and n_values[i] <= MAX_PAIRED_VALUES]
    if study.n_groups is not None or len(pool) < 2:
        return None, ()
    pairs = interactions(study, given=given, features=pool, confidence=confidence, progress=progress)
    acting = [k for k in pairs.order().tolist() if pairs.status[k] == "effect"]
    return pairs, tuple(pairs[pairs.first[k], pairs.second[k]] for k in acting[:MAX_TOGETHER])


# ---------------------------------------------------------------- beside each feature alone


def _turned(ranked: Relevance, alone_p: Floats, grids: Sequence[Interaction]) -> tuple[Turn, ...]:
    """Features that are significant only alone, or only given others; without copies."""
    level = 1 - ranked.settings.confidence
    named = []
    for i in ranked.order().tolist():
        name, is_effect, is_alone = ranked.names[i], ranked.status[i] == "effect", bool(alone_p[i] <= level)
        if is_effect and not is_alone:
            partners = tuple(s.first if s.second == name else s.second for s in grids if name in (s.first, s.second))
            named.append(Turn(name, "together" if partners else "hidden", partners or ranked.given[i]))
        elif is_alone and ranked.given[i] and ranked.status[i] in ("none", "unclear"):
            named.append(Turn(name, "explained", ranked.given[i]))
    return tuple(named)
