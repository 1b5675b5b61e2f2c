"""The contexts of a feature from several parts of a table, unless they are too many.

This runs on the executors of Spark, so the file imports little.
"""

from dataclasses import dataclass, replace

from analogical.count.contexts import Contexts

__all__ = ["KeepContexts", "KeptContexts"]


@dataclass(frozen=True)
class KeptContexts:
    """The contexts of parts of a table."""

    parts: tuple[Contexts, ...] | None
    """None if they have too many cells."""
    most: int
    """Most cells that are kept."""

    def __add__(self, other: "KeptContexts") -> "KeptContexts":
        """The contexts of two parts of a table that share no context (see ``PairCounts.__add__``)."""
        parts = None if self.parts is None or other.parts is None else (*self.parts, *other.parts)
        return KeptContexts(_at_most(parts, self.most), self.most)

    @property
    def contexts(self) -> Contexts | None:
        """The contexts of all parts, equal ones merged; None if they were too many."""
        return None if self.parts is None else Contexts.joined(self.parts).compacted()


@dataclass(frozen=True)
class KeepContexts:
    """Keeps the contexts of each feature that have at most ``most`` cells."""

    most: int

    def __call__(self, feature: int, contexts: Contexts) -> KeptContexts:  # noqa: ARG002
        """The contexts of one part."""
        alone = replace(contexts)  # without cached properties
        return KeptContexts(_at_most((alone,), self.most), self.most)


def _at_most(parts: tuple[Contexts, ...] | None, most: int) -> tuple[Contexts, ...] | None:
    """The parts if they have at most ``most`` cells, if need be after merging equal contexts; else None."""
    if parts is None or sum(len(part.sizes) for part in parts) <= most:
        return parts
    together = Contexts.joined(parts).compacted()
    return (together,) if len(together.sizes) <= most // 2 else None  # half, so that merging is rare
