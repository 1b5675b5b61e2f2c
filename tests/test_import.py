import subprocess
import sys


def test_import_loads_no_heavy_library():
    code = (
        "import sys, analogical\n"
        "heavy = {'pandas', 'polars', 'matplotlib', 'sklearn', 'pyarrow', 'typer', 'rich', 'jinja2', 'pyspark'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_scoring_an_array_loads_neither_pandas_nor_polars():
    code = (
        "import sys, numpy, analogical\n"
        "analogical.relevance(numpy.array([[0, 0], [0, 1], [1, 0]]), [0, 1, 1])\n"
        "print(sorted({'pandas', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
