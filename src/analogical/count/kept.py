"""The contexts of a feature from several parts of a table, as long as they are few.

They are kept on the executors of Spark, part by part, so this file imports little.
"""

from dataclasses import dataclass, replace

from analogical.count.contexts import Contexts

__all__ = ["KeepContexts", "KeptContexts"]


@dataclass(frozen=True)
class KeptContexts:
    """Contexts, equal ones of each part once; none if there are too many."""

    parts: tuple[Contexts, ...] | None
    most: int
    """Cells that are kept at most."""

    def __add__(self, other: "KeptContexts") -> "KeptContexts":
        """Of two parts of a table that share no context (see ``PairCounts.__add__``)."""
        parts = None if self.parts is None or other.parts is None else (*self.parts, *other.parts)
        return KeptContexts(_at_most(parts, self.most), self.most)

    @property
    def contexts(self) -> Contexts | None:
        """The contexts of all parts, equal ones once; None if they were too many."""
        return None if self.parts is None else Contexts.joined(self.parts).compacted()


@dataclass(frozen=True)
class KeepContexts:
    """Keeps the contexts of each feature if they have at most so many cells."""

    most: int

    def __call__(self, feature: int, contexts: Contexts) -> KeptContexts:  # noqa: ARG002
        """The contexts of one part."""
        alone = replace(contexts)  # without what was computed from them
        return KeptContexts(_at_most((alone,), self.most), self.most)


def _at_most(parts: tuple[Contexts, ...] | None, most: int) -> tuple[Contexts, ...] | None:
    """The parts if they have at most so many cells, perhaps after equal contexts were put together; else None."""
    if parts is None or sum(len(part.sizes) for part in parts) <= most:
        return parts
    together = Contexts.joined(parts).compacted()
    return (together,) if len(together.sizes) <= most // 2 else None  # half, so that this is seldom done
