"""The content of the page as plain data: words, numbers, and places of bars from 0 to 100. No HTML is made here.

The user's words are between the marks of ``words``. What a template shows is decided here, so that it can be
tested without reading HTML.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from analogical.show.audit import view_audit
from analogical.show.notes import describe_notes
from analogical.show.redundancies import view_redundancies
from analogical.show.relevance import has_direction
from analogical.show.report.sentences import (
    agreeing_on,
    describe_answer,
    describe_direction,
    describe_given,
    describe_limits,
    describe_turn,
    measure_of,
    size_of,
    verdict,
)
from analogical.show.report.words import each, in_points, signed, some, value, word
from analogical.show.selection import WORDS, view_selection
from analogical.show.words import and_more, counted, number, p_value, percent, shares, shown, verb
from analogical.verbs.audit import Audit, Difference
from analogical.verbs.evidence import EvidencePair, Transition
from analogical.verbs.interactions import Interactions
from analogical.verbs.relevance import NEGLIGIBLE, Relevance
from analogical.verbs.report import MAX_PAIRED_VALUES, Panel, Report, has_part
from analogical.verbs.squares import Squares

__all__ = ["page_of"]

MAX_ROWS = 500
"""Features in the table."""
MAX_AT_ONCE = 20
"""Features that a browser shows before it is asked for all."""
MAX_CELLS = 6
"""Values of a feature in a card of two features."""
WIDE = 4
"""Cards with more columns take the whole width."""
MAX_CONTEXT = 10
"""Features on which two rows agree that a card names."""
MAX_FOUND = 8
"""Findings of one kind that are listed."""
SHADES = 10

STATUS = {"effect": "effect", "unclear": "unclear", "none": "none", "constant": "one value"}
PAPER = {
    "relevant": "relevant",
    "irrelevant": "irrelevant",
    "constant": "one value",
    "no-pairs": "no pairs",
}
STARTS = ("missing cells", "left out:", "set aside", "the ", "numbers in", "dates in", "label:", "ignored:")
"""Beginnings of notes that are words of ours."""
ANSWERS = {"yes": "Yes", "partly": "Partly", "no": "No"}


def page_of(report: Report) -> dict[str, Any]:
    """Everything that the page shows, in its order."""
    found = report.relevance
    title = f"Effects on {word(found.label)}" if report.title is None else word(report.title, 120)
    page = {
        "title": title,
        "source": None if report.source is None else word(report.source, 200),
        "n_rows": found.n_rows,
        "n_features": len(found.names),
        "label": word(found.label),
        "facts": [
            {"name": "Rows", "text": f"{found.n_rows:,}"},
            {"name": "Features", "text": f"{len(found.names):,}"},
            {"name": "Label", "text": word(found.label)},
            {"name": "Classes", "text": f"{len(found.classes):,}"},
        ],
        "classes": _classes(report),
        "verdict": verdict(report),
        "answer": {"code": report.answer, "word": ANSWERS[report.answer], "reasons": describe_answer(report)},
        "ranking": _ranking(report),
        "given": _given(report),
        "same": _same(report),
        "together": _together(report),
        "panels": [_panel(report, panel, place + 1) for place, panel in enumerate(report.panels)],
        "audits": [_audit(found) for found in report.audits],
        "unclear": _unclear(report),
        "data": _data(report),
        "paper": _paper(report),
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


# ---------------------------------------------------------------- the table


def _classes(report: Report) -> list[dict[str, Any]]:
    """The classes with their shares, as parts of one bar; beyond those shown, the rest together."""
    found = report.relevance
    rows = dict(zip(found.classes, report.class_sizes.tolist(), strict=True))
    parts = [(value(name), rows[name]) for name in report.shown_classes]
    n_left = len(found.classes) - len(parts)
    if n_left:
        parts.append((counted(n_left, "other class", "other classes"), found.n_rows - sum(n for _, n in parts)))
    return _stacked([n for _, n in parts], [name for name, _ in parts])


def _stacked(sizes: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """Parts of one bar."""
    total = max(sum(sizes), 1)
    begin, parts = 0, []
    for k, (n, name) in enumerate(zip(sizes, names, strict=True)):
        parts.append(
            {
                "name": name,
                "rows": n,
                "share": n / total,
                "text": percent(n / total),
                "x": _place(begin / total),
                "width": _place(n / total),
                "shade": k % 7,
            }
        )
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
        "about": measure_of(found),
        "interval": f"{100 * found.settings.confidence:g} % interval",
        "middle": f"{top / 2:g}",
        "high": f"{top:g}",
        "rows": rows,
        "has_alone": any(row["alone_at"] is not None for row in rows),
        "n_at_once": MAX_AT_ONCE,
        "left_out": f"{counted(n_left, 'more feature')} in the JSON below." if n_left else "",
    }


def _scale(records: Sequence[dict[str, Any]]) -> float:
    """The end of the axis in points: a round number above all effects and intervals."""
    names = ("effect", "effect_high", "alone")
    ends = [size_of(record[name]) for record in records for name in names if record[name] is not None]
    return float(
        next(end for end in (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100) if end >= min(max([*ends, 0.0]), 100.0))
    )


def _ranked(report: Report, record: dict[str, Any], top: float, has_panel: bool) -> dict[str, Any]:
    """One row of the chart."""
    found = report.relevance
    size, low, high = (
        size_of(record[name]) if record[name] is not None else None for name in ("effect", "effect_low", "effect_high")
    )
    alone = None if record["alone"] is None else size_of(record["alone"])
    whisker = {}
    if low is not None and high is not None:
        left, right = _place(low / top), _place(high / top)
        whisker = {"x": left, "width": round(right - left, 2), "end": right}
    return {
        "rank": record["rank"],
        "name": word(record["name"]),
        "plain": shown(record["name"], 200),
        "anchor": f"f-{record['rank']}" if has_panel else None,
        "direction": _direction(report, record["name"]),
        "size": size,
        "size_text": "–" if size is None else f"{size:.1f}",
        "interval_text": "–" if low is None or high is None else f"{low:.1f} to {high:.1f}",
        "p": record["p_adjusted"],
        "p_text": _typeset(p_value(math.nan if record["p_adjusted"] is None else record["p_adjusted"])),
        "alone": alone,
        "alone_text": "–" if alone is None else f"{alone:.1f}",
        "alone_at": None if alone is None else _place(alone / top),
        "status": record["status"],
        "status_text": _status_text(found, found.names.index(record["name"])),
        "has_effect": record["status"] == "effect",
        "bar": None if size is None else _place(size / top),
        "whisker": whisker,
    }


def _direction(report: Report, name: str) -> str:
    """In a few words which value has which label more often; nothing without an effect."""
    found = report.relevance
    i = found.names.index(name)
    points = found.points[i]
    if found.status[i] != "effect" or points is None:
        return ""
    if not has_direction(found, i):
        return "mixed: depends on other features"
    difference = f"{value(points.label, 20)} {signed(points.points)} vs. {value(points.against, 24)}"
    return f"{value(points.value, 24)}: {difference}"


def _status_text(found: Relevance, i: int) -> str:
    """The status in a few words, with the feature that is copied."""
    copied = found.same_as[i]
    if copied is not None:
        return f"same as {word(copied, 30)}"
    return STATUS[found.status[i]]


def _typeset(number_text: str) -> str:
    """A number with the signs of print: a minus, or a dash where there is none."""
    return "–" if number_text == "-" else number_text.replace("-", "−")


# ---------------------------------------------------------------- given what, copies and stand-ins


def _given(report: Report) -> dict[str, Any]:
    """What compared rows agree on: the deciding set with the gain of each member."""
    found = report.selection
    view = view_selection(found)
    rows = [
        {
            "place": place + 1,
            "name": word(name),
            "gain": float(found.gain[place]),
            "gain_text": _typeset(view.tables[0].rows[place][2].text),
            "explained": float(found.explained[place]),
            "explained_text": percent(float(found.explained[place])),
            "width": _place(float(found.explained[place])),
            "why": _chosen_because(report, place),
        }
        for place, name in enumerate(found.features)
    ]
    is_auto = report.relevance.settings.given == "auto"
    return {
        "intro": describe_given(report),
        "beside": "" if is_auto or not rows else "The deciding set would be:",
        "caveat": view.caveat,
        "rows": rows,
        "findings": list(view.findings),
    }


def _chosen_because(report: Report, place: int) -> str:
    found = report.selection
    if found.why[place] == "interaction":
        return f"interaction with {each(found.partners[place])}"
    return WORDS[found.why[place]]


def _same(report: Report) -> dict[str, Any] | None:
    """Copies, stand-ins, and columns that determine others; None if there are none."""
    found = report.relevance
    copies: dict[str, list[str]] = {}
    for name in found.with_status("same"):
        copies.setdefault(found.same_as[found.names.index(name)] or "", []).append(name)
    stand_ins = [
        f"{word(name)} could be replaced by {_either(found.stand_ins[found.names.index(name)])}."
        for name in found.ranking()
        if found.stand_ins[found.names.index(name)]
    ]
    exact = view_redundancies(report.redundancies)
    said = [text for text in exact.findings if not text.startswith("constant:")]
    if not copies and not stand_ins and not said:
        return None
    return {
        "copies": _first(
            [
                f"{each(names)} {verb(names, 'carries', 'carry')} the same information as {word(of)}."
                for of, names in copies.items()
            ]
        ),
        "stand_ins": _first(stand_ins),
        "exact": _first(said),
        "not_searched": exact.caveat,
    }


def _either(names: Sequence[str]) -> str:
    """Names in a sentence: a, b or c."""
    *most, last = map(word, names)
    return f"{', '.join(most)} or {last}" if most else last


def _first(texts: Sequence[str]) -> list[str]:
    """The first of some findings, and how many more there are."""
    n_left = len(texts) - MAX_FOUND
    return [*texts[:MAX_FOUND], *([and_more(n_left, "the JSON below has all")] if n_left > 0 else [])]


# ---------------------------------------------------------------- one feature


def _panel(report: Report, panel: Panel, rank: int) -> dict[str, Any]:
    """One feature: a line, and what stands behind it."""
    found = report.relevance
    i = found.names.index(panel.feature)
    n_left = panel.n_values - len(panel.values)
    return {
        "anchor": f"f-{rank}",
        "rank": rank,
        "name": word(panel.feature),
        "status": found.status[i],
        "status_text": _status_text(found, i),
        "has_effect": found.status[i] == "effect",
        "line": _line(report, panel, i),
        "values": [
            {
                "name": value(entry.value),
                "rows": entry.n_rows,
                "rows_text": f"{entry.n_rows:,}",
                "parts": _stacked(
                    [*entry.by_class, entry.n_rows - sum(entry.by_class)],
                    [*(value(name) for name in report.shown_classes), "other classes"],
                ),
            }
            for entry in panel.values
        ],
        "classes": [value(name, 20) for name in report.shown_classes],
        "values_left": f"{counted(n_left, 'rarer value')} not shown." if n_left > 0 else "",
        "transitions": [_transition(int(found.compared[i]), t) for t in panel.transitions],
        "transitions_left": (
            f"The {len(panel.transitions)} largest of {panel.n_transitions:,}."
            if panel.n_transitions > len(panel.transitions)
            else ""
        ),
        "cards": [
            _twins(report, pair, panel.feature, title)
            for pair, title in (
                (panel.changed_pair, "Changed: the labels differ"),
                (panel.kept_pair, "Unchanged: the labels are the same"),
            )
            if pair is not None
        ],
        "coverage": _coverage(report, panel, i),
        "numbers": _numbers(report, panel, i),
    }


def _line(report: Report, panel: Panel, i: int) -> str:
    """The effect of the feature, in a sentence or two."""
    found = report.relevance
    points, same_as = found.points[i], found.same_as[i]
    if found.status[i] == "constant":
        return "It has one value only."
    if same_as is not None:
        return f"It carries the same information as {word(same_as)}; no test can distinguish the two."
    if points is None:
        return "No two rows can be compared."
    given = f"Among rows {agreeing_on(found.given[i])}, " if found.given[i] else "Among all rows, "
    if found.status[i] == "effect" and not has_direction(found, i):
        return f"{given}it has an effect, but the direction depends on the other features."
    crude = f" Crude difference: {signed(panel.crude)}." if found.given[i] else ""
    return f"{given}{describe_direction(points)}.{crude}"


def _numbers(report: Report, panel: Panel, i: int) -> list[tuple[str, str]]:
    """The numbers of a feature by name."""
    found = report.relevance
    if not found.compared[i]:
        return []
    size, low, high = (size_of(float(numbers[i])) for numbers in (found.effect, found.effect_low, found.effect_high))
    return [
        ("Effect", f"{in_points(size)} ({low:.1f} to {high:.1f})"),
        ("Adjusted p", _typeset(p_value(float(found.p_adjusted[i])))),
        ("Pairs compared", number(found.compared[i])),
        ("Index", percent(float(found.index[i]))),
        ("Noise", percent(float(found.noise_rate[i])) if found.noise_rate[i] == found.noise_rate[i] else "–"),
        ("Rows compared", percent(panel.n_compared / found.n_rows)),
    ]


def _transition(n_pairs: int, found: Transition) -> dict[str, Any]:
    return {
        "values": [value(cell) for cell in found.values],
        "labels": [value(cell) for cell in found.labels],
        "changed": found.changed,
        "pairs": found.pairs,
        "pairs_text": number(found.pairs),
        "share_text": percent(found.pairs / n_pairs),
        "width": _place(found.pairs / n_pairs),
    }


def _twins(report: Report, pair: EvidencePair, feature: str, title: str) -> dict[str, Any]:
    """Two rows as a card."""
    n_left = len(pair.context) - MAX_CONTEXT
    return {
        "title": title,
        "changed": pair.changed,
        "rows": [word(name) for name in pair.index],
        "feature": word(feature),
        "values": [value(cell) for cell in pair.values],
        "label": word(report.relevance.label),
        "labels": [value(cell) for cell in pair.labels],
        "equal": [(word(name), value(cell)) for name, cell in pair.context[:MAX_CONTEXT]],
        "equal_left": f"and {counted(n_left, 'more feature')} on which they agree" if n_left > 0 else "",
        "weight": f"These two rows represent {counted(pair.weight, 'pair')}." if pair.weight > 1 else "",
    }


def _coverage(report: Report, panel: Panel, i: int) -> dict[str, Any]:
    """Which rows were compared at all."""
    found = report.relevance
    share = panel.n_compared / found.n_rows
    partner = "a partner with another value"
    if found.given[i]:
        partner += f" that agrees on {some(found.given[i], 5)}"
    said = f"{panel.n_compared:,} of {counted(found.n_rows, 'row')} ({percent(share)}) have {partner}."
    return {"share": share, "width": _place(share), "text": percent(share), "said": said}


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
    """Shares of one class: values of the first feature across, of the second one down."""
    record = pairs[found.first, found.second]
    c = _class_shown(found)
    sides = [
        (found.first, found.first_values, _frequent(found.counts.sum(axis=(1, 2)))),
        (found.second, found.second_values, _frequent(found.counts.sum(axis=(0, 2)))),
    ]
    is_turned = len(sides[0][2]) > len(sides[1][2])
    (first, first_values, across), (second, second_values, down) = sides[::-1] if is_turned else sides
    counts = found.counts.swapaxes(0, 1) if is_turned else found.counts
    cells = [[_cell(counts[u, v], c) for u in across] for v in down]
    facts = [] if record["effect"] is None else [f"interaction {shares(record['effect'])} ({_bounds(record)})"]
    facts.append(f"p {p_value(record['p_adjusted'])}")
    given = f"Among rows {agreeing_on(record['given'])}: " if record["given"] else ""
    rarer = [
        f"{counted(len(values) - MAX_CELLS, 'rarer value')} of {word(name)}"
        for name, values, _ in sides
        if len(values) > MAX_CELLS
    ]
    return {
        "first": word(first),
        "second": word(second),
        "is_wide": len(across) > WIDE,
        "label": value(found.classes[c]),
        "facts": f"{given}{', '.join(facts)}.",
        "across": [value(first_values[u], 20) for u in across],
        "down": [value(second_values[v], 20) for v in down],
        "cells": cells,
        "left_out": f"Not shown: {' and '.join(rarer)}." if rarer else "",
    }


def _bounds(record: dict[str, Any]) -> str:
    return f"{shares(record['effect_low'])} to {shares(record['effect_high'])}"


def _frequent(sizes: Any) -> list[int]:
    return sorted(sorted(range(len(sizes)), key=lambda k: -int(sizes[k]))[:MAX_CELLS])


def _class_shown(found: Squares) -> int:
    """The second of two classes; of more, the one whose share differs most between cells."""
    if len(found.classes) == 2:
        return 1
    rows = found.counts.sum(axis=2)
    filled = found.counts[rows > 0] / rows[rows > 0][:, None]
    weights = rows[rows > 0]
    means = (filled * weights[:, None]).sum(axis=0) / weights.sum()
    return int(((filled - means) ** 2 * weights[:, None]).sum(axis=0).argmax())


def _cell(by_label: Any, c: int) -> dict[str, Any]:
    rows = int(by_label.sum())
    if not rows:
        return {"share": None, "text": "–", "rows": 0, "shade": None, "about": "no rows"}
    share = int(by_label[c]) / rows
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
    shown_differences = sorted(found.differences, key=lambda d: -abs(d.difference))[:12]
    ends = [abs(end) for d in shown_differences for end in (d.crude, d.difference_low, d.difference_high)]
    reach = min(1.1 * max([end for end in ends if end == end], default=1.0), 1.0) or 1.0
    n_left = len(found.differences) - len(shown_differences)
    return {
        "feature": word(found.feature),
        "label": word(found.label),
        "finding": found.finding,
        "conclusion": list(view.findings),
        "facts": list(view.facts),
        "rows": [_difference(d, reach) for d in shown_differences],
        "left_out": f"The {len(shown_differences)} largest of {len(found.differences):,} differences."
        if n_left
        else "",
        "reach": f"{100 * reach:.0f}",
        "caveat": view.caveat,
    }


def _difference(found: Difference, reach: float) -> dict[str, Any]:
    def at(share: float) -> float:
        return _place((share / reach + 1) / 2)

    return {
        "reference": value(found.values[0]),
        "value": value(found.values[1]),
        "label": value(found.label),
        "difference": found.difference,
        "difference_text": signed(100 * found.difference),
        "interval_text": f"{signed(100 * found.difference_low)} to {signed(100 * found.difference_high)}",
        "crude": found.crude,
        "crude_text": signed(100 * found.crude),
        "odds_text": f"{found.odds_ratio:.2f}" if math.isfinite(found.odds_ratio) else "–",
        "p_text": p_value(found.p_adjusted),
        "pairs_text": number(found.pairs),
        "at": at(found.difference),
        "low": at(found.difference_low),
        "width": round(at(found.difference_high) - at(found.difference_low), 2),
        "crude_at": at(found.crude),
    }


# ---------------------------------------------------------------- what is not known, the data, the paper's index


def _unclear(report: Report) -> dict[str, Any] | None:
    """Features that are unclear or have no effect, and those with another status alone; None if there are none."""
    found = report.relevance
    by_place = {name: i for i, name in enumerate(found.names)}
    lists = []
    if unclear := found.with_status("unclear"):
        items = [f"{word(name)}: {_why_unclear(report, by_place[name])}" for name in unclear]
        lists.append({"title": "Unclear: not significant, but not ruled out", "items": _first(items)})
    if none := found.with_status("none"):
        highest = max(size_of(float(found.effect_high[by_place[name]])) for name in none)
        text = (
            f"{some(none, 2 * MAX_FOUND)}: not significant, and all intervals end at or below {in_points(highest)}."
            if len(none) > 1
            else f"{word(none[0])}: not significant, and the interval ends at {in_points(highest)}."
        )
        lists.append({"title": f"None: at most {in_points(size_of(NEGLIGIBLE))}", "items": [text]})
    if constant := found.with_status("constant"):
        lists.append({"title": "One value only", "items": [f"{some(constant, 2 * MAX_FOUND)}."]})
    if report.turned:
        items = [f"{word(item.feature)}: {describe_turn(report, item)}" for item in report.turned]
        lists.append({"title": "Different alone: what a univariate filter would show", "items": _first(items)})
    return {"lists": lists} if lists else None


def _why_unclear(report: Report, i: int) -> str:
    found = report.relevance
    if not found.compared[i]:
        return "no two rows can be compared."
    p = float(found.p_adjusted[i])
    tested = "no label changed" if p != p else f"p {p_value(p)}"
    return f"{tested}, the interval ends at {in_points(size_of(float(found.effect_high[i])))}."


def _data(report: Report) -> dict[str, Any]:
    """Missing cells, bins, identifiers, constants, redundancy, leaks, and what was done."""
    found = report.relevance
    aside = [name for note in found.notes if note.kind == "set-aside" for name in note.columns]
    leaks = [name for note in found.notes if note.kind == "leak" for name in note.columns]
    columns = dict(zip(found.names, found.feature_columns, strict=True))
    missing = [name for name, column in columns.items() if column.n_missing]
    binned = [name for name, column in columns.items() if column.edges]
    n_missing = sum(column.n_missing for column in columns.values())
    constant, same = found.with_status("constant"), found.with_status("same")
    tiles = [
        _tile("Missing cells", n_missing, f"in {some(missing, 3)}" if missing else "none"),
        _tile("Binned", len(binned), some(binned, 3) if binned else "no numbers in bins"),
        _tile("Identifiers set aside", len(aside), some(aside, 3) if aside else "none"),
        _tile("One value", len(constant), some(constant, 3) if constant else "none"),
        _tile("Copies", len(same), some(same, 3) if same else "none found"),
        _tile("Possible leaks", len(leaks), some(leaks, 3) if leaks else "none found"),
    ]
    return {
        "tiles": tiles,
        "done": [_sentence(shown(note)) for note in (*report.reading, *describe_notes(found.notes))],
    }


def _tile(name: str, n: int, about: str) -> dict[str, Any]:
    return {"name": name, "n": n, "text": f"{n:,}", "about": about}


def _sentence(text: str) -> str:
    """A note as a sentence: with a capital, unless it begins with a name, and a full stop."""
    if text.startswith(STARTS):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _paper(report: Report) -> list[dict[str, Any]]:
    """The paper's index of the features, best first by our order."""
    found = report.relevance
    return [
        {
            "name": word(found.names[i]),
            "ari": float(found.ari[i]),
            "ari_text": f"{found.ari[i]:.3f}",
            "pairs_text": number(found.pairs[i]),
            "changed_text": number(found.changed[i]),
            "status_text": PAPER[found.paper_status[i]],
        }
        for i in found.order().tolist()[:MAX_ROWS]
    ]


# ---------------------------------------------------------------- how it was made


def _settings(report: Report) -> list[tuple[str, str]]:
    """Settings and versions, by name."""
    settings = report.relevance.settings
    given = settings.given
    found = [
        (
            "Given",
            {"auto": "the deciding set", "all": "all other features"}[given]
            if isinstance(given, str)
            else some(given, 20)
            if given
            else "nothing",
        ),
        ("Confidence", f"{settings.confidence:g}"),
        ("Rows", "weighted" if settings.weighted else "unweighted"),
    ]
    if settings.searched_rows is not None and settings.searched_rows < report.relevance.n_rows:
        found.append(("Deciding set", f"chosen on {counted(settings.searched_rows, 'row')}, evenly spaced"))
    if settings.n_groups is not None:
        found.append(("Groups", f"{settings.n_groups:,}"))
    return [*found, ("Versions", ", ".join(f"{name} {version}" for name, version in report.versions.items()))]
