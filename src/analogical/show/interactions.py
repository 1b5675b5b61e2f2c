"""Pairs of features that act together, as a view."""

from analogical.questions.interactions import Interactions
from analogical.show.sentences import NOT_ADJUSTED, STATUSES, held_fixed, interaction_sizes, status_cell
from analogical.show.views import Cell, Column, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    list_first,
    number,
    p_value,
    point_interval,
    quoted,
    shown,
    three_decimals,
    verb,
)

__all__ = ["view_interactions"]

MAX_PAIRS = 20
"""Maximum number of pairs in the table."""
FEW_EFFECTIVE = 30
"""Effective squares below which intervals are rough."""


def view_interactions(result: Interactions, *, top: int = MAX_PAIRS) -> View:
    """The table of pairs, strongest first and no more than ``top``, and what it says."""
    return View(
        headline=_answer(result),
        tables=(tabulate(result.order().tolist(), _columns(result), most=top),),
        lines=tuple(filter(None, (_describe_given(result), _passed_over(result)))),
        about=(counted(result.n_rows, "row"), counted(len(result.names), "feature")),
        explanation=tuple(_explain(result)),
    )


def _columns(result: Interactions) -> list[Column]:
    """How much the effect of one feature depends on the other, in points; the index if no rows repeat."""

    def interval(k: int) -> Cell:
        size, low, high = interaction_sizes(result, k)
        return Cell(point_interval(low, high), bar=size / 200)

    columns = [
        text_column("feature", lambda k: shown(result.first[k], LONG_NAME), may_shorten=True),
        text_column("with", lambda k: shown(result.second[k], LONG_NAME), may_shorten=True),
    ]
    if any(result.effect_squares):
        columns += [
            number_column("points", lambda k: in_points(interaction_sizes(result, k).size)),
            number_column(f"{100 * result.settings.confidence:g}% CI", interval, drop_order=2),
            number_column("p adj.", lambda k: p_value(float(result.p_adjusted[k])), drop_order=1),
        ]
    else:
        columns += [
            number_column("index", lambda k: three_decimals(result.index[k])),
            number_column("broken", lambda k: number(result.broken[k]), drop_order=1),
        ]
    return [
        *columns,
        number_column("squares", lambda k: number(result.squares[k]), drop_order=4),
        text_column("status", lambda k: status_cell(result.status[k])),
    ]


def _answer(result: Interactions) -> str:
    acting = [k for k in result.order().tolist() if result.status[k] == "effect"]
    label = quoted(result.label)
    if acting:
        n = counted(len(result), "pair")
        return f"{len(acting):,} of {n} of features {verb(acting, 'acts', 'act')} together on {label}."
    if not any(result.squares):
        return f"No pair of features could be tested for {label}: no four rows form a square."
    return f"No pair of features acts together significantly on {label}."


def _describe_given(result: Interactions) -> str:
    """On which features the rows of a square agree."""
    if not any(result.squares):
        return "Give fewer features, such as given=[] (--given none)."
    given = held_fixed(result.settings.given, result.deciding)
    own = "" if given in ("all other features", "nothing") else ", except the pair itself"
    return f"Given {given}{own}."


def _passed_over(result: Interactions) -> str:
    """Which pairs were not tested."""
    if len(result) == result.n_possible:
        return ""
    return (
        f"{len(result):,} of {result.n_possible:,} pairs were tested: those within the deciding set, and those that"
        " best explain what it does not. p is adjusted for all pairs."
    )


def _explain(result: Interactions) -> list[str]:
    """What the numbers mean, and their limits."""
    if not any(result.squares):
        return []
    index = f"index: share of broken squares; {_coin(result)}."
    if not any(result.effect_squares):
        return [
            f"{index} No rows repeat, so noise cannot be estimated: give fewer features, such as given=[] (--given"
            " none)."
        ]
    sentences = [
        "points: by how much the effect of one feature differs with the other: 200 for an exclusive or, 100 for a"
        " logical and, 0 where label shares are additive (in shares, not in odds). A square is four rows that agree on"
        " the given features and have two values of each of the two in all four combinations.",
        index,
        f"p is adjusted for {counted(result.n_possible, 'pair')}. {NOT_ADJUSTED}",
    ]
    if any(result.status[k] == "effect" and result.effect_low[k] <= 0 for k in range(len(result))):
        sentences.append(
            "Where the interval of a significant pair begins at 0, its size is uncertain: the test weights rows, the"
            " effect weights squares."
        )
    rough = [n for n in result.effective_squares if 0 < n < FEW_EFFECTIVE]
    if rough:
        sentences.append(
            f"{counted(len(rough), 'pair')} {verb(rough, 'is', 'are')} based on fewer than {FEW_EFFECTIVE} effective"
            f" squares; {verb(rough, 'its interval is', 'their intervals are')} rough."
        )
    return [*sentences, *_explain_fewer(result)]


def _explain_fewer(result: Interactions) -> list[str]:
    """For how many pairs fewer features were held fixed, and which features are copies."""
    sentences = []
    if result.settings.given == "auto":
        n_fewer = sum(
            len(given) < sum(name not in (a, b) for name in result.deciding)
            for a, b, given, same in zip(result.first, result.second, result.given, result.same_as, strict=True)
            if same is None
        )
        if n_fewer:
            sentences.append(
                f"For {counted(n_fewer, 'pair')} there were too few rows to hold the whole deciding set fixed."
            )
    copied = [name for name in result.same_as if name is not None]
    if copied:
        sentences.append(
            f"{counted(len(copied), 'pair')} could not be tested ({STATUSES['same'].meaning}):"
            f" {list_first(list(dict.fromkeys(copied)))}."
        )
    return sentences


def _coin(result: Interactions) -> str:
    """The index of random labels."""
    fair = "random labels break .625 of the squares with two equal classes"
    here = p_value(result.noise_index)
    return fair if here == ".625" else f"{fair}, and {here} with these class shares"
