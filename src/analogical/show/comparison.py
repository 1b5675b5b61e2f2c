"""A comparison of methods as a view."""

from analogical.rivals import METHODS
from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, View
from analogical.show.words import and_more, counted, listed, quoted, shown, verb
from analogical.verbs.compare import Comparison

__all__ = ["describe_not_installed", "view_comparison"]

MAX_FEATURES = 50
"""Features that a short table shows if there are more than MORE_FEATURES."""
MORE_FEATURES = 60


def view_comparison(result: Comparison, *, top: int | None = None) -> View:
    """Shares and ranks by method, best of the first method first; with ``top``, the best ones only."""

    def cell(method: str, i: int) -> Cell:
        share, rank = result.shares[method][i], int(result.ranks[method][i])
        if share != share:
            return Cell("–")
        return Cell(f"{share:.3f} ({rank})", "good" if rank == 1 and share > 0 else "plain")

    order = result.order()
    n_shown = min(top or (MAX_FEATURES if len(order) > MORE_FEATURES else len(order)), len(order))
    n_more = len(order) - n_shown
    note = and_more(n_more)
    if top is not None and n_more:
        note = f"Best {n_shown:,} of {len(order):,} features shown, by {result.methods[0].title}."
    table = Table(
        headings=(
            Heading("feature", is_text=True, may_shorten=True),
            *(Heading(method.title, leaves=k) for k, method in enumerate(result.methods)),
        ),
        rows=tuple(
            (Cell(shown(result.names[i])), *(cell(method.name, int(i)) for method in result.methods))
            for i in order[:n_shown]
        ),
        note=note,
    )
    return View(
        headline=f"Relevance for {quoted(result.label)} by {counted(len(result.methods), 'method')}",
        notes=(*describe_notes(result.notes), *_describe_left_out(result), *_describe_sample(result)),
        tables=(table,),
        findings=(
            "Cells: score as a share of the method's total, with the rank in parentheses.",
            *(f"{method.title}: {method.about}" for method in result.methods),
        ),
    )


def describe_not_installed() -> tuple[str, ...]:
    """Which methods were left out because their library is not installed."""
    return tuple(
        f'{method.title} left out: {method.package} is not installed (pip install "analogical[compare]")'
        for method in METHODS.values()
        if not method.is_available
    )


def _describe_left_out(result: Comparison) -> list[str]:
    """Which methods were not run, and how to request them."""
    if not result.left_out:
        return []
    titles = [METHODS[name].title for name in result.left_out]
    names = ",".join([*(method.name for method in result.methods[:1]), *result.left_out])
    return [
        f"{listed(titles)} left out: {verb(titles, 'it takes', 'they take')} more than a few seconds on this table;"
        f" request {verb(titles, 'it', 'them')} by name, such as methods={names.split(',')!r} (--methods {names})"
    ]


def _describe_sample(result: Comparison) -> list[str]:
    if not result.sampled:
        return []
    titles = " and ".join(method.title for method in result.methods if method.name in result.sampled)
    return [
        f"{titles} used {result.max_rows:,} random rows of {result.n_rows:,} (seed {result.seed}); set max_rows to"
        " change this"
    ]
