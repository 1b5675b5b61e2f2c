"""A comparison of methods as a view."""

from analogical._comparison import Comparison
from analogical.presenting.notes import describe_notes
from analogical.presenting.views import Cell, Heading, Table, View
from analogical.presenting.words import counted, quoted, shown

__all__ = ["view_comparison"]


def view_comparison(result: Comparison) -> View:
    """Shares and ranks by method, best of the first method first."""

    def cell(method: str, i: int) -> Cell:
        share, rank = result.shares[method][i], int(result.ranks[method][i])
        if share != share:
            return Cell("–")
        return Cell(f"{share:.3f} ({rank})", "good" if rank == 1 and share > 0 else "plain")

    table = Table(
        headings=(
            Heading("feature", is_text=True, may_shorten=True),
            *(Heading(method.title, leaves=k) for k, method in enumerate(result.methods)),
        ),
        rows=tuple(
            (Cell(shown(result.names[i])), *(cell(method.name, int(i)) for method in result.methods))
            for i in result.order()
        ),
    )
    return View(
        headline=f"Relevance for {quoted(result.label)} by {counted(len(result.methods), 'method')}",
        notes=(*describe_notes(result.notes), *_describe_sample(result)),
        tables=(table,),
        findings=tuple(f"{method.title}: {method.about}" for method in result.methods),
    )


def _describe_sample(result: Comparison) -> list[str]:
    if not result.sampled:
        return []
    titles = " and ".join(method.title for method in result.methods if method.name in result.sampled)
    return [
        f"{titles} saw {result.max_rows:,} random rows of {result.n_rows:,} (seed {result.seed}); change that with"
        " max_rows"
    ]
