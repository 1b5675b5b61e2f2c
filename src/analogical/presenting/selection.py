"""A selection as a view: the features in the order chosen, and what was left out."""

from analogical._selection import Selection
from analogical.presenting.notes import describe_notes
from analogical.presenting.views import Cell, Heading, Table, Tone, View
from analogical.presenting.words import LONG_NAME, counted, listed, quoted, shown, some_of

__all__ = ["view_selection"]

TONES: dict[str, Tone] = {"gain": "good", "interaction": "accent", "index": "muted"}
MAX_CARRIED = 6
"""Features left out that are named one by one."""


def view_selection(result: Selection) -> View:
    """The features in the order chosen with what each added, where it would have stopped, and what was left out."""
    table = Table(
        headings=(
            Heading(""),
            Heading("feature", is_text=True, may_shorten=True),
            Heading("adds (nats)"),
            Heading("explained", leaves=1),
            Heading("why", is_text=True, may_wrap=True),
        ),
        rows=tuple(
            (
                Cell(str(place + 1)),
                Cell(shown(name)),
                Cell(_nats(result.gain[place])),
                Cell(f"{100 * result.explained[place]:.1f} %".replace("-0.0", "0.0")),
                Cell(_why(result, place), TONES[result.why[place]]),
            )
            for place, name in enumerate(result.features)
        ),
    )
    n_chosen = f"{len(result.features):,} of {counted(len(result.names), 'feature')}"
    return View(
        headline=f"Selection of {n_chosen} for {quoted(result.label)}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}",
        summary=f"{n_chosen} chosen for {quoted(result.label)}, {counted(result.n_rows, 'row')}",
        notes=describe_notes(result.notes),
        tables=(table,) if result.features else (),
        findings=tuple(_findings(result)),
        caveat="A feature adds what the log-likelihood of the labels rises by, every row predicted by the others."
        if result.features
        else "",
    )


def _why(result: Selection, place: int) -> str:
    """Why a feature was chosen, in a few words."""
    why, partners = result.why[place], result.partners[place]
    leaks = {name for note in result.notes if note.kind == "leak" for name in note.columns}
    leak = ", leak?" if result.features[place] in leaks else ""
    if why == "interaction":
        return f"an interaction with {listed(partners)}{leak}"
    return f"{'adds most' if why == 'gain' else 'by the index'}{leak}"


def _findings(result: Selection) -> list[str]:
    found = [_describe_stop(result), *_describe_carried(result)]
    if result.k is not None and result.k > len(result.features):
        found.append(f"{result.k:,} were asked for; the table has {counted(len(result.names), 'feature')}.")
    if result.n_classes < len(result.classes):
        n_rare = len(result.classes) - result.n_classes + 1
        found.append(f"The {n_rare:,} rarest classes of {len(result.classes):,} voted as one.")
    return found


def _describe_stop(result: Selection) -> str:
    need = f"{_nats(result.need)} nats"
    if not result.features:
        return (
            f"No feature is kept: none adds {need}, alone or in a pair, and the index tells none from noise. The best"
            f" one, {shown(result.next_feature, LONG_NAME)}, adds {_nats(result.next_gain or 0.0)}."
        )
    if result.stop is None:
        return (
            f"More would earn their keep: {shown(result.next_feature, LONG_NAME)} would add"
            f" {_nats(result.next_gain or 0.0)} nats (at least {need} needed)."
        )
    if result.stop < len(result.features):
        return (
            f"By what they add it would have stopped after {result.stop:,}: no other single feature adds {need}. The"
            " rest follow the order of the index."
        )
    if result.next_feature is None:
        return "All features were chosen."
    what = "Nothing else adds" if result.k is None else "No other single feature adds"
    return f"{what} {need}: {shown(result.next_feature, LONG_NAME)} would add {_nats(result.next_gain or 0.0)}."


def _describe_carried(result: Selection) -> list[str]:
    """Features that tell something alone and nothing more beside one chosen feature, or beside all of them."""
    by_one = [item for item in result.carried if len(item.by) == 1]
    by_all = [item.feature for item in result.carried if len(item.by) > 1]
    found = []
    if by_one:
        names = [f"{shown(item.feature, LONG_NAME)} ({shown(item.by[0], LONG_NAME)})" for item in by_one]
        found.append(
            "Left out, because they tell nothing more beside the chosen feature in brackets:"
            f" {some_of(names, MAX_CARRIED)}."
        )
    if by_all:
        found.append(
            f"Left out, because they tell nothing more beside all chosen features together: {some_of(by_all)}."
        )
    return found


def _nats(gain: float) -> str:
    """A gain to read: whole nats from 100 on, one decimal below."""
    return f"{gain:,.0f}" if abs(gain) >= 100 else f"{gain:.1f}".replace("-0.0", "0.0")
