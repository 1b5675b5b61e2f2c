"""A report as a view, and as a page of HTML: the verdict, and the views of all results in sections.

The page refers to nothing outside, has a strict content policy, and reads the same without its script.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from analogical.errors import MissingDependencyError
from analogical.questions.relevance import Direction, Relevance
from analogical.questions.report import MAX_PAIRED_VALUES, Panel, Report, Spread
from analogical.show.audit import pair_table, transition_table, view_audit
from analogical.show.interactions import share_grid, share_table, view_interactions
from analogical.show.notes import describe_notes, leaks_of, warnings_of
from analogical.show.relevance import (
    MIXED,
    ROW_NAMES,
    agreeing_on,
    assumed,
    describe_direction,
    explain_statuses,
    has_direction,
    held_fixed,
    measure_of,
    say_effects,
    small_size,
    view_relevance,
)
from analogical.show.selection import view_redundancies, view_selection
from analogical.show.views import Cell, Column, Marks, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    ELSEWHERE,
    LONG_NAME,
    counted,
    list_all,
    list_first,
    marked,
    percent,
    quoted,
    shorten_apart,
    shown,
    three_digits,
    verb,
)

MARK = "analogical report"
"""Name of the generator in the head of every page, by which our own files are recognised."""
MAX_RANKED = 300
"""Maximum number of features in the table of effects: a page on 600 columns stays below 1 MB."""


# ---------------------------------------------------------------- the answer


def view_report(result: Report) -> View:
    """The verdict, the best features with their effects, and where the page is."""
    view = view_relevance(result.relevance, top=10)
    return View(
        headline=_verdict(result),
        tables=view.tables,
        lines=(
            f"Can this table answer? {result.answer.capitalize()}. {' '.join(_reasons(result))}",
            "The page is in .html; .save(path) writes it.",
        ),
        about=view.about,
        explanation=tuple(_different_alone(result)),
    )


def _verdict(report: Report) -> str:
    """The answer in a sentence or two."""
    ranked = report.relevance
    names = ranked.with_status("effect")
    if not names:
        ruled_out = all(status in ("none", "constant") for status in ranked.status)
        rest = f"No interval exceeds {small_size(ranked.settings)}." if ruled_out else "Not all effects are ruled out."
        return f"{say_effects(ranked)} {rest}"
    i = ranked.names.index(names[0])
    found = ranked.direction[i]
    direction = ""
    if has_direction(found):
        direction = f": {_say_direction(ranked, found)}"
    return f"{say_effects(ranked)} The largest is that of {shown(names[0])}{direction}."


def _say_direction(ranked: Relevance, found: Direction) -> str:
    """How the label differs between two values, as a whole sentence."""
    subject = f"{quoted(ranked.label)} is " if found.label is None else ""
    return f"{subject}{describe_direction(found, measure_of(ranked.settings))}"


def _reasons(report: Report) -> list[str]:
    """What the answer is based on, and what limits it."""
    ranked = report.relevance
    if report.answer == "no" and not ranked.compared.any():
        return ["No two rows can be compared for any feature. Collect more rows, or leave out columns."]
    if report.answer == "no":
        return ["No feature is significant, and no effect is ruled out: there are too few rows."]
    unclear, copies, leaks = ranked.with_status("unclear"), ranked.with_status("same"), leaks_of(ranked.notes)
    shares = [panel.n_compared / ranked.n_rows for panel in report.panels if panel.n_compared] or [0.0]
    known = verb(leaks, "alone predicts nearly all labels: is it", "each predict nearly all labels alone: are they")
    doubts = {
        "unclear": f"{list_first(unclear)} {verb(unclear, 'is', 'are')} unclear: not significant, but not ruled out.",
        "copies": f"{list_first(copies)} {verb(copies, 'carries', 'carry')} the same information as another feature; no"
        " test can distinguish them.",
        "few-compared": f"Many rows have no partner: {percent(min(shares))} to {percent(max(shares))} of all rows are"
        " compared, depending on the feature.",
        "leak": f"{list_first(leaks)} {known} known before the label?",
    }
    basis = [("effect", "a significant effect"), ("none", f"no effect of more than {small_size(ranked.settings)}")]
    return [
        *(
            f"{counted(n, 'feature has', 'features have')} {what}."
            for status, what in basis
            if (n := ranked.status.count(status))
        ),
        *(doubts[doubt] for doubt in report.doubts()),
    ]


def _different_alone(report: Report) -> Iterable[str]:
    """Features that are significant only alone, or only given others, and why; without copies."""
    ranked = report.relevance
    level, measure = 1 - ranked.settings.confidence, measure_of(ranked.settings)

    for i in ranked.order().tolist():
        name, status, is_alone = ranked.names[i], ranked.status[i], bool(report.alone_p[i] <= level)
        points, among = measure.amount_of(report.alone[i]), f"among {agreeing_on(ranked.given[i])}"
        pairs = [(s.first, s.second) for s in report.together if name in (s.first, s.second)]
        if status == "effect" and not is_alone:
            partners = [first if second == name else second for first, second in pairs]
            why = (
                f": its effect depends on {list_all(partners)}."
                if partners
                else f"; {among}, the effect is {measure.amount_of(ranked.effect[i])}."
            )
            yield f"{shown(name, LONG_NAME)}: Not significant alone ({points}){why}"
        elif is_alone and ranked.given[i] and status in ("none", "unclear"):
            left = "no effect remains" if status == "none" else "no significant effect remains"
            yield f"{shown(name, LONG_NAME)}: {points} alone; {among}, {left}."


# ---------------------------------------------------------------- the page


class Part(NamedTuple):
    """A part of a bar, which begins at a share of its length."""

    name: str
    rows: int
    begin: float
    share: float


def page_of(report: Report) -> dict[str, Any]:
    """What the page shows of a report: texts, and the views of each section."""
    ranked, settings = report.relevance, report.relevance.settings
    done = [shown(note) for note in (*report.reading, *describe_notes(ranked.notes))]
    done = [note[:1].upper() + note[1:] + ("" if note.endswith((".", "?", "!")) else ".") for note in done]
    unclear = (
        *_listed("", explain_statuses(ranked)),
        *_listed("Different alone: what a univariate filter would show", _different_alone(report), 8),
    )
    measure, are_classes = measure_of(settings), settings.scale == "classes"
    return {
        "classes": _classes(report),
        "facts": _facts(report),
        "mean": None if report.spread is None else measure.average,
        "folded": "Values, transitions and rows" if are_classes else "Values and rows",
        "measured": "label shares" if are_classes else f"the {measure.average} of the label",
        "unit": "percentage points" if are_classes else measure.name or "its unit",
        "verdict": _verdict(report),
        "reasons": [*_reasons(report), *warnings_of(ranked.notes)],
        "assumed": assumed(settings.n_groups),
        "given": "the deciding set" if settings.given == "auto" else held_fixed(settings.given, ()),
        "row_names": ROW_NAMES,
        "views": {
            "ranking": [replace(view_relevance(ranked, top=MAX_RANKED, alone=report.alone), headline="")],
            "given": [view_selection(report.selection)],
            "same": _same(report),
            "together": _together(report),
            "features": [_panel(report, panel) for panel in report.panels],
            "audit": [replace(view_audit(a), title=shown(a.feature, LONG_NAME), examples=()) for a in report.audits],
            "unclear": [View(tables=unclear)] if unclear else [],
            "data": [View("" if done else "Nothing: every column was used as it is.", tables=_listed("", done))],
            "paper": [View(details=view_relevance(ranked, paper=True).tables)] if are_classes else [],
        },
    }


def _classes(report: Report) -> list[Part]:
    """All rows by class; nothing of numbers."""
    classes = report.relevance.classes
    return (
        _stacked(report, [report.class_sizes[classes.index(c)] for c in report.shown_classes])
        if report.shown_classes
        else []
    )


def _facts(report: Report) -> list[tuple[str, str]]:
    """What is said of the label: the number of classes, or the mean and the middle half of numbers."""
    if report.spread is None:
        return [("Classes", f"{len(report.relevance.classes):,}")]
    table = tabulate([0], _spread_columns(report, [report.spread]))
    return [(heading.title, cell.text) for heading, cell in zip(table.headings, table.rows[0], strict=True)]


def _listed(title: str, texts: Iterable[str], most: int | None = None) -> tuple[Table, ...]:
    """Sentences as a list, the first ones if there are more than ``most``; nothing without sentences."""
    texts = list(texts)
    return (tabulate(texts, [text_column("", str)], title=title, most=most or len(texts)),) if texts else ()


def _stacked(report: Report, sizes: Sequence[int], total: int | None = None) -> list[Part]:
    """Rows by class as parts of a bar: the classes that are shown, and all others."""
    total = report.relevance.n_rows if total is None else total
    names = [marked(name, 40) for name in report.shown_classes]
    if n_left := len(report.relevance.classes) - len(names):
        names.append(counted(n_left, "other class", "other classes"))
    begins, sizes = [0, *accumulate(map(int, sizes))], [*map(int, sizes), total - sum(map(int, sizes))]
    return [Part(name, n, begin / total, n / total) for name, n, begin in zip(names, sizes, begins, strict=False)]


def _same(report: Report) -> list[View]:
    """Redundant columns."""
    view = view_redundancies(report.redundancies)
    tables = tuple(replace(table, title="Redundant columns") for table in view.tables)
    return [replace(view, headline="", tables=tables)] if tables else []


def _together(report: Report) -> list[View]:
    """Pairs of features, with label shares by the values of those that act together."""
    if report.relevance.settings.n_groups is not None:
        return [View("Not tested: tests of interactions assume independent rows, and this table has groups.")]
    if report.interactions is None:
        return []
    tested = (
        f"Tested: features that have an effect or are in the deciding set, with at most {MAX_PAIRED_VALUES} values."
    )
    view = view_interactions(report.interactions)
    cards = []
    for pair in report.together:
        grid = share_grid(pair)
        across, down = (shown(name, LONG_NAME) for name in (grid.across, grid.down))
        table = share_table(grid, head=f"{down} ↓ {across} →")
        about = f"{grid.what[0].upper()}{grid.what[1:]} over all rows"
        cards.append(View(title=f"{across} × {down}", tables=(replace(table, title=about),)))
    return [replace(view, lines=(*view.lines, tested)), *cards]


def _panel(report: Report, panel: Panel) -> View:
    """One feature: a sentence, and its values, transitions and example rows."""
    ranked = report.relevance
    i = ranked.names.index(panel.feature)
    direction, copied, are_classes = ranked.direction[i], ranked.same_as[i], ranked.settings.scale == "classes"
    among, n_pairs = f"Among {agreeing_on(ranked.given[i])},", int(ranked.compared[i])
    if copied is not None:
        line = f"It carries the same information as {shown(copied, LONG_NAME)}; no test can distinguish the two."
    elif direction is None:
        line = "It has one value only." if ranked.status[i] == "constant" else "No two rows can be compared."
    elif ranked.status[i] == "effect" and not has_direction(direction):
        line = f"{among} it has an effect, but {MIXED}."
    else:
        measure = measure_of(ranked.settings)
        crude = f" Crude difference: {measure.change(panel.crude)}{measure.words}." if ranked.given[i] else ""
        line = f"{among} {_say_direction(ranked, direction)}.{crude}"
    n, share = panel.n_compared, percent(panel.n_compared / ranked.n_rows)
    n_left = panel.n_values - len(panel.values)
    values = tabulate(
        range(len(panel.values)),
        [
            text_column("Value", lambda k: marked(panel.values[k], 40)),
            number_column("Rows", lambda k: f"{sum(panel.counts[k]):,}"),
            *(_spread_columns(report, panel.spreads) if panel.spreads else _share_columns(report, panel)),
        ],
        title="The label by value" if panel.spreads else "Values and their label shares",
        note=f"{counted(n_left, 'rarer value')} not shown." if n_left > 0 else "",
    )
    changes = transition_table(
        panel.feature, ranked.label, panel.transitions, n_pairs=n_pairs, n_all=panel.n_transitions
    )
    none = "" if panel.transitions else "None listed: no rows were compared, or there are too many values."
    return View(
        line,
        title=shown(panel.feature, LONG_NAME),
        about=(ranked.status[i] if copied is None else f"same as {shown(copied, 30)}",),
        explanation=(f"Compared: {n:,} rows ({share} of all) in {counted(n_pairs, 'pair')}.",) if n_pairs else (),
        details=(
            values,
            *(
                [replace(changes, title="Transitions in the compared pairs", note=changes.note or none)]
                if are_classes
                else []
            ),
        ),
        examples=tuple(pair_table(panel.feature, ranked.label, pair) for pair in panel.examples),
    )


def _share_columns(report: Report, panel: Panel) -> list[Column]:
    """The share of each class among the rows of each value."""
    bars = [_stacked(report, counts[:-1], sum(counts)) for counts in panel.counts]
    return [
        text_column("Shares", lambda k: Cell("", chart=bars[k])),
        *(
            number_column(marked(name, 20), partial(lambda c, k: percent(bars[k][c].share), c))
            for c, name in enumerate(report.shown_classes)
        ),
    ]


def _spread_columns(report: Report, spreads: Sequence[Spread]) -> list[Column]:
    """The mean score of a number among the rows of each value, and the middle half of the rows.

    All panels have the axis of the scores, from the lowest to the highest tenth of the rows of any value.
    """
    measure = measure_of(report.relevance.settings)
    kind = measure.kind
    every = [*filter(None, [report.spread]), *(spread for panel in report.panels for spread in panel.spreads)]
    (low, first), (high, last) = (
        pick(((one.scores[end], one.quantiles[end]) for one in every), key=itemgetter(0))
        for pick, end in ((min, 0), (max, -1))
    )

    def text(label: Any) -> str:
        return measure.label(float(label) if isinstance(label, int | float) else label, 3)

    def place(score: float) -> float:
        return (score - low) / (high - low) if high > low else 0.5

    def mean(k: int) -> Cell:
        tenth, quarter, _, three_quarters, nine_tenths = map(place, spreads[k].scores)
        score = spreads[k].mean
        marks = Marks(quarter, three_quarters, tenth, nine_tenths, place(score))
        return Cell(three_digits(math.exp(score) if kind == "log" else score), chart=marks)

    def half(k: int) -> str:
        return f"{text(spreads[k].quantiles[1])} to {text(spreads[k].quantiles[3])}"

    ends = (low, high) if kind == "number" and isinstance(first, int | float) else (first, last)  # far ones are bounded
    return [
        number_column(measure.average.capitalize(), mean, axis=tuple(map(text, ends))),
        number_column("Middle half", half),
    ]


# ---------------------------------------------------------------- as HTML


def require_jinja() -> None:
    """Raise an error if jinja2 is not installed."""
    if find_spec("jinja2") is None:
        raise MissingDependencyError(
            'The page needs jinja2, which is not installed. Install it with: pip install "analogical[report]"'
        )


def render(report: Report) -> str:
    """The page as one HTML file without any reference to a network; everything from the data is escaped."""
    require_jinja()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup, escape

    def words(text: str, limit: int | None = None) -> Markup:
        """Escaped text: right-to-left words do not change the order of others, a % sign stays with its number."""
        unbroken = str(escape(shown(text, limit))).replace(" %", "\N{NO-BREAK SPACE}%")
        return Markup(right_to_left.sub(r"<bdi>\g<0></bdi>", unbroken))  # noqa: S704 - escaped before

    template, style, script = (
        files("analogical.show").joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html.j2", "css", "js")
    )
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    right = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+"
    right_to_left = re.compile(rf"{right}(?: {right})*")  # words in Hebrew, Arabic and other such scripts
    embedded = json.dumps(report.to_dict(), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        embedded = embedded.replace(character, f"\\u{ord(character):04x}")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"words": words, "count": "{:,}".format, "percent": percent}
    environment.filters |= {"to_percent": _to_percent, "short": _for_page}
    return environment.from_string(template).render(
        report=report,
        page=page_of(report),
        generator=MARK,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        embedded=Markup(embedded),  # noqa: S704 - <, > and & are escaped
        policy=f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; base-uri 'none';"
        " form-action 'none'",
    )


def _to_percent(share: float | None) -> float | None:
    """A position from 0 to 100 for a share from 0 to 1, with two decimals; None if it is NaN or None."""
    return None if share is None or share != share else round(100 * min(max(share, 0.0), 1.0), 2)


def _for_page(table: Table) -> Table:
    """A table of a view with long names shortened; what it leaves out is in the JSON of the page."""
    columns = list(zip(*table.rows, strict=True))
    for k, column in enumerate(columns):
        if table.headings[k].may_shorten:
            names = shorten_apart([cell.text for cell in column], LONG_NAME)
            columns[k] = tuple(replace(cell, text=name) for cell, name in zip(column, names, strict=True))
    note = table.note.replace(ELSEWHERE, "the JSON below has all")
    return replace(table, rows=tuple(zip(*columns, strict=True)), note=note)
