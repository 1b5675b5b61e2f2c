"""What can be said about a feature, as one word."""

from typing import Literal

from analogical._types import Bools, Floats, Ints

__all__ = ["Status", "decide_status"]

Status = Literal["effect", "unclear", "noise-unknown", "none-seen", "no-pairs", "constant"]


def decide_status(
    n_values: Ints,
    pairs: Ints,
    is_changed: Bools,
    p_adjusted: Floats,
    is_noise_known: Bools,
    *,
    level: float,
    noise_free: bool = False,
) -> tuple[Status, ...]:
    """One word per feature, about the pairs that its score rests on.

    ``"effect"``: the labels changed more than noise explains (adjusted p-value at most ``level``), or at all where
    labels are said to have no noise. ``"unclear"``: they changed, but not significantly more than noise.
    ``"noise-unknown"``: they changed, the tests do not tell, and no row repeats to show the noise. ``"none-seen"``: no
    pair changed or, beyond radius 1, other features explain all pairs that did. ``"no-pairs"`` and ``"constant"``:
    nothing to compare.
    """
    return tuple(
        _decide(*feature, level, noise_free)
        for feature in zip(
            n_values.tolist(),
            pairs.tolist(),
            is_changed.tolist(),
            p_adjusted.tolist(),
            is_noise_known.tolist(),
            strict=True,
        )
    )


def _decide(
    n_values: int, pairs: int, is_changed: bool, p: float, is_noise_known: bool, level: float, noise_free: bool
) -> Status:
    if n_values == 1:
        return "constant"
    if pairs == 0:
        return "no-pairs"
    if not is_changed:
        return "none-seen"
    if noise_free or p <= level:
        return "effect"
    return "unclear" if is_noise_known else "noise-unknown"
