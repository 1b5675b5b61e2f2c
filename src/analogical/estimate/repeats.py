"""Signs in the cells of a table that its rows are not independent: copies of rows, and units with several rows each."""

import math

import numpy as np

from analogical._types import Codes, Ints, RawCells
from analogical.count.groups import equal_columns, number_groups
from analogical.estimate.dependencies import FEWEST_ROWS, log_chance_of_constant
from analogical.estimate.status import LEVEL


def count_copies(cells: RawCells) -> int:
    """Rows that repeat another one in every column, if chance does not explain how often rows repeat; otherwise 0.

    Equal rows are natural in a table of few categories. If rows are independent, whatever their distribution, the
    number of times that a row occurs is Poisson, mixed over the rows that there may be. With f[k] rows that occur k
    times, then f[k+1]^2 is at most (k+2) / (k+1) f[k] f[k+2] on average (Cauchy and Schwarz). Rows that were copied
    occur twice but neither once nor three times. Every k has a likelihood-ratio test, at most one for each row.
    """
    _, times = np.unique(number_groups(cells.codes, cells.n_values, range(len(cells.names))), return_counts=True)
    n_rows, found = len(cells.codes), np.append(np.bincount(times), [0, 0])
    least = min((_chance_of_peak(found, k) for k in np.unique(times[times > 1]).tolist()), default=1.0)
    return n_rows - len(times) if least <= LEVEL / n_rows and n_rows >= FEWEST_ROWS else 0


def _chance_of_peak(found: Ints, k: int) -> float:
    """P-value of more rows that occur k times than the rows that occur once less and once more allow."""
    from scipy.special import chdtrc

    before, peak, after = found[k - 1 : k + 2].tolist()
    n, most = before + peak + after, (k + 1) / k
    if peak**2 <= most * before * after:
        return 1.0
    # the likeliest shares that are allowed are in proportion to 1, sqrt(most) t, t^2
    mean, root = (peak + 2 * after) / n, math.sqrt(most)
    a, b = 2 - mean, root * (1 - mean)
    t = (math.sqrt(b * b + 4 * a * mean) - b) / (2 * a)
    allowed = np.array([1.0, root * t, t * t]) / (1 + root * t + t * t)
    ratio = sum(m * math.log(m / (n * share)) for m, share in zip((before, peak, after), allowed, strict=True) if m)
    return float(chdtrc(1, 2 * ratio)) / 2


def find_unit(cells: RawCells, n_rows: int) -> tuple[list[str], tuple[int, int]] | None:
    """Names of the column that seems to name units and of two or more that are constant within them, and sizes.

    The sizes are the number of units, and about how many of ``n_rows`` rows each has.
    """
    found = {unit: _constant_within(cells, unit) for unit in cells.units}
    unit = max(found, key=lambda unit: (len(found[unit]), int(cells.n_values[unit])), default=None)
    if unit is None or len(found[unit]) < 2:
        return None
    n_units, share = int(cells.n_values[unit]) - 1, np.count_nonzero(cells.codes[:, unit]) / len(cells.codes)
    return [cells.names[c] for c in (unit, *found[unit])], (n_units, round(share * n_rows / n_units))


def _constant_within(cells: RawCells, unit: int) -> list[int]:
    """Columns that are constant within the values of a column and seem to describe them; of those alike the first."""
    columns = np.arange(len(cells.names))
    for codes in (cells.codes[:1_000], cells.codes):  # a few rows refute nearly all columns
        if len(columns) <= 2:  # one of them is the unit
            return []
        known = np.flatnonzero(codes[:, unit])
        order = known[np.argsort(codes[known, unit], kind="stable")]
        starts = np.flatnonzero(np.diff(codes[order, unit], prepend=0))
        repeats = np.delete(np.arange(len(order)), starts)
        one, other = (codes[np.ix_(order[repeats - step], columns)] for step in (0, 1))
        columns = columns[(one == other).all(axis=0)]
    sizes, of_unit = np.diff(starts, append=len(order)), cells.codes[order[starts]]
    level = LEVEL / (len(cells.units) * len(cells.names))
    others = [c for c in columns.tolist() if c != unit and _is_of_units(of_unit[:, c], sizes, level, cells.units[unit])]
    return [alike[0] for alike in equal_columns(of_unit, cells.n_values, others)]


def _is_of_units(values: Codes, sizes: Ints, level: float, is_sorted: bool) -> bool:
    """Whether a column that is constant within units describes them; ``values`` are its codes, in units of these sizes.

    It does not if it has more than half as many values, if it marks one unit only, if cuts of sorted units make it, as
    classes of age are made, or if an unrelated column might be constant, too.
    """
    n_units = np.bincount(values)
    n_values = np.count_nonzero(n_units)
    if not 2 <= n_values <= len(values) / 2 or n_units.max() > len(values) - 2:
        return False
    if is_sorted and np.count_nonzero(np.diff(values.astype(np.int64))) <= n_values:
        return False
    shares = np.bincount(values, sizes) / sizes.sum()
    return log_chance_of_constant(shares, sizes) <= math.log(level)
