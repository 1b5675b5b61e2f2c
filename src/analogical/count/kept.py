"""The contexts of a feature from several parts of a table, unless they are too many.

This runs on the executors of Spark, so the file imports little.
"""

from dataclasses import dataclass, replace

from analogical.count.contexts import Contexts

__all__ = ["KeptContexts"]


@dataclass(frozen=True)
class KeptContexts:
    """The contexts of a feature in parts of a table."""

    parts: tuple[Contexts, ...] | None
    """None if they have too many cells."""
    most_cells: int | None
    """Most cells that are kept; None keeps all."""

    @classmethod
    def of(cls, contexts: Contexts, most_cells: int | None) -> "KeptContexts":
        """The contexts of one part."""
        alone = replace(contexts)  # without cached properties
        return cls(_at_most((alone,), most_cells), most_cells)

    def __add__(self, other: "KeptContexts") -> "KeptContexts":
        """The contexts of two parts of a table that share no context (see ``PairCounts.__add__``)."""
        parts = None if self.parts is None or other.parts is None else (*self.parts, *other.parts)
        return KeptContexts(_at_most(parts, self.most_cells), self.most_cells)

    @property
    def contexts(self) -> Contexts:
        """The contexts of all parts, equal ones merged."""
        if self.parts is None:
            raise ValueError("the contexts had too many cells to be kept")
        return self.parts[0] if len(self.parts) == 1 else Contexts.joined(self.parts).compacted()


def _at_most(parts: tuple[Contexts, ...] | None, most_cells: int | None) -> tuple[Contexts, ...] | None:
    """The parts if they have at most so many cells, if need be after merging equal contexts; else None."""
    if parts is None or most_cells is None or sum(len(part.sizes) for part in parts) <= most_cells:
        return parts
    if most_cells == 0:
        return None
    together = Contexts.joined(parts).compacted()
    return (together,) if len(together.sizes) <= most_cells // 2 else None  # half, so that merging is rare
