"""A selection as a view: the features in the order selected, and what was left out."""

from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, Tone, View
from analogical.show.words import LONG_NAME, counted, listed, quoted, shown, some_of
from analogical.verbs.select import Selection

__all__ = ["view_selection"]

TONES: dict[str, Tone] = {"gain": "good", "interaction": "accent", "significant": "plain", "index": "muted"}
WORDS = {"gain": "largest gain", "significant": "significant given the others", "index": "next by the relaxed index"}
MAX_CARRIED = 6
"""Features left out that are named one by one."""


def view_selection(result: Selection) -> View:
    """The features in the order selected, their gains, where the selection stops by itself, and what is left out."""
    table = Table(
        headings=(
            Heading(""),
            Heading("feature", is_text=True, may_shorten=True),
            Heading("gain (nats)"),
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
    n_selected = f"{len(result.features):,} of {counted(len(result.names), 'feature')}"
    return View(
        headline=f"Selection of {n_selected} for {quoted(result.label)}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}",
        summary=f"{n_selected} selected for {quoted(result.label)}, {counted(result.n_rows, 'row')}",
        notes=describe_notes(result.notes),
        tables=(table,) if result.features else (),
        findings=tuple(_findings(result)),
        caveat="Gain: gain in log-likelihood over the features above, each row predicted from the other rows."
        if result.features
        else "",
    )


def _why(result: Selection, place: int) -> str:
    """Why a feature was selected, in a few words."""
    why, partners = result.why[place], result.partners[place]
    leaks = {name for note in result.notes if note.kind == "leak" for name in note.columns}
    leak = ", leak?" if result.features[place] in leaks else ""
    if why == "interaction":
        return f"interaction with {listed(partners)}{leak}"
    return f"{WORDS[why]}{leak}"


def _findings(result: Selection) -> list[str]:
    found = [_describe_stop(result), *_describe_carried(result)]
    if result.k is not None and result.k > len(result.features):
        found.append(f"k is {result.k:,}, but the table has {counted(len(result.names), 'feature')}.")
    if result.n_classes < len(result.classes):
        n_rare = len(result.classes) - result.n_classes + 1
        found.append(f"The {n_rare:,} rarest of {len(result.classes):,} classes were merged.")
    return found


def _describe_stop(result: Selection) -> str:
    need, name = _nats(result.need), shown(result.next_feature, LONG_NAME)
    gain = f"with a gain of {_nats(result.next_gain or 0.0)}"
    if not result.features:
        best = "" if result.next_feature is None else f" The best is {name}, {gain}."
        return (
            f"No feature was selected: none gains {need} nats, alone or with one or two others, or is significant."
            f"{best}"
        )
    if len(result.features) < result.stop:
        return f"Without k, {counted(result.stop, 'feature')} would be selected; the next is {name}, {gain}."
    if len(result.features) > result.stop:
        rest = " The last ones follow the relaxed index." if "index" in result.why else ""
        return f"Without k, {counted(result.stop, 'feature')} would be selected.{rest}"
    if result.next_feature is None:
        return "All features were selected."
    if (result.next_gain or 0.0) >= result.need:  # the deciding set has as many members as it may have
        return f"More features reach the threshold ({need}): the next is {name}, {gain}."
    return f"No other feature reaches the threshold ({need}) or is significant; the next is {name}, {gain}."


def _describe_carried(result: Selection) -> list[str]:
    """Features that predict the label alone and add little to one selected feature, or to all of them."""
    by_one = [item for item in result.carried if len(item.by) == 1]
    by_all = [item.feature for item in result.carried if len(item.by) > 1]
    found = []
    if by_one:
        names = [f"{shown(item.feature, LONG_NAME)} ({shown(item.by[0], LONG_NAME)})" for item in by_one]
        found.append(
            f"Left out, because they add little to the selected feature in parentheses: {some_of(names, MAX_CARRIED)}."
        )
    if by_all:
        found.append(f"Left out, because they add little to all selected features: {some_of(by_all)}.")
    return found


def _nats(gain: float) -> str:
    """A gain to read: whole nats from 100 on, one decimal below."""
    return f"{gain:,.0f}" if abs(gain) >= 100 else f"{gain:.1f}".replace("-0.0", "0.0")
