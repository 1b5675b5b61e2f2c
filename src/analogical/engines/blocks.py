"""Blocks of features: rows are divided by their values outside a block, and counted part by part."""

import numpy as np

from analogical._types import Ints, Margins

__all__ = ["deal_features", "entropy"]


def deal_features(margins: Margins, n_blocks: int) -> tuple[tuple[int, ...], ...]:
    """Features dealt to blocks in order of decreasing entropy, back and forth, so that all blocks vary alike."""
    order = sorted(range(margins.n_features), key=lambda i: (-entropy(margins.value_sizes(i)), i))
    blocks: list[list[int]] = [[] for _ in range(n_blocks)]
    for place, feature in enumerate(order):
        turn, seat = divmod(place, n_blocks)
        blocks[seat if turn % 2 == 0 else n_blocks - 1 - seat].append(feature)
    return tuple(tuple(sorted(block)) for block in blocks)


def entropy(sizes: Ints) -> float:
    """Entropy of a column, in bits, from the rows of each value."""
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log2(shares)).sum())
