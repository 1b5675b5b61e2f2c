"""Columns that alone predict nearly all labels of a table in an engine: found in a sample, confirmed on all rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analogical._types import CodedRows, Ints
from analogical.columns.meaning import ColumnMeaning
from analogical.engines.cells import DatePart, Encoder, Steps, encode_batch, numbers_of
from analogical.engines.looking import Look
from analogical.engines.relation import LABEL, WEIGHT
from analogical.engines.values import CountLabels, CountValues, normal
from analogical.estimate.leaks import FEWEST_ROWS, cut_share, find_leaks, predicted_by_cut

__all__ = ["find_leaks_there"]

N_SAMPLE = 20_000
"""Rows of the sample; a table with no more rows is read as a whole."""
LIKELY = 0.85
"""Share of the rows outside the largest class that a column must predict in the sample to be counted on all rows."""


def find_leaks_there(
    look: Look, encoders: Sequence[Encoder], columns: Sequence[ColumnMeaning], label: Encoder
) -> dict[int, float]:
    """Columns that predict the label of nearly all rows, with that share, as :func:`find_leaks` does in memory."""
    weight = [WEIGHT] if look.is_weighted else []
    read = [*dict.fromkeys(encoder.source for encoder in encoders), LABEL, *weight]
    (sample,) = look.relation.sample(read, N_SAMPLE, look.n_rows).combine_chunks().to_batches()
    rows = _coded(sample, encoders, label)
    ranks = {
        i: _ranks(sample.column(encoders[i].source))
        for i, column in enumerate(columns)
        if column.treatment == "bins" and not isinstance(encoders[i].places, DatePart)
    }
    if sample.num_rows == look.n_rows:
        cuts = {i: predicted_by_cut(its_ranks, rows.labels, rows.weights) for i, its_ranks in ranks.items()}
        return find_leaks(rows) | {i: share for i, share in cuts.items() if share is not None}
    likely = list(find_leaks(rows, LIKELY))
    counting = CountLabels(tuple(encoders[i] for i in likely), label)
    sources = [*dict.fromkeys(encoders[i].source for i in likely), LABEL, *weight]
    tables = look.relation.sum_batches(sources, counting, "looking for leaks") if likely else ()
    leaks = {i: share for i, table in zip(likely, tables, strict=True) if (share := find_leaks(_grouped(table)).get(0))}
    for i, its_ranks in ranks.items():
        if look.n_rows >= FEWEST_ROWS and cut_share(its_ranks, rows.labels, rows.weights, LIKELY) is not None:
            share = _cut_of_all_rows(look, encoders[i].source, label)
            leaks |= {} if share is None else {i: share}
    return leaks


def _coded(batch: Any, encoders: Sequence[Encoder], label: Encoder) -> CodedRows:
    """The rows of a batch as codes."""
    *codes, labels = encode_batch(batch, [*encoders, label])
    weights = batch.column(WEIGHT).to_numpy() if WEIGHT in batch.schema.names else None
    n_values = np.array([encoder.n_codes for encoder in encoders], dtype=np.int64)
    kind = np.min_scalar_type(int(n_values.max()))
    matrix = np.column_stack([column.astype(kind) for column in codes])
    return CodedRows(matrix, labels.astype(np.min_scalar_type(label.n_codes)), n_values, label.n_codes, weights)


def _ranks(cells: Any) -> Ints:
    """The rank of each number; -1 where it is missing."""
    cells = normal(cells)
    ranks = np.full(len(cells), -1, np.int64)
    is_there = cells.is_valid().to_numpy(zero_copy_only=False)
    ranks[is_there] = np.unique(numbers_of(cells.drop_null()), return_inverse=True)[1]
    return ranks


def _grouped(table: Ints) -> CodedRows:
    """The rows behind a table of counts by value and label, equal ones as one row with a weight."""
    values, labels = np.nonzero(table)
    kinds = [np.min_scalar_type(n) for n in table.shape]
    n_values = np.array([table.shape[0]], dtype=np.int64)
    codes = values.astype(kinds[0])[:, None]
    return CodedRows(codes, labels.astype(kinds[1]), n_values, table.shape[1], table[values, labels])


def _cut_of_all_rows(look: Look, source: str, label: Encoder) -> float | None:
    """The share of all rows whose label one cut of a number predicts, if that is nearly all."""
    position = int(source.removeprefix("p"))
    steps = {source: Steps(numbers_of(look.counts_of(position).values))} if look.is_full(position) else {}
    counting = CountValues((source,), look.relation.most_values, steps, label)
    weight = [WEIGHT] if look.is_weighted else []
    counted = look.relation.sum_batches([source, LABEL, *weight], counting, "looking for leaks")[source].sorted()
    table = np.vstack([label.sizes - counted.weights.sum(axis=0), counted.weights])  # missing cells first
    ranks, labels = np.nonzero(table)
    return cut_share(ranks - 1, labels.astype(np.uint8), table[ranks, labels])
