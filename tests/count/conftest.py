"""Every way of counting, forced."""

import numpy as np
import pytest

from analogical.count import pairs

REGIMES = {
    "as chosen": {},
    "table": {},
    "sort, feature by feature": {"SPARSE_BITS": 99},
    "sort, isolate blocks": {"SPARSE_BITS": -99},
    "sort, narrow words": {"PACKED_BITS": 8},
}


@pytest.fixture(params=REGIMES)
def regime(request, monkeypatch, threads_for_small_work):
    """Every way of counting, forced, with threads however small the work is."""
    if request.param.startswith("sort"):
        monkeypatch.setattr(pairs, "fits_in_table", lambda *_, **__: False)
    elif request.param == "table":
        monkeypatch.setattr(
            pairs, "fits_in_table", lambda rows, **_: 0 < np.prod(rows.n_values) * rows.n_labels < 10**9
        )
    for name, value in REGIMES[request.param].items():
        monkeypatch.setattr(pairs, name, value)
    return request.param
