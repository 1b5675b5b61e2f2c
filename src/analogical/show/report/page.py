"""The content of the page as plain data: words, numbers, and places of bars from 0 to 100. No HTML is made here.

What a template shows is decided here, so that it can be tested without reading HTML. Tables are those of the views.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from analogical.show.audit import view_audit
from analogical.show.evidence import transition_table
from analogical.show.notes import describe_notes
from analogical.show.redundancies import view_redundancies
from analogical.show.relevance import say_given, view_relevance
from analogical.show.report.sentences import describe_answer, describe_limits, describe_turn, verdict
from analogical.show.selection import view_selection
from analogical.show.sentences import (
    MIXED,
    ROW_NAMES,
    STATUSES,
    agreeing_on,
    describe_direction,
    has_direction,
    held_fixed,
)
from analogical.show.squares import share_grid
from analogical.show.views import Table
from analogical.show.words import (
    LONG_NAME,
    and_more,
    counted,
    either,
    in_points,
    listed,
    marked,
    number,
    p_value,
    percent,
    point_interval,
    points_of,
    quoted,
    shorten_apart,
    shown,
    signed,
    signed_share,
    some_of,
    verb,
)
from analogical.verbs.audit import Audit, Difference
from analogical.verbs.evidence import EvidencePair
from analogical.verbs.interactions import Interactions
from analogical.verbs.relevance import Relevance
from analogical.verbs.report import MAX_PAIRED_VALUES, Panel, Report, has_part
from analogical.verbs.squares import Squares

__all__ = ["page_of"]

MAX_ROWS = 300
"""Features in the table: a page on 600 columns stays below 1 MB."""
MAX_AT_ONCE = 20
"""Features that a browser shows before it is asked for all."""
WIDE = 4
"""Cards with more columns take the whole width."""
MAX_CONTEXT = 10
"""Features on which two rows agree that a card names."""
MAX_LISTED = 8
"""Sentences of one kind that are listed."""
MAX_DIFFERENCES = 12
"""Differences of one audit that are drawn."""
LONG_VALUE = 40
"""Values are cut to this length."""
SHADES = 10


def page_of(report: Report) -> dict[str, Any]:
    """Everything that the page shows, in its order."""
    found = report.relevance
    title = f"Effects on {shown(found.label, LONG_NAME)}" if report.title is None else shown(report.title, 120)
    page = {
        "title": title,
        "source": None if report.source is None else shown(report.source, 200),
        "n_rows": found.n_rows,
        "n_features": len(found.names),
        "label": shown(found.label, LONG_NAME),
        "facts": [
            {"name": "Rows", "text": f"{found.n_rows:,}"},
            {"name": "Features", "text": f"{len(found.names):,}"},
            {"name": "Label", "text": shown(found.label, LONG_NAME)},
            {"name": "Classes", "text": f"{len(found.classes):,}"},
        ],
        "classes": _classes(report),
        "verdict": verdict(report),
        "answer": {"code": report.answer, "word": report.answer.capitalize(), "reasons": describe_answer(report)},
        "ranking": _ranking(report),
        "given": _given(report),
        "same": _same(report),
        "together": _together(report),
        "row_names": ROW_NAMES,
        "panels": [_panel(report, panel, place + 1) for place, panel in enumerate(report.panels)],
        "audits": [_audit(found) for found in report.audits],
        "unclear": _unclear(report),
        "done": [_sentence(shown(note)) for note in (*report.reading, *describe_notes(found.notes))],
        "paper": _table(view_relevance(found, top=MAX_ROWS, paper=True).tables[0]),
        "limits": describe_limits(report),
        "settings": _settings(report),
        "command": shown(report.command),
        "json": _embedded(report),
    }
    page["contents"] = _contents(page)
    return page


def _contents(page: dict[str, Any]) -> list[tuple[str, str]]:
    """Anchors and titles of the sections that there are."""
    sections = [
        ("answer", "Answer", True),
        ("ranking", "Effects", True),
        ("given", "Given", True),
        ("same", "Stand-ins", page["same"] is not None),
        ("together", "Together", page["together"] is not None),
        ("features", "Rows", page["panels"]),
        ("audit", "Audit", page["audits"]),
        ("unclear", "Unclear", page["unclear"] is not None),
        ("data", "Data", True),
        ("paper", "Index", True),
        ("limits", "Limits", True),
        ("made", "Made", True),
    ]
    return [(anchor, title) for anchor, title, is_there in sections if is_there]


def _embedded(report: Report) -> str:
    """The result as JSON that no browser can take for markup."""
    text = json.dumps(report.to_dict(), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _place(share: float) -> float:
    """A place on a scale from 0 to 100, rounded to what can be seen."""
    return round(100 * min(max(share, 0.0), 1.0), 2)


def _table(table: Table) -> dict[str, Any]:
    """A table of a view; long names are cut."""
    texts = [[cell.text for cell in column] for column in zip(*table.rows, strict=True)]
    for k, heading in enumerate(table.headings):
        if heading.may_shorten:
            texts[k] = shorten_apart(texts[k], LONG_NAME)
    return {
        "headings": [{"title": heading.title, "is_text": heading.is_text} for heading in table.headings],
        "rows": [
            [
                {
                    "text": texts[k][place],
                    "tone": cell.tone,
                    "width": None if cell.bar is None or cell.bar != cell.bar else _place(cell.bar),
                }
                for k, cell in enumerate(row)
            ]
            for place, row in enumerate(table.rows)
        ],
        "note": table.note,
    }


# ---------------------------------------------------------------- the table


def _classes(report: Report) -> list[dict[str, Any]]:
    """The classes with their shares, as parts of one bar; beyond those shown, the rest together."""
    found = report.relevance
    rows = dict(zip(found.classes, report.class_sizes.tolist(), strict=True))
    parts = [(marked(name, LONG_VALUE), rows[name]) for name in report.shown_classes]
    n_left = len(found.classes) - len(parts)
    if n_left:
        parts.append((counted(n_left, "other class", "other classes"), found.n_rows - sum(n for _, n in parts)))
    return _stacked([n for _, n in parts], [name for name, _ in parts])


def _stacked(sizes: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """Parts of one bar."""
    total = max(sum(sizes), 1)
    begin, parts = 0, []
    for k, (n, name) in enumerate(zip(sizes, names, strict=True)):
        place = {"x": _place(begin / total), "width": _place(n / total), "shade": k % 7}
        parts.append({"name": name, "rows": n, "share": n / total, "text": percent(n / total), **place})
        begin += n
    return parts


# ---------------------------------------------------------------- the effects


def _ranking(report: Report) -> dict[str, Any]:
    """The features, best first, with bars on one scale."""
    found = report.relevance
    records = report.records()
    top = _scale(records[:MAX_ROWS])
    with_panel = {panel.feature for panel in report.panels}
    rows = [_ranked(report, record, top, record["name"] in with_panel) for record in records[:MAX_ROWS]]
    n_left = len(records) - len(rows)
    return {
        "about": (
            f"Effect: difference in the shares of {quoted(found.label, LONG_NAME)} between two values of the feature,"
            " in percentage points, among rows that agree on the given features. p is adjusted for the number of"
            " features."
        ),
        "interval": f"{100 * found.settings.confidence:g} % interval",
        "middle": f"{top / 2:g}",
        "high": f"{top:g}",
        "rows": rows,
        "has_alone": any(row["alone_at"] is not None for row in rows),
        "n_at_once": MAX_AT_ONCE,
        "show": f"Show the best {len(rows)}" if n_left else f"Show all {counted(len(rows), 'feature')}",
        "left_out": f"{counted(n_left, 'more feature')} in the JSON below." if n_left else "",
    }


def _scale(records: Sequence[dict[str, Any]]) -> float:
    """The end of the axis in points: a round number above all effects and intervals."""
    names = ("effect", "effect_high", "alone")
    ends = [points_of(record[name]) for record in records for name in names if record[name] is not None]
    return float(
        next(end for end in (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100) if end >= min(max([*ends, 0.0]), 100.0))
    )


def _ranked(report: Report, record: dict[str, Any], top: float, has_panel: bool) -> dict[str, Any]:
    """One row of the chart."""
    found = report.relevance
    i = found.names.index(record["name"])
    size, low, high, alone = (
        None if record[name] is None else points_of(record[name])
        for name in ("effect", "effect_low", "effect_high", "alone")
    )
    whisker = {}
    if low is not None and high is not None:
        left, right = _place(low / top), _place(high / top)
        whisker = {"x": left, "width": round(right - left, 2), "end": right}
    return {
        "rank": record["rank"],
        "name": shown(record["name"], LONG_NAME),
        "plain": shown(record["name"], 200),
        "anchor": f"f-{record['rank']}" if has_panel else None,
        "direction": _direction(found, i),
        "size": size,
        "size_text": "-" if size is None else in_points(size),
        "interval_text": "-" if low is None or high is None else point_interval(low, high),
        "p": record["p_adjusted"],
        "p_text": p_value(math.nan if record["p_adjusted"] is None else record["p_adjusted"]),
        "alone": alone,
        "alone_text": "-" if alone is None else in_points(alone),
        "alone_at": None if alone is None else _place(alone / top),
        "status": record["status"],
        "status_text": _status_text(found, i),
        "has_effect": record["status"] == "effect",
        "bar": None if size is None else _place(size / top),
        "whisker": whisker,
    }


def _direction(found: Relevance, i: int) -> str:
    """In a few words which value has which label more often; nothing without an effect."""
    points = found.points[i]
    if found.status[i] != "effect" or points is None:
        return ""
    if not has_direction(found, i):
        return f"mixed: {MIXED}"
    return (
        f"{marked(points.value, 24)}: {marked(points.label, 20)} {signed(points.points)} vs."
        f" {marked(points.against, 24)}"
    )


def _status_text(found: Relevance, i: int) -> str:
    """The status in a few words, with the feature that is copied."""
    copied = found.same_as[i]
    return found.status[i] if copied is None else f"same as {shown(copied, 30)}"


# ---------------------------------------------------------------- given what, copies and stand-ins


def _given(report: Report) -> dict[str, Any]:
    """What compared rows agree on: the deciding set with what each member adds."""
    view = view_selection(report.selection)
    is_auto = report.relevance.settings.given == "auto"
    return {
        "intro": say_given(report.relevance),
        "beside": "" if is_auto or not view.tables else "The deciding set would be:",
        "table": _table(view.tables[0]) if view.tables else None,
        "lines": list(view.lines),
    }


def _same(report: Report) -> dict[str, Any] | None:
    """Copies, stand-ins, and columns that determine others; None if there are none."""
    found = report.relevance
    copies: dict[str, list[str]] = {}
    for name in found.with_status("same"):
        copies.setdefault(found.same_as[found.names.index(name)] or "", []).append(name)
    stand_ins = [
        f"{shown(name, LONG_NAME)} could be replaced by {either(others)}."
        for name in found.ranking()
        if (others := found.stand_ins[found.names.index(name)])
    ]
    exact = view_redundancies(report.redundancies)
    if not copies and not stand_ins and not exact.tables:
        return None
    return {
        "copies": _first(
            [
                f"{listed(names)} {verb(names, 'carries', 'carry')} the same information as {shown(of, LONG_NAME)}."
                for of, names in copies.items()
            ]
        ),
        "stand_ins": _first(stand_ins),
        "exact": _table(exact.tables[0]) if exact.tables else None,
        "not_searched": " ".join(exact.lines),
    }


def _first(texts: Sequence[str]) -> list[str]:
    """The first of some sentences, and how many more there are."""
    n_left = len(texts) - MAX_LISTED
    return [*texts[:MAX_LISTED], *([and_more(n_left, "the JSON below has all")] if n_left > 0 else [])]


# ---------------------------------------------------------------- one feature


def _panel(report: Report, panel: Panel, rank: int) -> dict[str, Any]:
    """One feature: a line, and what stands behind it."""
    found = report.relevance
    i = found.names.index(panel.feature)
    n_left = panel.n_values - len(panel.values)
    largest = f"The {len(panel.transitions)} largest of {panel.n_transitions:,}."
    return {
        "anchor": f"f-{rank}",
        "rank": rank,
        "name": shown(panel.feature, LONG_NAME),
        "status": found.status[i],
        "status_text": _status_text(found, i),
        "has_effect": found.status[i] == "effect",
        "line": _line(report, panel, i),
        "values": [
            {
                "name": marked(entry.value, LONG_VALUE),
                "rows": entry.n_rows,
                "parts": _stacked(
                    [*entry.by_class, entry.n_rows - sum(entry.by_class)],
                    [*(marked(name, LONG_VALUE) for name in report.shown_classes), "other classes"],
                ),
            }
            for entry in panel.values
        ],
        "classes": [marked(name, 20) for name in report.shown_classes],
        "values_left": f"{counted(n_left, 'rarer value')} not shown." if n_left > 0 else "",
        "transitions": _table(
            transition_table(
                panel.feature,
                found.label,
                panel.transitions,
                int(found.compared[i]),
                largest if panel.n_transitions > len(panel.transitions) else "",
            )
        )
        if panel.transitions
        else None,
        "cards": [
            _twins(report, pair, panel.feature, title)
            for pair, title in (
                (panel.changed_pair, "Changed: the labels differ"),
                (panel.kept_pair, "Unchanged: the labels are the same"),
            )
            if pair is not None
        ],
        "numbers": _numbers(found, i, panel.n_compared),
    }


def _line(report: Report, panel: Panel, i: int) -> str:
    """The effect of the feature, in a sentence or two."""
    found = report.relevance
    points, same_as = found.points[i], found.same_as[i]
    if same_as is not None:
        return f"It carries the same information as {shown(same_as, LONG_NAME)}; no test can distinguish the two."
    if found.status[i] == "constant":
        return "It has one value only."
    if points is None:
        return "No two rows can be compared."
    among = f"Among {agreeing_on(found.given[i])},"
    if found.status[i] == "effect" and not has_direction(found, i):
        return f"{among} it has an effect, but {MIXED}."
    crude = f" Crude difference: {signed(panel.crude)}." if found.given[i] else ""
    return f"{among} {describe_direction(points)}.{crude}"


def _numbers(found: Relevance, i: int, n_compared: int) -> list[tuple[str, str]]:
    """The numbers of a feature by name."""
    if not found.compared[i]:
        return []
    size, low, high = (points_of(float(x[i])) for x in (found.effect, found.effect_low, found.effect_high))
    noise = float(found.noise_rate[i])
    return [
        ("Effect", f"{in_points(size)} points ({point_interval(low, high)})"),
        ("Adjusted p", p_value(float(found.p_adjusted[i]))),
        ("Rows compared", f"{n_compared:,} ({percent(n_compared / found.n_rows)})"),
        ("Pairs compared", number(found.compared[i])),
        ("Index", percent(float(found.index[i]))),
        ("Noise", percent(noise) if noise == noise else "-"),
    ]


def _twins(report: Report, pair: EvidencePair, feature: str, title: str) -> dict[str, Any]:
    """Two rows as a card."""
    n_left = len(pair.context) - MAX_CONTEXT
    return {
        "title": title,
        "changed": pair.changed,
        "rows": _row_names(pair),
        "feature": shown(feature, LONG_NAME),
        "values": [marked(cell, LONG_VALUE) for cell in pair.values],
        "label": shown(report.relevance.label, LONG_NAME),
        "labels": [marked(cell, LONG_VALUE) for cell in pair.labels],
        "equal": [(shown(name, LONG_NAME), marked(cell, LONG_VALUE)) for name, cell in pair.context[:MAX_CONTEXT]],
        "equal_left": f"and {counted(n_left, 'more feature')} on which they agree" if n_left > 0 else "",
        "weight": f"These two rows represent {counted(pair.weight, 'pair')}." if pair.weight > 1 else "",
    }


def _row_names(pair: EvidencePair) -> list[str]:
    """The rows of a pair, which have no names where they have no order."""
    if pair.index is None:
        return ["one row", "another row"]
    return [f"row {shown(name, LONG_NAME)}" for name in pair.index]


# ---------------------------------------------------------------- features together


def _together(report: Report) -> dict[str, Any] | None:
    """Pairs that act together, value by value."""
    found = report.interactions
    if found is None:
        return None
    cards = [_square_card(found, squares) for squares in report.squares]
    parts = [i for i in range(len(report.relevance)) if has_part(report.relevance, i)]
    many = [i for i in parts if report.relevance.feature_columns[i].n_values > MAX_PAIRED_VALUES]
    pairs = f"the {found.n_possible:,} pairs" if found.n_possible > 1 else "the pair"
    if len(found) < found.n_possible:
        pairs = f"{len(found):,} of {found.n_possible:,} pairs"
    tested = f"Tested: {pairs} of features that have an effect or are in the deciding set"
    if many:
        tested += f", {counted(len(many), 'feature')} with more than {MAX_PAIRED_VALUES} values left out"
    n_acting = sum(status == "effect" for status in found.status)
    if cards:
        intro = "The effect of one feature depends on the other. Darker cells: the class is more frequent."
        if n_acting > len(cards):
            intro += f" The {len(cards)} strongest of {n_acting:,} pairs are shown."
    elif not any(found.squares):
        intro = "No four rows form a square, so no pair can be tested."
    else:
        intro = "No interaction is significant."
    return {"intro": intro, "tested": f"{tested}.", "cards": cards}


def _square_card(pairs: Interactions, found: Squares) -> dict[str, Any]:
    """Shares of one class by the values of two features."""
    record, grid = pairs[found.first, found.second], share_grid(found)
    facts = [f"p {p_value(record['p_adjusted'])}"]
    if record["effect"] is not None:
        size, low, high = (2 * points_of(record[name]) for name in ("effect", "effect_low", "effect_high"))
        facts = [f"the effect of one differs by {in_points(size)} points ({point_interval(low, high)})", *facts]
    given = f"among {agreeing_on(record['given'])}: " if record["given"] else ""
    about = f"{given}{', '.join(facts)}."
    return {
        "first": shown(grid.across, LONG_NAME),
        "second": shown(grid.down, LONG_NAME),
        "is_wide": len(grid.across_values) > WIDE,
        "label": marked(grid.label, LONG_VALUE),
        "facts": about[0].upper() + about[1:],
        "across": [marked(value, 20) for value in grid.across_values],
        "down": [marked(value, 20) for value in grid.down_values],
        "cells": [
            [_cell(n, with_label) for n, with_label in zip(*line, strict=True)]
            for line in zip(grid.rows, grid.with_label, strict=True)
        ],
        "left_out": grid.left_out,
    }


def _cell(rows: int, with_label: int) -> dict[str, Any]:
    if not rows:
        return {"share": None, "text": "-", "rows": 0, "shade": None, "about": "no rows"}
    share = with_label / rows
    return {
        "share": share,
        "text": f"{100 * share:.0f} %",
        "rows": rows,
        "shade": round(SHADES * share),
        "about": f"of {rows:,}",
    }


# ---------------------------------------------------------------- audits


def _audit(found: Audit) -> dict[str, Any]:
    """One protected column: adjusted and crude differences, and the conclusion."""
    view = view_audit(found)
    drawn = sorted(found.differences, key=lambda d: -abs(d.difference))[:MAX_DIFFERENCES]
    ends = [abs(end) for d in drawn for end in (d.crude, d.difference_low, d.difference_high)]
    reach = min(1.1 * max([end for end in ends if end == end], default=1.0), 1.0) or 1.0
    n = len(found.differences)
    return {
        "feature": shown(found.feature, LONG_NAME),
        "finding": found.finding,
        "conclusion": view.headline,
        "facts": list(view.lines),
        "rows": [_difference(d, reach) for d in drawn],
        "left_out": f"The {len(drawn)} largest of {n:,} differences." if n > len(drawn) else "",
        "reach": f"{100 * reach:.0f}",
    }


def _difference(found: Difference, reach: float) -> dict[str, Any]:
    def at(share: float) -> float:
        return _place((share / reach + 1) / 2)

    return {
        "reference": marked(found.values[0], LONG_VALUE),
        "value": marked(found.values[1], LONG_VALUE),
        "label": marked(found.label, LONG_VALUE),
        "difference_text": signed_share(found.difference),
        "interval_text": f"{signed_share(found.difference_low)} to {signed_share(found.difference_high)}",
        "crude_text": signed_share(found.crude),
        "odds_text": f"{found.odds_ratio:.2f}" if math.isfinite(found.odds_ratio) else "-",
        "p_text": p_value(found.p_adjusted),
        "at": at(found.difference),
        "low": at(found.difference_low),
        "width": round(at(found.difference_high) - at(found.difference_low), 2),
        "crude_at": at(found.crude),
    }


# ---------------------------------------------------------------- what is not known, and what was done


def _unclear(report: Report) -> dict[str, Any] | None:
    """Features that are unclear or have no effect, and those with another status alone; None if there are none."""
    found = report.relevance
    lists = []
    for status in ("unclear", "none", "constant"):
        names = found.with_status(status)
        if names:
            items = [f"{some_of(names, 2 * MAX_LISTED)}."]
            if status == "unclear":
                items = _first([_why_unclear(found, found.names.index(name)) for name in names])
            lists.append({"title": f"{status.capitalize()}: {STATUSES[status].meaning}", "items": items})
    if report.turned:
        items = [f"{shown(item.feature, LONG_NAME)}: {describe_turn(report, item)}" for item in report.turned]
        lists.append({"title": "Different alone: what a univariate filter would show", "items": _first(items)})
    return {"lists": lists} if lists else None


def _why_unclear(found: Relevance, i: int) -> str:
    name = shown(found.names[i], LONG_NAME)
    if not found.compared[i]:
        return f"{name}: no two rows can be compared."
    p = float(found.p_adjusted[i])
    tested = "no label changed" if p != p else f"p {p_value(p)}"
    return f"{name}: {tested}, the interval ends at {in_points(points_of(float(found.effect_high[i])))} points."


def _sentence(text: str) -> str:
    """A note as a sentence: with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


# ---------------------------------------------------------------- how it was made


def _settings(report: Report) -> list[tuple[str, str]]:
    """Settings and versions, by name."""
    settings = report.relevance.settings
    given = "the deciding set" if settings.given == "auto" else held_fixed(settings.given, ())
    entries = [
        ("Given", given),
        ("Confidence", f"{settings.confidence:g}"),
        ("Rows", "weighted" if settings.weighted else "unweighted"),
    ]
    if settings.searched_rows is not None and settings.searched_rows < report.relevance.n_rows:
        entries.append(("Deciding set", f"chosen on {counted(settings.searched_rows, 'row')}, evenly spaced"))
    if settings.n_groups is not None:
        entries.append(("Groups", f"{settings.n_groups:,}"))
    return [*entries, ("Versions", ", ".join(f"{name} {version}" for name, version in report.versions.items()))]
