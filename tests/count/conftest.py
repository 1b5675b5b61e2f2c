"""Every way of counting, forced."""

import pytest

REGIMES = {
    "as chosen": {},
    "table": {"tabulating.ENTRIES_PER_ROW": 10**9, "tabulating.MANY_ENTRIES": 10**9},
    "sort, feature by feature": {"sorting.SPARSE_BITS": 99},
    "sort, isolate blocks": {"sorting.SPARSE_BITS": -99},
    "sort, narrow words": {"sorting.PACKED_BITS": 8},
}


@pytest.fixture(params=REGIMES)
def regime(request, monkeypatch, threads_for_small_work):
    """Every way of counting, forced, with threads however small the work is."""
    if request.param.startswith("sort"):
        monkeypatch.setattr("analogical.count.pairs.fits_in_table", lambda *_, **__: False)
    for name, value in REGIMES[request.param].items():
        monkeypatch.setattr(f"analogical.count.{name}", value)
    return request.param
