"""The content of the page as plain data: texts, numbers, tables of views, and positions of bars from 0 to 100.

What the template shows is decided here, so that it can be tested without parsing HTML.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analogical._results import json_ready
from analogical.questions.audit import Audit
from analogical.questions.compared import ExampleRows
from analogical.questions.interactions import Interaction, Interactions
from analogical.questions.relevance import Relevance
from analogical.questions.report import MAX_PAIRED_VALUES, Panel, Report, ValueRows, has_part
from analogical.show.audit import shown_differences, view_audit
from analogical.show.evidence import transition_table
from analogical.show.interactions import share_grid, share_table
from analogical.show.notes import describe_notes
from analogical.show.redundancies import view_redundancies
from analogical.show.relevance import say_given, view_relevance
from analogical.show.report.rendering import to_percent
from analogical.show.report.summary import describe_answer, describe_limits, describe_turn, verdict
from analogical.show.selection import view_selection
from analogical.show.sentences import (
    MIXED,
    ROW_NAMES,
    STATUSES,
    agreeing_on,
    describe_direction,
    has_direction,
    held_fixed,
    sizes_in_points,
)
from analogical.show.views import Table
from analogical.show.words import (
    LONG_NAME,
    count_left_out,
    counted,
    in_points,
    interaction_points,
    list_all,
    list_first,
    marked,
    number,
    p_value,
    p_words,
    percent,
    point_interval,
    points_of,
    quoted,
    shorten_apart,
    shown,
    signed,
    verb,
)

__all__ = ["page_of"]

MAX_RANKED = 300
"""Maximum number of features in the table: a page on 600 columns stays below 1 MB."""
MAX_AT_ONCE = 20
"""Features shown at first; a button shows all."""
WIDE = 3
"""Cards with more columns take the whole width."""
MAX_CONTEXT = 10
"""Maximum number of given features named in a card."""
MAX_LISTED = 8
"""Maximum number of sentences in a list."""
MAX_VALUE_LENGTH = 40
"""Values are cut to this length."""


def page_of(report: Report) -> dict[str, Any]:
    """Everything that the page shows, in its order."""
    ranked = report.relevance
    label = shown(ranked.label, LONG_NAME)
    page = {
        "title": f"Effects on {label}" if report.title is None else shown(report.title, 120),
        "source": None if report.source is None else shown(report.source, 200),
        "n_features": len(ranked.names),
        "facts": [
            ("Rows", f"{ranked.n_rows:,}"),
            ("Features", f"{len(ranked.names):,}"),
            ("Label", label),
            ("Classes", f"{len(ranked.classes):,}"),
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
        "audits": list(map(_audit, report.audits)),
        "unclear": _unclear(report),
        "done": [_sentence(shown(note)) for note in (*report.reading, *describe_notes(ranked.notes))],
        "paper": _with_short_names(view_relevance(ranked, top=MAX_RANKED, paper=True).tables[0]),
        "limits": describe_limits(report),
        "settings": _settings(report),
        "command": shown(report.command),
        "json": _embedded(report),
    }
    page["contents"] = _contents(page)
    return page


def _contents(page: dict[str, Any]) -> list[tuple[str, str]]:
    """Anchors and titles of the sections on this page."""
    sections = [
        ("answer", "Answer", True),
        ("ranking", "Effects", True),
        ("given", "Given", True),
        ("same", "Stand-ins", page["same"]),
        ("together", "Together", page["together"]),
        ("features", "Rows", page["panels"]),
        ("audit", "Audit", page["audits"]),
        ("unclear", "Unclear", page["unclear"]),
        ("data", "Data", True),
        ("paper", "Index", True),
        ("limits", "Limits", True),
        ("made", "Made", True),
    ]
    return [(anchor, title) for anchor, title, is_there in sections if is_there]


def _embedded(report: Report) -> str:
    """The result as JSON, escaped so that it contains no markup."""
    text = json.dumps(report.to_dict(), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _with_short_names(table: Table) -> Table:
    """A table of a view, with long names shortened."""
    columns = list(zip(*table.rows, strict=True))
    for k, column in enumerate(columns):
        if table.headings[k].may_shorten:
            names = shorten_apart([cell.text for cell in column], LONG_NAME)
            columns[k] = tuple(replace(cell, text=name) for cell, name in zip(column, names, strict=True))
    return replace(table, rows=tuple(zip(*columns, strict=True)))


# ---------------------------------------------------------------- the table


def _classes(report: Report) -> list[dict[str, Any]]:
    """The class shares as parts of one bar; classes that are not shown count as one."""
    ranked = report.relevance
    rows = dict(zip(ranked.classes, report.class_sizes.tolist(), strict=True))
    sizes = [rows[name] for name in report.shown_classes]
    names = [marked(name, MAX_VALUE_LENGTH) for name in report.shown_classes]
    if n_left := len(ranked.classes) - len(names):
        sizes.append(ranked.n_rows - sum(sizes))
        names.append(counted(n_left, "other class", "other classes"))
    return _stacked(sizes, names)


def _stacked(sizes: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """Parts of one bar."""
    total = max(sum(sizes), 1)
    begin, parts = 0, []
    for k, (n, name) in enumerate(zip(sizes, names, strict=True)):
        place = {"x": to_percent(begin / total), "width": to_percent(n / total), "shade": k % 7}
        parts.append({"name": name, "rows": n, "text": percent(n / total), **place})
        begin += n
    return parts


# ---------------------------------------------------------------- the effects


def _ranking(report: Report) -> dict[str, Any]:
    """The features, best first, and the scale of their bars."""
    ranked = report.relevance
    order = ranked.order().tolist()
    ends = [points_of(x[i]) for x in (ranked.effect, ranked.effect_high, report.alone) for i in order[:MAX_RANKED]]
    highest = max([end for end in ends if end == end], default=0.0)
    top = next(end for end in (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100) if end >= min(highest, 100))
    rows = [_ranked(report, i, place + 1, top) for place, i in enumerate(order[:MAX_RANKED])]
    n_left = len(order) - len(rows)
    return {
        "about": (
            f"Effect: difference in the shares of {quoted(ranked.label, LONG_NAME)} between two values of the feature,"
            " in percentage points, among rows that agree on the given features. p is adjusted for the number of"
            " features."
        ),
        "interval": f"{100 * ranked.settings.confidence:g} % interval",
        "middle": f"{top / 2:g}",
        "high": f"{top:g}",
        "rows": rows,
        "has_alone": any(row["alone_at"] is not None for row in rows),
        "n_at_once": MAX_AT_ONCE,
        "show": f"Show the best {len(rows)}" if n_left else f"Show all {counted(len(rows), 'feature')}",
        "left_out": f"{counted(n_left, 'more feature')} in the JSON below." if n_left else "",
    }


def _ranked(report: Report, i: int, rank: int, top: float) -> dict[str, Any]:
    """One row of the chart, which ends at ``top`` points: texts, and the numbers to sort by."""
    ranked = report.relevance
    size, low, high = sizes_in_points(ranked, i)
    alone = points_of(report.alone[i])
    return {
        "rank": rank,
        "name": shown(ranked.names[i], LONG_NAME),
        "plain": shown(ranked.names[i], 200),
        "anchor": f"f-{rank}" if rank <= len(report.panels) else None,
        "direction": _direction(ranked, i),
        "bar": to_percent(size / top),
        "whisker": _whisker(low / top, high / top),
        "alone_at": to_percent(alone / top),
        "size": json_ready(size),
        "size_text": in_points(size),
        "interval_text": point_interval(low, high),
        "p": json_ready(ranked.p_adjusted[i]),
        "p_text": p_value(float(ranked.p_adjusted[i])),
        "alone": json_ready(alone),
        "alone_text": in_points(alone),
        "status_text": _status_text(ranked, i),
        "has_effect": ranked.status[i] == "effect",
    }


def _whisker(low: float, high: float) -> dict[str, float]:
    """An interval of shares as a line; empty if it is unknown."""
    left, right = to_percent(low), to_percent(high)
    return {} if left is None or right is None else {"x": left, "width": round(right - left, 2), "end": right}


def _direction(ranked: Relevance, i: int) -> str:
    """Which value has which label more often; empty without an effect."""
    points = ranked.points[i]
    if ranked.status[i] != "effect" or points is None:
        return ""
    if not has_direction(ranked, i):
        return f"mixed: {MIXED}"
    return (
        f"{marked(points.value, 24)}: {marked(points.label, 20)} {signed(points.points)} vs."
        f" {marked(points.against, 24)}"
    )


def _status_text(ranked: Relevance, i: int) -> str:
    """The status in a few words, with the feature that is copied."""
    copied = ranked.same_as[i]
    return ranked.status[i] if copied is None else f"same as {shown(copied, 30)}"


# ---------------------------------------------------------------- given what, copies and stand-ins


def _given(report: Report) -> dict[str, Any]:
    """What compared rows agree on, and the deciding set with what each feature adds."""
    view = view_selection(report.selection)
    is_auto = report.relevance.settings.given == "auto"
    return {
        "intro": say_given(report.relevance),
        "beside": "" if is_auto or not view.tables else "The deciding set would be:",
        "table": _with_short_names(view.tables[0]) if view.tables else None,
        "lines": list(view.lines),
    }


def _same(report: Report) -> dict[str, Any] | None:
    """Copies, stand-ins and redundant columns; None if there are none."""
    ranked = report.relevance
    copies: dict[str, list[str]] = {}
    for name in ranked.with_status("same"):
        copies.setdefault(ranked.same_as[ranked.names.index(name)] or "", []).append(name)
    stand_ins = [
        f"{shown(name, LONG_NAME)} could be replaced by {list_all(others, 'or')}."
        for name in ranked.ranking()
        if (others := ranked.stand_ins[ranked.names.index(name)])
    ]
    redundant = view_redundancies(report.redundancies)
    if not copies and not stand_ins and not redundant.tables:
        return None
    return {
        "copies": _first(
            [
                f"{list_all(names)} {verb(names, 'carries', 'carry')} the same information as {shown(of, LONG_NAME)}."
                for of, names in copies.items()
            ]
        ),
        "stand_ins": _first(stand_ins),
        "redundant": _with_short_names(redundant.tables[0]) if redundant.tables else None,
        "about": " ".join(redundant.lines),
    }


def _first(texts: Sequence[str]) -> list[str]:
    """The first sentences, and how many more there are."""
    n_left = len(texts) - MAX_LISTED
    return [*texts[:MAX_LISTED], *([count_left_out(n_left, "the JSON below has all")] if n_left > 0 else [])]


# ---------------------------------------------------------------- one feature


def _panel(report: Report, panel: Panel, rank: int) -> dict[str, Any]:
    """One feature: a sentence, its numbers, values, transitions and example rows."""
    ranked = report.relevance
    i = ranked.names.index(panel.feature)
    n_left = panel.n_values - len(panel.values)
    return {
        "anchor": f"f-{rank}",
        "rank": rank,
        "name": shown(panel.feature, LONG_NAME),
        "status_text": _status_text(ranked, i),
        "has_effect": ranked.status[i] == "effect",
        "line": _line(report, panel, i),
        "numbers": _numbers(ranked, i, panel.n_compared),
        "classes": [marked(name, 20) for name in report.shown_classes],
        "values": [_value(report, entry) for entry in panel.values],
        "values_left": f"{counted(n_left, 'rarer value')} not shown." if n_left > 0 else "",
        "transitions": _transitions(ranked, panel, i),
        "cards": [
            *_twins(report, panel.changed_pair, panel.feature, "Changed: the labels differ"),
            *_twins(report, panel.kept_pair, panel.feature, "Unchanged: the labels are the same"),
        ],
    }


def _line(report: Report, panel: Panel, i: int) -> str:
    """The effect of the feature, in a sentence or two."""
    ranked = report.relevance
    points, same_as = ranked.points[i], ranked.same_as[i]
    if same_as is not None:
        return f"It carries the same information as {shown(same_as, LONG_NAME)}; no test can distinguish the two."
    if ranked.status[i] == "constant":
        return "It has one value only."
    if points is None:
        return "No two rows can be compared."
    among = f"Among {agreeing_on(ranked.given[i])},"
    if ranked.status[i] == "effect" and not has_direction(ranked, i):
        return f"{among} it has an effect, but {MIXED}."
    crude = f" Crude difference: {signed(panel.crude)}." if ranked.given[i] else ""
    return f"{among} {describe_direction(points)}.{crude}"


def _numbers(ranked: Relevance, i: int, n_compared: int) -> list[tuple[str, str]]:
    """The numbers of a feature, with their names."""
    if not ranked.compared[i]:
        return []
    size, low, high = sizes_in_points(ranked, i)
    noise = float(ranked.noise_rate[i])
    return [
        ("Effect", f"{in_points(size)} points ({point_interval(low, high)})"),
        ("Adjusted p", p_value(float(ranked.p_adjusted[i]))),
        ("Rows compared", f"{n_compared:,} ({percent(n_compared / ranked.n_rows)})"),
        ("Pairs compared", number(ranked.compared[i])),
        ("Index", percent(float(ranked.index[i]))),
        ("Noise", percent(noise) if noise == noise else "-"),
    ]


def _value(report: Report, entry: ValueRows) -> dict[str, Any]:
    """One value of a feature, with the class shares of its rows."""
    sizes = [*entry.by_class, entry.n_rows - sum(entry.by_class)]
    names = [*(marked(name, MAX_VALUE_LENGTH) for name in report.shown_classes), "other classes"]
    return {"name": marked(entry.value, MAX_VALUE_LENGTH), "rows": entry.n_rows, "parts": _stacked(sizes, names)}


def _transitions(ranked: Relevance, panel: Panel, i: int) -> Table | None:
    """The largest transitions; None if there are none."""
    if not panel.transitions:
        return None
    n_pairs, n_all = int(ranked.compared[i]), panel.n_transitions
    return transition_table(panel.feature, ranked.label, panel.transitions, n_pairs=n_pairs, n_all=n_all)


def _twins(report: Report, pair: ExampleRows | None, feature: str, title: str) -> list[dict[str, Any]]:
    """Two rows as a card; none if there is no such pair."""
    if pair is None:
        return []
    n_left = len(pair.context) - MAX_CONTEXT
    card = {
        "title": title,
        "changed": pair.changed,
        "rows": _row_names(pair),
        "feature": shown(feature, LONG_NAME),
        "values": [marked(cell, MAX_VALUE_LENGTH) for cell in pair.values],
        "label": shown(report.relevance.label, LONG_NAME),
        "labels": [marked(cell, MAX_VALUE_LENGTH) for cell in pair.labels],
        "equal": [
            (shown(name, LONG_NAME), marked(cell, MAX_VALUE_LENGTH)) for name, cell in pair.context[:MAX_CONTEXT]
        ],
        "equal_left": f"and {counted(n_left, 'more feature')} on which they agree" if n_left > 0 else "",
        "weight": f"These two rows represent {counted(pair.weight, 'pair')}." if pair.weight > 1 else "",
    }
    return [card]


def _row_names(pair: ExampleRows) -> list[str]:
    """The names of the rows of a pair, if rows have names."""
    if not pair.index:
        return ["one row", "another row"]
    return [f"row {shown(name, LONG_NAME)}" for name in pair.index]


# ---------------------------------------------------------------- features together


def _together(report: Report) -> dict[str, Any] | None:
    """Pairs of features that act together, with label shares by value."""
    pairs = report.interactions
    if report.relevance.settings.n_groups is not None:
        why_not = "Tests of interactions assume independent rows, and this table has groups."
        return {"intro": "No interaction was tested.", "tested": why_not, "cards": []}
    if pairs is None:
        return None
    return {
        "intro": _describe_acting(pairs, len(report.together)),
        "cards": [_pair_card(pair) for pair in report.together],
        "tested": _describe_tested(report.relevance, pairs),
    }


def _describe_acting(pairs: Interactions, n_shown: int) -> str:
    """Whether features act together, and how many of the pairs are shown."""
    if not n_shown:
        is_tested = any(pairs.squares)
        return (
            "No interaction is significant." if is_tested else "No four rows form a square, so no pair can be tested."
        )
    n_acting = sum(status == "effect" for status in pairs.status)
    strongest = f" The {n_shown} strongest of {n_acting:,} pairs are shown." if n_acting > n_shown else ""
    return (
        "The effect of one feature depends on the other. The stronger the colour, the more frequent the class."
        f"{strongest}"
    )


def _describe_tested(ranked: Relevance, pairs: Interactions) -> str:
    """Which pairs were tested."""
    if len(pairs) < pairs.n_possible:
        which = f"{len(pairs):,} of {pairs.n_possible:,} pairs"
    else:
        which = f"the {pairs.n_possible:,} pairs" if pairs.n_possible > 1 else "the pair"
    n_many = sum(
        has_part(ranked, i) and column.n_values > MAX_PAIRED_VALUES for i, column in enumerate(ranked.feature_columns)
    )
    left_out = f", {counted(n_many, 'feature')} with more than {MAX_PAIRED_VALUES} values left out" if n_many else ""
    return f"Tested: {which} of features that have an effect or are in the deciding set{left_out}."


def _pair_card(pair: Interaction) -> dict[str, Any]:
    """Shares of one class by the values of two features."""
    grid = share_grid(pair)
    facts = [p_words(pair["p_adjusted"])]
    if pair["effect"] is not None:
        size, low, high = (interaction_points(pair[name]) for name in ("effect", "effect_low", "effect_high"))
        facts = [f"the effect of one differs by {in_points(size)} points ({point_interval(low, high)})", *facts]
    given = f"among {agreeing_on(pair['given'])}: " if pair["given"] else ""
    across, down = (shown(name, LONG_NAME) for name in (grid.across, grid.down))
    return {
        "title": f"{across} × {down}",
        "about": f"Share of {marked(grid.label, MAX_VALUE_LENGTH)} over all rows",
        "is_wide": len(grid.across_values) > WIDE,
        "facts": _sentence(f"{given}{', '.join(facts)}."),
        "table": share_table(grid, head=f"{down} ↓ {across} →"),
    }


# ---------------------------------------------------------------- audits


def _audit(result: Audit) -> dict[str, Any]:
    """One protected column: the conclusion, and the differences with a chart."""
    view, differences = view_audit(result), shown_differences(result)
    ends = [abs(end) for d in differences for end in (d.crude, d.difference_low, d.difference_high)]
    reach = min(1.1 * max([end for end in ends if end == end], default=1.0), 1.0) or 1.0

    def at(share: float) -> float | None:
        return to_percent((share / reach + 1) / 2)

    return {
        "feature": shown(result.feature, LONG_NAME),
        "conclusion": view.headline,
        "facts": list(view.lines),
        "table": _with_short_names(view.tables[0]) if view.tables else None,
        "charts": [
            {"at": at(d.difference), "low": at(d.difference_low), "high": at(d.difference_high), "crude": at(d.crude)}
            for d in differences
        ],
        "reach": f"{100 * reach:.0f}",
    }


# ---------------------------------------------------------------- what is not known, and what was done


def _unclear(report: Report) -> list[dict[str, Any]]:
    """Features that are unclear or have no effect, and those with another status alone, as titled lists."""
    ranked = report.relevance
    lists = []
    for status in ("unclear", "none", "constant"):
        names = ranked.with_status(status)
        if names:
            items = [f"{list_first(names, 2 * MAX_LISTED)}."]
            if status == "unclear":
                items = _first([_why_unclear(ranked, ranked.names.index(name)) for name in names])
            lists.append({"title": f"{status.capitalize()}: {STATUSES[status].meaning}", "items": items})
    if report.turned:
        items = [f"{shown(item.feature, LONG_NAME)}: {describe_turn(report, item)}" for item in report.turned]
        lists.append({"title": "Different alone: what a univariate filter would show", "items": _first(items)})
    return lists


def _why_unclear(ranked: Relevance, i: int) -> str:
    name = shown(ranked.names[i], LONG_NAME)
    if not ranked.compared[i]:
        return f"{name}: no two rows can be compared."
    p = float(ranked.p_adjusted[i])
    tested = "no label changed" if p != p else p_words(p)
    return f"{name}: {tested}, the interval ends at {in_points(points_of(ranked.effect_high[i]))} points."


def _sentence(text: str) -> str:
    """A note as a sentence: with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


# ---------------------------------------------------------------- how it was made


def _settings(report: Report) -> list[tuple[str, str]]:
    """Settings and versions, with their names."""
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
