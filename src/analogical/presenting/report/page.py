"""The content of the page as plain data: words, numbers, and places of bars from 0 to 100. No HTML is made here.

Words of the user's stand between the marks of ``words``. What a template shows is decided here, so that it can be
tested without reading HTML.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from analogical._audit import Audit, Difference
from analogical._evidence import EvidencePair, Transition
from analogical._report import MAX_PAIRED_VALUES, Panel, Report
from analogical._squares import Squares
from analogical.presenting.audit import view_audit
from analogical.presenting.interactions import describe_contexts
from analogical.presenting.notes import describe_notes
from analogical.presenting.redundancies import view_redundancies
from analogical.presenting.relevance import describe_radius
from analogical.presenting.report.sentences import (
    describe_answer,
    describe_change,
    describe_disagreement,
    describe_limits,
    measure_of,
    verdict,
)
from analogical.presenting.report.words import each, signed, some, value, word
from analogical.presenting.selection import view_selection
from analogical.presenting.words import counted, number, p_value, percent, shares, shown

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
"""Features named in a card of two rows that they are equal on."""
MAX_NEVER = 6
"""Value pairs that were never compared which are named."""
MAX_FOUND = 8
"""Redundancies that are listed."""
SHADES = 10
NEGATIVE = 0.2
"""Share of the axis that intervals below 0 may take."""

STATUS = {
    "effect": "told from noise",
    "unclear": "not told from noise",
    "noise-unknown": "noise unknown",
    "none-seen": "no change seen",
    "no-pairs": "no pairs",
    "constant": "one value",
}
SCORE_ZERO = "explained by others"
"""What "none-seen" means beyond distance 1 where labels changed: the score is 0, other features explain the changes."""
STARTS = ("missing cells", "left out:", "set aside:", "the ", "numbers in", "dates in", "label:", "ignored:")
"""Beginnings of notes that are words of ours."""
ANSWERS = {"yes": "Yes", "partly": "Partly", "no": "No"}


def page_of(report: Report) -> dict[str, Any]:
    """Everything that the page shows, in its order."""
    found = report.relevance
    title = f"What goes with {word(found.label)}, all else equal" if report.title is None else word(report.title, 120)
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
        "fitness": _fitness(report),
        "ranking": _ranking(report),
        "disagreements": _disagreements(report),
        "panels": [_panel(report, panel, place + 1) for place, panel in enumerate(report.panels)],
        "together": _together(report),
        "selection": _selection(report),
        "audits": [_audit(found) for found in report.audits],
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
        ("data", "Data", True),
        ("ranking", "Ranking", True),
        ("features", "Features", page["panels"]),
        ("together", "Acting together", page["together"] is not None),
        ("set", "Best set", True),
        ("audit", "Audit", page["audits"]),
        ("limits", "Limits", True),
        ("made", "How it was made", True),
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


def _fitness(report: Report) -> dict[str, Any]:
    """Missing cells, bins, ids, constants, repeated rows, redundancy, and what was done."""
    found = report.relevance
    aside = [name for note in found.notes if note.kind == "set-aside" for name in note.columns]
    missing = [i for i in range(len(found.names)) if found.n_missing[i]]
    binned = [i for i in range(len(found.names)) if found.edges[i]]
    constant = [name for name, n in zip(found.names, found.n_values, strict=True) if n == 1]
    leaks = [name for note in found.notes if note.kind == "leak" for name in note.columns]
    twice = list(
        dict.fromkeys(record["feature"] for record in report.redundancies.records() if record["determined_by"])
    )
    repeated = found.n_rows - found.n_distinct
    n_missing = int(found.n_missing.sum())
    names = found.names
    tiles = [
        _tile("Missing cells", n_missing, f"in {some([names[i] for i in missing], 3)}" if missing else "none"),
        _tile("Repeated rows", repeated, f"{percent(repeated / found.n_rows)} of all rows" if repeated else "none"),
        _tile(
            "Contradictions",
            found.n_contradictions,
            f"of {counted(found.n_identical, 'pair')} of identical rows" if found.n_identical else "no identical rows",
        ),
        _tile("Binned", len(binned), some([names[i] for i in binned], 3) if binned else "no numbers in bins"),
        _tile("Set aside as ids", len(aside), some(aside, 3) if aside else "none"),
        _tile("Constant", len(constant), some(constant, 3) if constant else "none"),
        _tile("Redundant", len(twice), some(twice, 3) if twice else "none found"),
        _tile("Possible leaks", len(leaks), some(leaks, 3) if leaks else "none found"),
    ]
    said = list(view_redundancies(report.redundancies).findings)
    more = [f"... and {len(said) - MAX_FOUND:,} more, in the JSON below"] if len(said) > MAX_FOUND else []
    return {
        "tiles": tiles,
        "redundancies": [*said[:MAX_FOUND], *more],
        "not_searched": view_redundancies(report.redundancies).caveat,
        "done": [_sentence(shown(note)) for note in (*report.reading, *describe_notes(found.notes))],
    }


def _tile(name: str, n: int, about: str) -> dict[str, Any]:
    return {"name": name, "n": n, "text": f"{n:,}", "about": about}


def _sentence(text: str) -> str:
    """A note as a sentence: with a capital, unless it begins with a name, and a full stop."""
    if text.startswith(STARTS):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


# ---------------------------------------------------------------- the ranked chart


def _ranking(report: Report) -> dict[str, Any]:
    """The features, best first, with bars on one scale."""
    found = report.relevance
    measure, about = measure_of(report)
    records = report.records()
    low, high = _scale(records)
    with_panel = {panel.feature for panel in report.panels}
    apart = {item.feature for item in report.disagreements}
    rows = [
        _ranked(record, low, high, record["name"] in with_panel, record["name"] in apart)
        for record in records[:MAX_ROWS]
    ]
    theirs = report.ranks()[1].tolist()
    for row in rows:
        row["information_text"] = _places(row["information_rank"], theirs)
    n_left = len(records) - len(rows)
    level = "" if found.settings.confidence is None else f"{100 * found.settings.confidence:g} % interval"
    return {
        "measure": measure,
        "about": about,
        "interval": level,
        "low": _tick(low),
        "middle": _tick((low + high) / 2),
        "high": _tick(high),
        "zero": _place(-low / (high - low)),
        "grid": [_place(-low / (high - low) + k * high / (4 * (high - low))) for k in range(1, 5)],
        "rows": rows,
        "n_at_once": MAX_AT_ONCE,
        "left_out": f"{counted(n_left, 'feature')} more, with lower scores, in the JSON below." if n_left else "",
        "is_noise_known": found.noise.rate is not None,
    }


def _scale(records: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Ends of the axis: a round number above all intervals, and room for intervals that lie below 0."""
    known = [number for r in records for number in (r["score"], r["score_high"]) if number is not None]
    top = max([*known, 0.0])
    if top <= 0:
        return 0.0, 1.0
    step = 10 ** math.floor(math.log10(top))
    high = next(k * step for k in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10) if k * step >= top - 1e-12)
    lowest = min([0.0, *(end for r in records for end in (r["score"], r["score_low"]) if end is not None)])
    return max(lowest, -NEGATIVE * high), float(high)


