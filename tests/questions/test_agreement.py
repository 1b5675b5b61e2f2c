"""All questions about one table give one answer: relevance, select, audit and the report never disagree."""

import os
from pathlib import Path

import numpy as np
import pytest

from analogical import Study, audit, relevance, report, select
from analogical.io.files import open_file

FOLDER = os.environ.get("ANALOGICAL_DATA")
TABLES = sorted(Path(FOLDER, "real").glob("*.csv")) if FOLDER else []
pytestmark = pytest.mark.skipif(not TABLES, reason="ANALOGICAL_DATA names no folder that holds real/")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_one_table_has_one_answer(path):
    frame = open_file(str(path)).frame
    study = Study(frame, frame.collect_schema().names()[-1])
    found = relevance(study)
    effects = set(found.with_status("effect"))
    assert set(select(study).features) == set(found.deciding)
    if study.n_rows <= 20_000:  # otherwise the deciding set is found on a sample
        assert effects <= set(found.deciding)
    for name in found.ranking()[:4]:
        place = found.names.index(name)
        if found.status[place] in ("effect", "unclear", "none"):
            asked = audit(study, name)
            np.testing.assert_equal(asked.p_value, found.p_value[place])
            assert asked.given == found.given[place]
            assert asked.adjusted_for == found.adjusted_for[place]
            assert not asked.significant() or found.p_value[place] < 0.05
    # p, interval and status say the same
    for place, status in enumerate(found.status):
        if status == "effect":
            assert found.p_adjusted[place] <= 0.05
            assert found.effect[place] > 0
        if status == "none":
            assert found.effect_high[place] <= found.settings.negligible
            direction = found.direction[place]
            if direction is not None and not direction.low <= 0 <= direction.high:
                assert max(abs(direction.low), abs(direction.high)) ** 2 <= 10_000 * found.settings.negligible


@pytest.mark.parametrize("path", [path for path in TABLES if path.stem in ("compas", "vote", "colic")], ids=str)
def test_a_report_says_what_its_questions_say(path):
    frame = open_file(str(path)).frame
    study = Study(frame, frame.collect_schema().names()[-1])
    page, found = report(study), relevance(study)
    assert page.relevance.status == found.status
    assert set(page.selection.features) == set(found.deciding)
    for asked in page.audits:
        place = found.names.index(asked.feature)
        np.testing.assert_equal(asked.p_value, found.p_value[place])
