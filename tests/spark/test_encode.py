"""A table on Spark is encoded as the same table in memory; ``tests/engines`` has many more cases."""

import pyarrow as pa
import pytest
from encoded_there import COLUMNS, assert_same_as_in_memory, table_of
from spark_sessions import all_need_spark

from analogical.spark.relation import SparkRelation
from analogical.spark.session import ship_package

pytestmark = all_need_spark()

NOT_ON_SPARK = ("times of day", "nothing")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "few whole numbers", "groups": "dates with gaps", "fold_case": True, "bins": {"floats": [3, 9.5]}},
        {"missing": "drop", "ids": "keep", "bin_label": 3, "max_values": 5, "label": "many whole numbers"},
    ],
)
def test_every_kind_of_column(session, options):
    ship_package(session)
    frame = table_of(*(name for name in COLUMNS if name not in NOT_ON_SPARK))
    label = options.pop("label", "y")
    there = session.createDataFrame(frame.to_arrow()).coalesce(1)
    times = {name: there[name].cast("timestamp_ntz") for name in there.columns if name.startswith("time stamps")}
    relation = SparkRelation(there.withColumns(times))

    def batches_of(table):
        return pa.Table.combine_chunks(table.relation.frame.select(*table.sources).toArrow()).to_batches()

    found, _ = assert_same_as_in_memory(frame, relation, batches_of, label, has_order=False, **options)
    assert not isinstance(found, str), found