def _tick(at: float) -> str:
    return "0" if abs(at) < 1e-12 else f"{at:.3g}"


def _ranked(record: dict[str, Any], low: float, high: float, has_panel: bool, is_apart: bool) -> dict[str, Any]:
    """One row of the chart."""
    score, ends = record["score"], (record["score_low"], record["score_high"])
    width = high - low
    zero = -low / width
    at = None if score is None else (score - low) / width
    bar = {}
    if at is not None:
        begin, end = sorted((_place(zero), _place(at)))
        bar = {"x": begin, "width": round(end - begin, 2)}
    whisker = {}
    if ends[0] is not None and ends[1] is not None:
        left, right = (_place((end - low) / width) for end in ends)
        whisker = {"x": left, "width": round(right - left, 2), "end": right}
    return {
        "rank": record["rank"],
        "name": word(record["name"]),
        "plain": shown(record["name"], 200),
        "anchor": f"f-{record['rank']}" if has_panel else None,
        "score": score,
        "score_text": _typeset(shares(math.nan if score is None else score)),
        "interval_text": "–" if ends[0] is None else _bounds(*ends),
        "p": record["p_adjusted"],
        "p_text": _typeset(p_value(math.nan if record["p_adjusted"] is None else record["p_adjusted"])),
        "pairs": record["pairs"],
        "pairs_text": number(record["pairs"]),
        "changed": record["changed"],
        "information": record["information"],
        "information_rank": record["information_rank"],
        "is_apart": is_apart,
        "status": record["status"],
        "status_text": _status_text(record["status"], record["changed"]),
        "is_told": record["status"] == "effect",
        "bar": bar,
        "whisker": whisker,
    }


def _status_text(status: str, changed: int) -> str:
    """The status in words; where labels changed and the score is 0 all the same, other features explain it."""
    return SCORE_ZERO if status == "none-seen" and changed else STATUS[status]


def _bounds(low: float, high: float) -> str:
    return _typeset(f"{shares(low)} to {shares(high)}")


def _typeset(number_text: str) -> str:
    """A number with the signs of print: a minus, or a dash where there is none."""
    return "–" if number_text == "-" else number_text.replace("-", "−")


