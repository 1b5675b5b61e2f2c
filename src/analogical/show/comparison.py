"""A comparison of methods as a view."""

from functools import partial

from analogical.questions.compare import Comparison
from analogical.rivals import METHODS, METHODS_OF_NUMBERS
from analogical.show.views import Cell, View, number_column, tabulate, text_column
from analogical.show.words import counted, list_all, quoted, shown, verb


def view_comparison(result: Comparison, *, top: int | None = None) -> View:
    """Shares and ranks by method, best of the first method first; with ``top``, the best ones only."""

    def cell(method: str, i: int) -> Cell:
        share, rank = result.shares[method][i], int(result.ranks[method][i])
        if share != share:
            return Cell("-")
        return Cell(f"{share:.3f} ({rank})", "good" if rank == 1 and share > 0 else "plain")

    columns = [
        text_column("feature", lambda i: shown(result.names[i]), may_shorten=True),
        *(
            number_column(method.title, partial(cell, method.name), drop_order=k)
            for k, method in enumerate(result.methods)
        ),
    ]
    n, order = counted(len(result.methods), "method"), result.order().tolist()
    return View(
        headline=f"{counted(len(result.names), 'feature')} for {quoted(result.label)} by {n}, sorted by"
        f" {result.methods[0].title}.",
        tables=(tabulate(order, columns, most=top),),
        lines=(
            "Score as a share of the method's total, with the rank in parentheses"
            f"{'; ranks of Effect are those of score' if 'effect' in result.ranks else ''}.",
            *_describe_samples(result),
        ),
        about=(counted(len(result.names), "feature"),),
        explanation=tuple(f"{method.title}: {method.about}" for method in result.methods),
    )


def describe_not_installed() -> tuple[str, ...]:
    """Which methods were left out because their library is not installed."""
    return tuple(
        f'{method.title} left out: {method.package} is not installed (pip install "analogical[compare]")'
        for method in METHODS.values()
        if not method.is_available
    )


def _describe_samples(result: Comparison) -> list[str]:
    """Which methods were not run, with how to request them, and which used a sample."""
    known = METHODS if result.scale == "classes" else METHODS_OF_NUMBERS
    lines, left_out = [], [known[name].title for name in result.left_out]
    sampled = list_all([method.title for method in result.methods if method.name in result.sampled])
    if left_out:
        names = [*(method.name for method in result.methods[:1]), *result.left_out]
        lines.append(
            f"{list_all(left_out)} left out: {verb(left_out, 'it takes', 'they take')} more than a few seconds on this"
            f" table; request {verb(left_out, 'it', 'them')} by name, such as methods={names!r}"
            f" (--methods {','.join(names)})."
        )
    if sampled:
        lines.append(
            f"{sampled} used {result.max_rows:,} random rows of {result.n_rows:,} (seed {result.seed}); set max_rows to"
            " change this."
        )
    return lines
