"""One page about a table: what decides the label, how sure that is, and the rows behind it."""

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from analogical._audit import Audit, audit_of
from analogical._checks import check_confidence, check_whole, seed_from
from analogical._evidence import EvidencePair, Transition, count_transitions, name_pairs
from analogical._interactions import ChosenContexts, Interactions, PairSearch, find_features, interactions_of
from analogical._progress import progress_line
from analogical._redundancy import Redundancies, redundancies_of
from analogical._relevance import Relevance, relevance_of
from analogical._results import Result, entry_at, json_ready
from analogical._selection import Selection, select_of
from analogical._squares import Squares, squares_of
from analogical._types import Floats, Ints
from analogical.counting.contexts import Contexts
from analogical.counting.groups import rows_by_context
from analogical.counting.pairs import contexts_themselves
from analogical.encoding.binning import Bins
from analogical.encoding.columns import plain
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.rivals import METHODS
from analogical.scoring.differences import measure_difference, risk_difference, split_two_values
from analogical.scoring.radius import Radius

__all__ = ["Answer", "Change", "Disagreement", "Doubt", "Panel", "Report", "ValueRows", "WhyDisagree", "report"]

MAX_INTERACTING = 12
"""Features whose pairs are looked at: the best ones of the relaxed index."""
MAX_PAIRED_VALUES = 32
"""Features with more values are not paired: tests of their squares take long, and cards of them cannot be read."""
MAX_SQUARES = 6
"""Pairs of features that are shown value by value."""
MAX_VALUES = 12
"""Values of a feature whose label shares are kept, the most frequent ones."""
MAX_CLASSES = 6
"""Classes whose shares are kept, the most frequent ones."""
MAX_COMPARED = 8
"""Values of a feature that are tried two by two for the strongest change, the most frequent ones."""
MAX_LISTED_VALUES = 64
"""Features with more values have no list of transitions."""
MAX_TRANSITIONS = 12
"""Transitions of a feature that are kept, the largest ones."""
MAX_DISAGREEMENTS = 10
"""Features on which the two orders disagree that are named, those that stand highest in either order first."""
FEW_FEATURES = 5
"""Ranks disagree if they lie as many places apart as there are features, divided by this number."""
FEW_COLUMNS = 60
"""Up to so many columns, columns that two others determine are looked for."""
LESS = 0.02
"""Differences in shares below 2 points are not called smaller or larger."""
HALF = 0.5
"""Share of the rows that the middle one of the best features should compare."""
TIED = 9
"""Decimals beyond which scores and information are equal."""

Answer = Literal["yes", "partly", "no"]
"""Whether a table can say which features matter."""
Doubt = Literal["looked-further", "redundant", "no-pairs", "noise-unknown", "few-compared", "leak"]
"""Why a table answers only partly: the score rests on pairs that differ on several features; features that others
determine, or without pairs for another reason, cannot be compared; labels changed and nothing shows the noise; most
features compare less than half of the rows; or a column may be the label under another name."""
WhyDisagree = Literal[
    "determined",
    "carried",
    "never-compared",
    "shared",
    "passed",
    "interaction",
    "adds",
    "unmasked",
    "unexplained",
]


@dataclass(frozen=True)
class ValueRows:
    """Rows of the whole table that have one value of a feature."""

    value: Any
    n_rows: int
    by_class: tuple[int, ...]
    """Rows by class, of ``Report.shown_classes``."""


@dataclass(frozen=True)
class Change:
    """What the share of a label does when a feature goes from one value to another."""

    values: tuple[Any, Any]
    label: Any
    difference: float
    """How much more often the second value has the label, all else equal (Mantel-Haenszel); NaN if no two rows with
    these values are equal on everything else."""
    difference_low: float
    difference_high: float
    crude: float
    """The same between all rows of the two values, without matching."""
    n_rows: int
    """Rows that were compared; without matching, all rows of the two values."""
    gained: int
    """Pairs in which the second value has the label and the first one has not."""
    lost: int
    pairs: int

    @property
    def is_matched(self) -> bool:
        """Whether rows that are equal on everything else were compared."""
        return self.pairs > 0