def _disagreements(report: Report) -> dict[str, Any]:
    """The box beside mutual information."""
    ours, theirs = (ranks.tolist() for ranks in report.ranks())
    items = [
        {
            "feature": word(item.feature),
            "rank": item.rank,
            "information_rank": item.information_rank,
            "ours": _places(item.rank, ours),
            "theirs": _places(item.information_rank, theirs),
            "is_higher": item.rank < item.information_rank,
            "reason": item.reason,
            "text": describe_disagreement(report, item),
        }
        for item in report.disagreements
    ]
    intro = (
        "Mutual information looks at one feature at a time, over all rows. Where it puts a feature far from its place"
        " here, this is what explains it:"
        if items
        else "Mutual information, which looks at one feature at a time over all rows, puts no feature that is told from"
        " noise far from its place here."
    )
    title = "Where mutual information disagrees" if items else "Mutual information agrees"
    return {"title": title, "intro": intro, "items": items}


def _places(rank: float, all_ranks: Sequence[float]) -> str:
    """A place in words, from the middle of the places that equal ones share: 3, or 2–6."""
    half = (all_ranks.count(rank) - 1) / 2
    first, last = int(rank - half), int(rank + half)
    return f"{first}" if first == last else f"{first}–{last}"


# ---------------------------------------------------------------- one feature


def _panel(report: Report, panel: Panel, rank: int) -> dict[str, Any]:
    """One feature: a line, and what stands behind it."""
    found = report.relevance
    i = found.names.index(panel.feature)
    status = found.status[i]
    n_left = panel.n_values - len(panel.values)
    line = "It has one value only."
    if panel.change is not None:
        line = describe_change(panel.change)
    return {
        "anchor": f"f-{rank}",
        "rank": rank,
        "name": word(panel.feature),
        "status": status,
        "status_text": _status_text(status, int(found.changed[i])),
        "is_told": status == "effect",
        "line": line,
        "score_text": shares(found.score[i]),
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
        "transitions": [_transition(found.pairs[i], t) for t in panel.transitions],
        "transitions_left": (
            f"The {len(panel.transitions)} largest of {panel.n_transitions:,}."
            if panel.n_transitions > len(panel.transitions)
            else ""
        ),
        "cards": [
            _twins(report, pair, panel.feature, title)
            for pair, title in (
                (panel.changed_pair, "For: the label changes"),
                (panel.kept_pair, "Against: the label stays"),
            )
            if pair is not None
        ],
        "coverage": _coverage(report, panel, i),
        "numbers": [
            ("Index (ARI)", shares(found.ari[i]) if found.pairs[i] else "–"),
            ("Noise in the same contexts", _known(found.noise_rate[i])),
            ("Effect", _known(found.effect[i])),
            ("Pairs, of them changed", f"{number(found.pairs[i])}, {number(found.changed[i])}"),
        ],
    }


def _known(share: float) -> str:
    return _typeset(shares(share)) if share == share else "not known"


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
        "equal_left": f"and {counted(n_left, 'further feature')}, equal too" if n_left > 0 else "",
        "weight": f"These two rows stand for {counted(pair.weight, 'pair')}." if pair.weight > 1 else "",
    }


def _coverage(report: Report, panel: Panel, i: int) -> dict[str, Any]:
    """Which rows and which values were compared at all."""
    found = report.relevance
    share = panel.n_compared / found.n_rows
    said = [
        f"{panel.n_compared:,} of {counted(found.n_rows, 'row')} ({percent(share)}) have a partner that differs on this"
        " feature alone."
    ]
    compared, possible = int(found.value_pairs_compared[i]), int(found.value_pairs[i])
    if compared < 0:
        said.append("Too many values to say which were compared with which.")
    elif possible:
        was = "was" if possible == 1 else "were"
        said.append(f"{compared:,} of {counted(possible, 'value pair')} {was} compared.")
    never = [" with ".join(value(cell, 24) for cell in two) for two in found.not_compared[i][:MAX_NEVER]]
    n_left = possible - compared - len(never)
    if never:
        more = f" and {n_left:,} more" if n_left > 0 else ""
        said.append(f"Never compared: {', '.join(never)}{more}.")
    return {"share": share, "width": _place(share), "text": percent(share), "said": said}


# ---------------------------------------------------------------- features together


