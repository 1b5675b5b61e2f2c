"""A report on a table: which features have an effect, given which others, and the rows behind it."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from analogical._checks import check_confidence, check_whole
from analogical._progress import timed
from analogical._results import Result, entry_at, json_ready
from analogical._types import Floats, Ints, Note
from analogical.columns.rules import ColumnOptions, asked_of, written_call
from analogical.count.groups import count_cells
from analogical.estimate.differences import crude_difference, means_of, quantiles_of
from analogical.questions.audit import Audit, audit
from analogical.questions.evidence import ComparedRows, ExampleRows, Transition, list_transitions, name_pairs
from analogical.questions.interactions import Interaction, Interactions, describe_pair, find_features, interactions
from analogical.questions.redundancies import Redundancies, redundancies
from analogical.questions.relevance import DEFAULT_CONFIDENCE, Relevance, relevance
from analogical.questions.select import Selection, select
from analogical.study import Given, Study, study_of

MAX_PAIRED_VALUES = 32
"""Features with more values are not paired: testing them takes long, and a grid of them cannot be read."""
MAX_LISTED = 12
"""Values and transitions of a feature that are kept: the most frequent ones."""


@dataclass(frozen=True)
class Spread:
    """How a label that is a number is spread over some rows."""

    mean: float
    """Mean score: of the number, its logarithm, or its rank in per cent."""
    quantiles: tuple[Any, ...]
    """The label below which 10, 25, 50, 75 and 90 % of the rows are."""
    scores: tuple[float, ...]
    """The scores of these labels."""


@dataclass(frozen=True)
class Panel:
    """What the page shows about one feature."""

    feature: str
    values: tuple[Any, ...]
    """The most frequent values."""
    counts: tuple[tuple[int, ...], ...]
    """Rows of the whole table with each of these values: by class of ``Report.shown_classes``, and in other classes."""
    spreads: tuple[Spread, ...]
    """The same of a label that is a number; empty for classes, and for those in an order."""
    n_values: int
    crude: float
    """The difference of ``Relevance.direction`` between all rows of the two values; NaN without a direction."""
    n_compared: int
    """Rows that are in at least one pair."""
    transitions: tuple[Transition, ...]
    """The largest ones first; none of a label that is a number or in order."""
    n_transitions: int
    examples: tuple[ExampleRows, ...]
    """Typical pairs: one of the most frequent change of the label, and one whose labels are the same, of the same two
    values where there is one; each from the context that holds most of its kind."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """One page about a table; ``report.save("report.html")`` writes it, ``report.html`` is its text.

    ``report["sex"]`` is one feature as a dictionary, ``len(report)`` the number of features.

    Examples
    --------
    >>> from analogical import load_table, report
    >>> page = report(load_table("titanic").to_frame(), "survived", weights="count")
    >>> page.answer, page.html.startswith("<!doctype html>")
    ('yes', True)
    """

    COLUMNS = ("name", "rank", *Relevance.columns()[1:], "alone", "alone_p")
    DERIVED = ("answer",)

    relevance: Relevance
    """Every feature."""
    alone: Floats
    """Effect of each feature with nothing given, as in a univariate filter."""
    alone_p: Floats
    """Its adjusted p-value."""
    panels: tuple[Panel, ...]
    """The best features, one by one."""
    class_sizes: Ints
    """Rows of each class; empty for a label that is a number."""
    shown_classes: tuple[Any, ...]
    """The classes that panels tell apart: all, or the six most frequent ones; none of a label that is a number."""
    spread: Spread | None
    """All rows by a label that is a number; None for classes, and for those in an order."""
    redundancies: Redundancies
    interactions: Interactions | None
    """Pairs of features that have an effect or are in the deciding set, and have up to 32 values; None with fewer than
    two such features, and with groups."""
    together: tuple[Interaction, ...]
    """Label shares of the pairs that act together."""
    selection: Selection
    """The deciding set, with the gain of each member."""
    audits: tuple[Audit, ...]
    """One for each protected column."""
    title: str | None
    source: str | None
    """Where the table came from."""
    command: str
    """The command that makes the page again."""
    versions: dict[str, str]
    """Versions of the libraries."""
    reading: tuple[str, ...] = ()
    """Notes on how the file was read."""
    backend: str | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting."""
        return self.relevance.notes

    @property
    def html(self) -> str:
        """The page: one HTML file without any reference to a network."""
        from analogical.show.report import render

        return render(self)

    def save(self, path: Any) -> Path:
        """Write the page to a file and return its path; an existing file is overwritten."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8", newline="\n")
        return target

    @property
    def answer(self) -> Literal["yes", "partly", "no"]:
        """Whether the table can answer which features have an effect: for all, partly, or not at all.

        Not at all if no feature has an effect or surely none.
        """
        if not {"effect", "none"} & set(self.relevance.status):
            return "no"
        return "partly" if self.doubts() else "yes"

    def doubts(self) -> tuple[str, ...]:
        """Why the table answers only partly; empty if it answers fully."""
        ranked = self.relevance
        shares = [panel.n_compared / ranked.n_rows for panel in self.panels if panel.n_compared]
        applies = {
            "unclear": "unclear" in ranked.status,
            "copies": "same" in ranked.status,
            "few-compared": bool(shares) and float(np.median(shares)) < 0.5,  # most panels, less than half of the rows
            "leak": any(note.kind == "leak" for note in ranked.notes),
        }
        return tuple(doubt for doubt, is_doubt in applies.items() if is_doubt)

    def __len__(self) -> int:
        return len(self.relevance)

    def __getitem__(self, name: str) -> dict[str, Any]:
        entry_at(name, self.relevance.names, "feature")
        return next(record for record in self.records() if record["name"] == name)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best first, as in its relevance, with its rank and its effect alone."""
        ranked = self.relevance
        alone = ({"alone": json_ready(self.alone[i]), "alone_p": json_ready(self.alone_p[i])} for i in ranked.order())
        return [
            {"name": feature["name"], "rank": place, **feature, **own}
            for place, (feature, own) in enumerate(zip(ranked.records(), alone, strict=True), start=1)
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
    >>> pair = page.panels[0].examples[0]
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
    class_sizes = study.label_sizes
    classes = sorted(np.argsort(-class_sizes, kind="stable")[:6].tolist()) if study.classes else []
    parts = {*ranked.with_status("effect"), *ranked.deciding}
    pool = [
        table.keys[i] for i, name in enumerate(table.names) if name in parts and table.n_values[i] <= MAX_PAIRED_VALUES
    ]
    pairs: Interactions | None = None
    together: tuple[Interaction, ...] = ()
    if study.n_groups is None and len(pool) > 1:  # tests of interactions assume independent rows
        pairs = interactions(study, given=given, features=pool, confidence=confidence, progress=progress)
        acting = [(pairs.first[k], pairs.second[k]) for k in pairs.order() if pairs.status[k] == "effect"]
        together = tuple(describe_pair(pairs, pair, limit=0) for pair in acting[:6])
    return Report(
        relevance=ranked,
        alone=alone.effect,
        alone_p=alone.p_adjusted,
        panels=tuple(_panel(study, ranked, i, classes) for i in ranked.order()[:top].tolist()),
        class_sizes=class_sizes[: len(study.classes)],
        shown_classes=tuple(table.classes[c] for c in classes),
        spread=None if study.classes else _spreads(study, class_sizes[None, :])[0],
        redundancies=redundancies(study, max_determinants=2 if len(table.names) <= 60 else 1),  # pairs take long
        interactions=pairs,
        together=together,
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
        versions={
            "analogical": version("analogical"),
            "python": platform.python_version(),
            **{library: version(library) for library in ("numpy", "scipy")},
        },
        backend=table.backend,
    )


def _panel(study: Study, ranked: Relevance, i: int, classes: Sequence[int]) -> Panel:
    """One feature: its values, how the label changes with them, and typical pairs of rows."""
    column, direction = study.table.columns[i], ranked.direction[i]
    rows, compared = study.rows_of([i]), ComparedRows(study, i, study.given_of(i, ranked.settings.given))
    by_class = count_cells(rows, [0])
    values, n_rows = study.table.named(i, range(len(column.values))), by_class.sum(axis=1).tolist()
    # Ties are broken by the text of the values, because libraries number the same categories in different ways.
    texts = [str(value) if column.edges is None else "" for value in values]
    kept = sorted(range(len(values)), key=lambda v: (-n_rows[v], texts[v]))[:MAX_LISTED]
    if column.edges is not None:
        kept.sort()
    counts = by_class[kept][:, classes].tolist()
    transitions: list[Transition] = []
    if ranked.compared[i] and len(values) <= 64 and study.scale is None:  # of more values there is no list
        transitions = sorted(list_transitions(compared) or (), key=lambda t: -t.pairs)
    changed = [t for t in transitions if t.changed][:1]
    unchanged = [t for t in transitions if not t.changed]
    unchanged.sort(key=lambda t: bool(changed) and t.values != changed[0].values)  # first those of the same two values
    crude = np.nan
    if direction is not None:
        two_values = values.index(direction.against), values.index(direction.value)
        scores = study.label_scores[:, 0]
        if study.scale is None:
            scores = 100.0 * (np.arange(len(ranked.classes)) == ranked.classes.index(direction.label))
        crude = crude_difference(rows, 0, two_values, scores)
    typical = [_typical_pair(compared, t) for t in (*changed, *unchanged[:1])]
    return Panel(
        feature=ranked.names[i],
        values=tuple(values[v] for v in kept),
        counts=tuple((*row, n_rows[v] - sum(row)) for v, row in zip(kept, counts, strict=True)),
        spreads=() if study.classes else _spreads(study, by_class[kept]),
        n_values=len(values),
        crude=crude,
        n_compared=compared.contexts.profile.n_paired_rows if ranked.compared[i] else 0,
        transitions=tuple(transitions[:MAX_LISTED]),
        n_transitions=len(transitions),
        examples=name_pairs(compared, typical if study.scale is None else compared.example_pairs(2)),
    )


def _spreads(study: Study, by_label: Ints) -> tuple[Spread, ...]:
    """How labels that are numbers are spread over rows, from their counts by label code."""
    labels, scores = study.table.classes, study.label_scores[:, 0]
    means, places = means_of(by_label, scores), quantiles_of(by_label, (0.1, 0.25, 0.5, 0.75, 0.9))
    return tuple(
        Spread(float(mean), tuple(labels[place] for place in row), tuple(scores[row].tolist()))
        for mean, row in zip(means, places.tolist(), strict=True)
    )


def _typical_pair(compared: ComparedRows, transition: Transition) -> tuple[int, int]:
    """The first pair of rows of a transition in the context that holds most of them."""
    listed = compared.listed
    sides = [
        compared.has_value(value) & compared.has_label(label)
        for value, label in zip(transition.values, transition.labels, strict=True)
    ]
    n_first, n_second = (listed.count_by_context(side).astype(np.float64) for side in sides)
    in_context = np.flatnonzero(listed.context == int(np.argmax(n_first * n_second)))
    first, second = (int(in_context[side[in_context]][0]) for side in sides)
    return first, second