@dataclass(frozen=True)
class Panel:
    """What a page shows of one feature."""

    feature: str
    values: tuple[ValueRows, ...]
    n_values: int
    change: Change | None
    """The change of value that moves a class most; None for a constant."""
    n_compared: int
    """Rows that sit in at least one pair at distance 1."""
    transitions: tuple[Transition, ...]
    """The largest ones first."""
    n_transitions: int
    changed_pair: EvidencePair | None
    """A typical pair whose labels differ: of the most frequent change, in the context that holds most of it."""
    kept_pair: EvidencePair | None
    """A typical pair whose labels are the same, of the same two values where there is one."""


@dataclass(frozen=True)
class Disagreement:
    """A feature that mutual information ranks higher or lower, and what explains it."""

    feature: str
    rank: float
    """Place by score; the middle of the places of equal scores."""
    information_rank: float
    """Place by mutual information, likewise."""
    reason: WhyDisagree
    """``"determined"`` (others determine it, so it has no pairs), ``"carried"`` (a chosen feature carries the same
    information), ``"never-compared"`` (some of its values were never compared), ``"shared"`` (the difference is smaller
    all else equal than over all rows) or ``"passed"`` (features that act together stand above it), where we rank it
    lower; ``"interaction"`` (what it does depends on another feature), ``"adds"`` (it adds to features chosen before
    it) or ``"unmasked"`` (the difference is larger all else equal), where we rank it higher; or ``"unexplained"``."""
    others: tuple[str, ...] = ()
    """The features that the reason is about."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """One page about a table; ``report.save("report.html")`` writes it, ``report.html`` is its text.

    ``report["sex"]`` is one feature as a dictionary, ``len(report)`` the number of features.

    Attributes
    ----------
    relevance : Relevance
        Every feature.
    information : ndarray of float
        Mutual information of each feature with the label, in nats.
    disagreements : tuple of Disagreement
        Features that the score and the mutual information rank far apart, and why.
    panels : tuple of Panel
        The best features, one by one.
    class_sizes : ndarray of int
        Rows of each class.
    shown_classes : tuple
        The classes whose shares are kept in panels: all, or the most frequent ones.
    redundancies : Redundancies
        Columns that say the same.
    interactions : Interactions or None
        Pairs among the best features of up to 32 values; None with fewer than two such features.
    squares : tuple of Squares
        The pairs that act together, value by value.
    selection : Selection
        The features that predict the label best together.
    audits : tuple of Audit
        One for each protected column.
    title, source, command : str or None
        What stands at the top of the page, where the table came from, and how to make the page again.
    versions : dict
        What it was made with.

    Examples
    --------
    >>> from analogical import load_table, report
    >>> page = report(load_table("titanic").to_frame(), "survived", weights="count")
    >>> page.answer, page.html.startswith("<!doctype html>")
    ('yes', True)
    """

    relevance: Relevance
    information: Floats
    disagreements: tuple[Disagreement, ...]
    panels: tuple[Panel, ...]
    class_sizes: Ints
    shown_classes: tuple[Any, ...]
    redundancies: Redundancies
    interactions: Interactions | None
    squares: tuple[Squares, ...]
    selection: Selection
    audits: tuple[Audit, ...]
    title: str | None
    source: str | None
    command: str
    versions: dict[str, str]
    reading: tuple[str, ...] = ()
    """What was guessed to read a file."""
    backend: str | None = None

    @property
    def html(self) -> str:
        """The page: one HTML file without any reference to a network."""
        from analogical.presenting.report import render_page

        return render_page(self)

    def save(self, path: Any) -> Path:
        """Write the page to a file, and say where it lies; a file that is there is written over."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8", newline="\n")
        return target

    @property
    def answer(self) -> Answer:
        """Whether the table can say which features matter: by exact comparison, partly, or not at all.

        Not at all if no rows can be compared, or if no two differ on one feature alone and those that differ on more
        tell no feature from noise.
        """
        found = self.relevance
        if not (found.pairs_within[found.n_values > 1] > 0).any():
            return "no"
        if not found.pairs.any() and "effect" not in found.status:
            return "no"
        return "partly" if self.doubts() else "yes"

    def doubts(self) -> tuple[Doubt, ...]:
        """Why the table answers only partly; empty if nothing stands against it."""
        found = self.relevance
        by = found.determined_by or ((),) * len(found.names)
        silent = [i for i in range(len(found.names)) if found.n_values[i] > 1 and not found.pairs[i]]
        shares = [panel.n_compared / found.n_rows for panel in self.panels if panel.n_compared]
        stands: dict[Doubt, bool] = {
            "looked-further": found.settings.radius > 1,
            "redundant": any(by[i] for i in silent),
            "no-pairs": found.settings.radius == 1 and any(not by[i] for i in silent),
            "noise-unknown": "noise-unknown" in found.status,
            "few-compared": bool(shares) and float(np.median(shares)) < HALF,
            "leak": any(note.kind == "leak" for note in found.notes),
        }
        return tuple(doubt for doubt, stands_against in stands.items() if stands_against)

    def ranks(self) -> tuple[Floats, Floats]:
        """Places by score and by mutual information; equal ones share the middle of their places."""
        return middle_ranks(self.relevance.score), middle_ranks(self.information)

    def __len__(self) -> int:
        return len(self.relevance)

    def __getitem__(self, name: str) -> dict[str, Any]:
        entry_at(name, self.relevance.names, "feature")
        return next(record for record in self.records() if record["name"] == name)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best first: what the table of the page shows."""
        places = self.ranks()[1]
        found = self.relevance
        kept = ("score", "score_low", "score_high", "p_adjusted", "pairs", "changed", "status", "determined_by")
        return [
            {
                "name": found.names[i],
                "rank": place + 1,
                **{name: feature[name] for name in kept},
                "information": float(self.information[i]),
                "information_rank": float(places[i]),
            }
            for place, (i, feature) in enumerate(zip(found.order().tolist(), found.records(), strict=True))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "title": self.title,
            "source": self.source,
            "reading": list(self.reading),
            "command": self.command,
            "versions": dict(self.versions),
            "answer": self.answer,
            "class_sizes": json_ready(self.class_sizes),
            "shown_classes": json_ready(self.shown_classes),
            "relevance": self.relevance.to_dict(),
            "features": self.records(),
            "disagreements": json_ready(self.disagreements),
            "panels": [_panel_to_dict(panel) for panel in self.panels],
            "redundancies": self.redundancies.to_dict(),
            "interactions": None if self.interactions is None else self.interactions.to_dict(),
            "squares": [found.to_dict() for found in self.squares],
            "selection": self.selection.to_dict(),
            "audits": [found.to_dict() for found in self.audits],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return tuple(self.records()[0])


def _panel_to_dict(panel: Panel) -> dict[str, Any]:
    pairs = {name: getattr(panel, name) for name in ("changed_pair", "kept_pair")}
    return {
        **{name: json_ready(value) for name, value in vars(panel).items() if name not in pairs},
        **{name: None if pair is None else pair.to_dict() for name, pair in pairs.items()},
    }


def report(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    groups: Any = None,
    features: Any = None,
    ignore: Any = None,
    protected: Any = None,
    missing: Missing = "value",
    bins: Bins = 5,
    max_values: int | None = 20,
    ids: Ids = "drop",
    bin_label: int | None = None,
    radius: Radius = "auto",
    noise_free: bool = False,
    confidence: float = 0.95,
    top: int = 20,
    title: str | None = None,
    random_state: Any = 0,
    progress: bool = False,
    feature_names: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Report:
    """One self-contained page about a table: which features matter, how sure that is, and the rows behind it.

    Parameters
    ----------
    X, y, weights, groups, features, ignore, missing, bins, max_values, ids, bin_label, feature_names, n_jobs
        As in :func:`analogical.relevance`.
    protected : names of columns, optional
        Columns to audit, such as gender: does the label differ between their values, all else equal?
    radius, noise_free
        As in :func:`analogical.relevance`.
    confidence : float
        Level of the intervals, and 1 minus the level of the tests.
    top : int
        Features that get a panel of their own, the best ones; all are in the table.
    title : str, optional
        Title of the page.
    random_state : int, RandomState or None
        Seed of everything that is drawn at random.
    progress : bool
        Show on stderr how far long work is.

    Returns
    -------
    Report
        Its ``save(path)`` writes the page, which needs jinja2: ``pip install "analogical[report]"``.

    Notes
    -----
    The table is encoded once. Pairs of features are looked at among the best 12 features of up to 32 values only, and
    the page says what was left out. Interactions and the selection take rows as independent, with ``groups`` too.

    Examples
    --------
    >>> from analogical import load_table, report
    >>> page = report(load_table("titanic").to_frame(), "survived", weights="count")
    >>> page.answer, [panel.feature for panel in page.panels]
    ('yes', ['sex', 'age', 'class'])
    >>> change = page.panels[0].change
    >>> change.values, change.label, round(100 * change.difference, 1), change.n_rows
    (('male', 'female'), 'yes', 49.2, 2201)
    >>> page.html.startswith("<!doctype html>")
    True
    """
    level = check_confidence(confidence)
    if level is None:
        raise InputError("confidence must be a number between 0 and 1 for a report, such as 0.95, got None.")
    top = check_whole("top", top, low=1, about=" (features)")
    seed = seed_from(random_state)
    table = encode_table(
        X,
        y,
        weights=weights,
        groups=groups,
        features=features,
        ignore=ignore,
        treatment=Treatment.of(missing, bins, max_values, ids, bin_label),
        feature_names=feature_names,
    )
    audited = [] if protected is None else find_features(table, protected, "protected")
    engine = MemoryEngine(n_jobs)
    found = relevance_of(
        table, engine, radius=radius, noise_free=noise_free, confidence=level, seed=seed, progress=progress
    )
    independent = replace(table, groups=None)
    classes = _shown_classes(table)
    order = found.order().tolist()
    panels = _panels(table, engine, order[:top], classes, level)
    twice = redundancies_of(table, 2 if len(table.names) <= FEW_COLUMNS else 1)
    renamed = {name for group in twice.renamings for name in group[1:]}
    pairs, squares = _acting_together(independent, renamed, level, seed, n_jobs, progress)
    selection = select_of(
        independent, engine, None, radius=radius, noise_free=noise_free, seed=seed, progress=progress, n_jobs=n_jobs
    )
    rows = table.coded
    information = METHODS["mi"](rows.codes, rows.labels, np.random.default_rng(0), rows.weights)
    return Report(
        relevance=found,
        information=information,
        disagreements=_disagreements(found, information, panels, _acting(pairs, renamed), selection),
        panels=panels,
        class_sizes=np.bincount(rows.labels, rows.weights, minlength=rows.n_labels).astype(np.int64),
        shown_classes=tuple(table.classes[c] for c in classes),
        redundancies=twice,
        interactions=pairs,
        squares=squares,
        selection=selection,
        audits=tuple(audit_of(table, i, level=level, limit=4, seed=seed) for i in audited),
        title=title,
        source=None,
        command=_call(
            y,
            {
                "weights": (weights, None),
                "groups": (groups, None),
                "features": (features, None),
                "ignore": (ignore, None),
                "protected": (protected, None),
                "missing": (missing, "value"),
                "bins": (bins, 5),
                "max_values": (max_values, 20),
                "ids": (ids, "drop"),
                "bin_label": (bin_label, None),
                "radius": (radius, "auto"),
                "noise_free": (noise_free, False),
                "confidence": (confidence, 0.95),
                "top": (top, 20),
                "title": (title, None),
                "random_state": (random_state, 0),
                "feature_names": (feature_names, None),
            },
        ),
        versions=_versions(),
        backend=table.backend,
    )


def _call(y: Any, given: Mapping[str, tuple[Any, Any]]) -> str:
    """The call to make the page again: what is not the default, data by its name only."""
    words = ["X", repr(y) if isinstance(y, str) else "y"]
    for name, (value, default) in given.items():
        if value is default or (isinstance(value, str | int | float) and value == default):
            continue
        is_short = (
            value is None
            or isinstance(value, str | int | float)
            or (isinstance(value, list | tuple) and len(value) <= 20 and all(isinstance(item, str) for item in value))
        )
        words.append(f"{name}={value!r}" if is_short else f"{name}={name}")
    return f"report({', '.join(words)})"


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "analogical": version("analogical"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }


def _shown_classes(table: EncodedTable) -> list[int]:
    """Codes of the classes whose shares are shown, in order."""
    sizes = np.bincount(table.coded.labels, table.weights, minlength=len(table.classes))
    return sorted(np.argsort(-sizes, kind="stable")[:MAX_CLASSES].tolist())


# ---------------------------------------------------------------- one feature


def _panels(
    table: EncodedTable, engine: MemoryEngine, features: Sequence[int], classes: Sequence[int], level: float
) -> tuple[Panel, ...]:
    """The panels of some features, from one look at their contexts."""
    sums = engine.sum_contexts(table.coded, contexts_themselves, features=features)
    return tuple(_panel(table, i, sums.summaries[i] or Contexts.none(), classes, level) for i in features)


def _panel(table: EncodedTable, i: int, contexts: Contexts, classes: Sequence[int], level: float) -> Panel:
    column, n_values = table.columns[i], int(table.n_values[i])
    values = [plain(value) for value in column.values]
    counts = _rows_by_label(table, i)
    sizes = counts.sum(axis=1)
    # Ties by the words of the values: libraries number the same categories in different ways.
    words = [str(value) if column.treatment == "categories" else "" for value in values]
    frequent = sorted(range(len(sizes)), key=lambda v: (-sizes[v], words[v]))
    kept = sorted(frequent[:MAX_VALUES]) if column.treatment == "bins" else frequent[:MAX_VALUES]
    listed: tuple[Transition, ...] = ()
    if len(contexts) and n_values <= MAX_LISTED_VALUES:
        listed = tuple(sorted(count_transitions(table, i, contexts), key=lambda t: -t.pairs))
    changed, unchanged = _typical_pairs(table, i, listed, values)
    return Panel(
        feature=table.names[i],
        values=tuple(
            ValueRows(values[v], int(sizes[v]), tuple(int(counts[v, label]) for label in classes)) for v in kept
        ),
        n_values=n_values,
        change=_strongest_change(table, i, contexts, counts, frequent[:MAX_COMPARED], classes, level),
        n_compared=contexts.profile.n_paired_rows if len(contexts) else 0,
        transitions=listed[:MAX_TRANSITIONS],
        n_transitions=len(listed),
        changed_pair=changed,
        kept_pair=unchanged,
    )


def _rows_by_label(table: EncodedTable, i: int) -> Ints:
    """Rows of each value and label, shape (values, labels)."""
    rows = table.coded
    shape = (int(table.n_values[i]), rows.n_labels)
    keys = rows.codes[:, i].astype(np.int64) * shape[1] + rows.labels
    return np.bincount(keys, rows.weights, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape)


def _strongest_change(
    table: EncodedTable,
    i: int,
    contexts: Contexts,
    counts: Ints,
    values: Sequence[int],
    classes: Sequence[int],
    level: float,
) -> Change | None:
    """The change between two frequent values that moves a class most, for the rows there are.

    Changes are ordered by the Mantel-Haenszel difference times the root of its weight (the sum of ab / (a + b) over
    contexts with a and b rows), which is a multiple of its z-value; where directions cancel, by the pairs that changed.
    """
    if len(values) < 2:
        return None
    n_labels = counts.shape[1]
    followed = classes[-1:] if n_labels == 2 else classes
    best: tuple[tuple[bool, float, float], tuple[int, int, int]] | None = None
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for first, second in combinations(values, 2):
        two = split_two_values(contexts, first, second, n_labels) if len(contexts) else None
        is_met = two is not None and len(two.times) > 0
        for label in followed:
            if two is not None and is_met:
                (a, b), times = two.sizes, two.times
                a_with, b_with = (side[:, [label]].toarray()[:, 0] for side in (two.first, two.second))
                difference, _ = risk_difference(a, b, a_with, b_with, times)
                weight, changed = float((times * a * b / (a + b)).sum()), float((times * a * b).sum())
            else:
                a_rows, b_rows = (float(counts[v].sum()) for v in (first, second))
                difference = float(shares[second, label] - shares[first, label])
                weight, changed = a_rows * b_rows / (a_rows + b_rows), 0.0
            key = (is_met, round(abs(difference) * math.sqrt(weight), 6), changed)
            if best is None or key > best[0]:
                best = key, (first, second, label)
    if best is None:
        return None
    first, second, label = best[1]
    names = table.columns[i].values
    crude = float(shares[second, label] - shares[first, label])
    values_named = (plain(names[first]), plain(names[second]))
    if not best[0][0]:
        n_rows = int(counts[[first, second]].sum())
        return Change(values_named, table.classes[label], math.nan, math.nan, math.nan, crude, n_rows, 0, 0, 0)
    two = split_two_values(contexts, first, second, n_labels)
    measured = measure_difference(two, label, level)
    a, b = two.sizes
    return Change(
        values=values_named,
        label=table.classes[label],
        difference=measured.difference,
        difference_low=measured.difference_low,
        difference_high=measured.difference_high,
        crude=crude,
        n_rows=int((two.times * (a + b)).sum()),
        gained=measured.gained,
        lost=measured.lost,
        pairs=measured.pairs,
    )


def _typical_pairs(
    table: EncodedTable, i: int, listed: Sequence[Transition], values: Sequence[Any]
) -> tuple[EvidencePair | None, EvidencePair | None]:
    """A pair of the most frequent change of labels, and one whose labels stay, of the same values if there is one."""
    changed = next((t for t in listed if t.changed), None)
    kept = [t for t in listed if not t.changed]
    same = [t for t in kept if changed is None or t.values == changed.values]
    unchanged = next(iter([*same, *kept]), None)
    if changed is None and unchanged is None:
        return None, None
    order, starts = rows_by_context(table.coded, i)
    owner = np.empty(len(order), np.int64)
    owner[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))

    def typical(transition: Transition | None) -> EvidencePair | None:
        if transition is None:
            return None
        rows, weights = table.coded, table.coded.weights_or_ones()
        sides = [
            (rows.codes[:, i] == values.index(value)) & (rows.labels == table.classes.index(label))
            for value, label in zip(transition.values, transition.labels, strict=True)
        ]
        held = [np.bincount(owner[side], weights[side], minlength=len(starts)) for side in sides]
        context = owner == int(np.argmax(held[0] * held[1]))
        first, second = (int(np.flatnonzero(side & context)[0]) for side in sides)
        return name_pairs([(first, second)], table, i)[0]

    return typical(changed), typical(unchanged)


# ---------------------------------------------------------------- features together


def _acting_together(
    table: EncodedTable, renamed: set[str], level: float, seed: int | None, n_jobs: int | None, progress: bool
) -> tuple[Interactions | None, tuple[Squares, ...]]:
    """Pairs among the best features, and those that act together value by value."""
    show = progress_line("looking at pairs of features") if progress else None
    search = PairSearch(table, level, seed, n_jobs, show)
    pool = [i for i in search.varying if table.n_values[i] <= MAX_PAIRED_VALUES]
    if len(pool) < 2:
        return None, ()
    found = interactions_of(table, search, pool, top=MAX_INTERACTING)
    names = table.names
    places = [tuple(names.index(name) for name in some) for some in (found.contexts, found.left_out)]
    chosen = ChosenContexts(places[0], found.contexts_reason, places[1])
    return found, tuple(
        squares_of(table, search, names.index(first), names.index(second), chosen, 0)
        for first, second in _acting(found, renamed)[:MAX_SQUARES]
    )


def _acting(found: Interactions | None, renamed: set[str]) -> list[tuple[str, str]]:
    """Pairs that are told from noise or, where labels show no noise, break squares; the strongest first.

    Of columns that carry the same information only the first one is named.
    """
    if found is None:
        return []
    shows_no_noise = found.contexts_reason == "no-noise"
    return [
        (found.first[k], found.second[k])
        for k in found.order().tolist()
        if (found.status[k] == "effect" or (shows_no_noise and found.broken[k] > 0))
        and not renamed & {found.first[k], found.second[k]}
    ]


# ---------------------------------------------------------------- beside mutual information


def middle_ranks(scores: Floats) -> Floats:
    """Places from 1, best first; equal scores share the middle of their places, and those without one come last.

    Examples
    --------
    >>> middle_ranks(np.array([0.5, 0.0, 0.5, np.nan])).tolist()
    [1.5, 3.0, 1.5, 4.0]
    """
    known = np.where(np.isnan(scores), -np.inf, np.round(scores, TIED))
    above = (known[None, :] > known[:, None]).sum(axis=1)
    equal = (known[None, :] == known[:, None]).sum(axis=1)
    ranks: Floats = (above + (equal + 1) / 2).astype(np.float64)
    return ranks


def _disagreements(
    found: Relevance,
    information: Floats,
    panels: Sequence[Panel],
    acting: Sequence[tuple[str, str]],
    selection: Selection,
) -> tuple[Disagreement, ...]:
    """Features that one of the two orders tells from noise and that lie far apart in them."""
    ours, theirs = middle_ranks(found.score), middle_ranks(information)
    varying = int((found.n_values > 1).sum())
    told = [
        i
        for i in range(len(found.names))
        if found.n_values[i] > 1 and (found.status[i] == "effect" or _is_informative(found, information, i))
    ]
    apart = [i for i in told if abs(ours[i] - theirs[i]) >= max(1.0, varying / FEW_FEATURES)]
    apart.sort(key=lambda i: (min(ours[i], theirs[i]), -abs(ours[i] - theirs[i]), i))
    panel_of = {panel.feature: panel for panel in panels}
    named = []
    for i in apart[:MAX_DISAGREEMENTS]:
        change = panel_of[found.names[i]].change if found.names[i] in panel_of else None
        if ours[i] < theirs[i]:
            reason = _why_higher(found.names[i], change, acting, selection)
        else:
            above = [found.names[j] for j in told if ours[j] < ours[i] and theirs[j] > theirs[i]]
            reason = _why_lower(found, i, change, above, acting, selection)
        named.append(Disagreement(found.names[i], float(ours[i]), float(theirs[i]), *reason))
    return tuple(named)


def _is_informative(found: Relevance, information: Floats, i: int) -> bool:
    """Whether mutual information is told from 0: the G test, corrected for the number of features."""
    from scipy.special import chdtrc

    freedom = (int(found.n_values[i]) - 1) * (len(found.classes) - 1)
    level = 0.05 if found.settings.confidence is None else 1 - found.settings.confidence
    return bool(chdtrc(freedom, 2 * found.n_rows * information[i]) * len(found.names) <= level)


Why = tuple[WhyDisagree, tuple[str, ...]]
"""A reason, and the features that it is about."""


def _why_higher(name: str, change: Change | None, acting: Sequence[tuple[str, str]], selection: Selection) -> Why:
    """What explains that a feature stands higher in our order than by mutual information."""
    if partners := _partners(acting, name):
        return "interaction", partners
    if name in selection.features[1:]:
        return "adds", selection.features[: selection.features.index(name)]
    if change is not None and change.is_matched and abs(change.difference) > abs(change.crude) + LESS:
        return "unmasked", ()
    return "unexplained", ()


def _why_lower(
    found: Relevance,
    i: int,
    change: Change | None,
    above: Sequence[str],
    acting: Sequence[tuple[str, str]],
    selection: Selection,
) -> Why:
    """What explains that a feature stands lower; ``above`` are those that passed it."""
    if found.determined_by is not None and found.determined_by[i]:
        return "determined", found.determined_by[i]
    carried = next((item for item in selection.carried if item.feature == found.names[i]), None)
    if carried is not None:
        return "carried", carried.by
    if 0 <= found.value_pairs_compared[i] < found.value_pairs[i]:
        return "never-compared", ()
    if change is not None and change.is_matched and abs(change.difference) < abs(change.crude) - LESS:
        return "shared", ()
    raised = tuple(name for name in above if _partners(acting, name))
    return ("passed", raised) if raised else ("unexplained", ())


def _partners(acting: Sequence[tuple[str, str]], name: str) -> tuple[str, ...]:
    """Features that a feature acts together with, the strongest first; at most three."""
    return tuple(first if second == name else second for first, second in acting if name in (first, second))[:3]