def _together(report: Report) -> dict[str, Any] | None:
    """Pairs that act together, value by value."""
    found = report.interactions
    if found is None:
        return None
    cards = [_square_card(report, squares) for squares in report.squares]
    n_features = len({*found.first, *found.second})
    passed = (
        f"Pairs among the {n_features} best features were looked at: {len(found):,} of {found.n_possible:,}."
        if len(found) < found.n_possible
        else f"All {found.n_possible:,} pairs of features were looked at."
        if found.n_possible > 1
        else "There is one pair of features."
    )
    n_many = int((report.relevance.n_values > MAX_PAIRED_VALUES).sum())
    if n_many:
        was = "was" if n_many == 1 else "were"
        passed += f" {counted(n_many, 'feature')} with more than {MAX_PAIRED_VALUES} values {was} left out."
    n_acting = sum(status == "effect" for status in found.status)
    if cards:
        intro = "What one feature does to the label depends on the other. Darker cells: the class is more frequent."
        if n_acting > len(cards):
            intro += f" The {len(cards)} strongest of {n_acting:,} pairs are shown."
    elif not any(found.squares):
        intro = "No four rows differ on two features alone in all combinations, so nothing is known about pairs."
    else:
        intro = "No pair of features is told from noise."
    return {"intro": intro, "passed": passed, "contexts": describe_contexts(found), "cards": cards}


def _square_card(report: Report, found: Squares) -> dict[str, Any]:
    """Shares of one class: values of the first feature across, of the second one down."""
    pairs = report.interactions
    record = {} if pairs is None else pairs[found.first, found.second]
    c = _class_shown(found)
    sides = [
        (found.first, found.first_values, _frequent(found.counts.sum(axis=(1, 2)))),
        (found.second, found.second_values, _frequent(found.counts.sum(axis=(0, 2)))),
    ]
    is_turned = len(sides[0][2]) > len(sides[1][2])
    (first, first_values, across), (second, second_values, down) = sides[::-1] if is_turned else sides
    counts = found.counts.swapaxes(0, 1) if is_turned else found.counts
    cells = [[_cell(counts[u, v], c) for u in across] for v in down]
    told = record.get("status") == "effect"
    effect, p = record.get("effect"), record.get("p_adjusted")
    facts = []
    if effect is not None:
        bounds = record["effect_low"], record["effect_high"]
        facts.append(f"effect {shares(effect)}" + ("" if bounds[0] is None else f" ({_bounds(*bounds)})"))
    if p is not None:
        facts.append(f"p {p_value(p)}")
    facts.append(f"{percent(found.n_broken / found.n_squares) if found.n_squares else 'none'} of squares broken")
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
        "is_told": told,
        "facts": ", ".join(facts) + ("" if told else ", noise unknown"),
        "across": [value(first_values[u], 20) for u in across],
        "down": [value(second_values[v], 20) for v in down],
        "cells": cells,
        "left_out": f"Not shown: {' and '.join(rarer)}." if rarer else "",
    }


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


def _selection(report: Report) -> dict[str, Any]:
    """The best set in a short table."""
    found = report.selection
    view = view_selection(found)
    rows = [
        {
            "place": place + 1,
            "name": word(name),
            "gain": float(found.gain[place]),
            "gain_text": view.tables[0].rows[place][2].text,
            "explained": float(found.explained[place]),
            "explained_text": percent(float(found.explained[place])),
            "width": _place(float(found.explained[place])),
            "why": _chosen_because(report, place),
        }
        for place, name in enumerate(found.features)
    ]
    return {"rows": rows, "findings": list(view.findings), "need": found.need}


def _chosen_because(report: Report, place: int) -> str:
    found = report.selection
    if found.why[place] == "interaction":
        return f"acts together with {each(found.partners[place])}"
    return "adds most" if found.why[place] == "gain" else "next by the index"


# ---------------------------------------------------------------- audits


def _audit(found: Audit) -> dict[str, Any]:
    """One protected column: crude beside matched, and what can be said."""
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
        "difference_text": signed(found.difference),
        "interval_text": f"{signed(found.difference_low)} to {signed(found.difference_high)}",
        "crude": found.crude,
        "crude_text": signed(found.crude),
        "odds_text": f"{found.odds_ratio:.2f}" if math.isfinite(found.odds_ratio) else "–",
        "p_text": p_value(found.p_adjusted),
        "pairs_text": number(found.pairs),
        "at": at(found.difference),
        "low": at(found.difference_low),
        "width": round(at(found.difference_high) - at(found.difference_low), 2),
        "crude_at": at(found.crude),
    }


# ---------------------------------------------------------------- how it was made


def _settings(report: Report) -> list[tuple[str, str]]:
    """Settings and versions, by name."""
    settings = report.relevance.settings
    found = [
        ("Compared", f"{describe_radius(report.relevance)}"),
        ("Confidence", f"{settings.confidence:g}" if settings.confidence is not None else "none"),
        ("Labels", "said to have no noise" if settings.noise_free else "may have noise"),
        ("Rows", "with weights" if settings.weighted else "one each"),
    ]
    if settings.n_groups is not None:
        found.append(("Groups", f"{settings.n_groups:,}"))
    return [*found, ("Versions", ", ".join(f"{name} {version}" for name, version in report.versions.items()))]
