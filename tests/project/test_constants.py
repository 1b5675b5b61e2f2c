"""Every constant of the package is in the table of those that decide, or of one of the kinds that do not."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import analogical

SOURCE = Path(analogical.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "constants.md").read_text(encoding="utf-8")
MOST, MOST_DECIDING = 190, 25
"""Most constants, and most that decide: who adds one takes another away."""
KINDS = {
    "speed and memory": """
        columns.columns: CHUNK_ROWS MANY_NUMBERS
        count.contexts: FEW_CONTEXTS MAX_TOTAL PACKED_BITS
        count.given: ENTRIES
        count.groups: AT_ONCE PACKED_BITS
        count.listing: MAX_LISTED SQUARES_PER_CONTEXT
        count.pairs: SPARSE_BITS
        count.squares: EXACT EXACT_PAIRS FEW_LABELS MAX_CELLS
        count.threads: SMALL_WORK
        estimate.dependencies: N_HEAD N_SAMPLE
        estimate.differences: NORMAL
        estimate.fit: AT_ONCE
        io.files: BLOCK_BYTES MANY_CELLS MOST_UNPACKED
        io.text: MOST_COLUMNS PIECE_BYTES TYPED_CELLS
        outside.encoding: FEW_CELLS MOST_GROUPS
        outside.spark: SECONDS
        paper.functions: MAX_UNIVERSE
        study: CELLS FEW_GIVEN MOST_GROUPS
        """,
    "rounding": """
        estimate.sizes: ROUNDING ROUNDING_SHARE
        estimate.tests: ROUNDING
        search: EQUAL_GAINS
        """,
    "display": """
        cli.writing: STYLES
        plot.canvas: BAR_HEIGHT COLOURS MAX_DRAWN_ROWS PLAIN_TEXT
        plot.figures: REDUNDANCY_COLOURS
        questions.interactions: MAX_EXAMPLES
        questions.report: MAX_LISTED
        show.audit: CLASSES
        show.html: STYLE
        show.interactions: FEW_EFFECTIVE MAX_VALUES MAX_VALUE_LENGTH
        show.relevance: FEW_NAMES
        show.report: MARK MAX_RANKED
        show.views: BAR_WIDTH EIGHTHS
        show.words: INVISIBLE LONG_NAME
        """,
    "words": """
        columns.frames: FAR_DATES
        outside.encoding: CHANGED
        show.notes: DOUBTS NOTES
        show.relevance: MIXED NOT_ADJUSTED NOT_CAUSES PAPER_STATUSES ROW_NAMES SIZE_OF_NUMBERS SIZE_OF_SHARES STATUSES
        show.selection: REASONS
        show.views: QUESTIONS
        show.words: ELSEWHERE MEANS UNITS
        """,
    "formats: how cells, files, dates, names of columns and servers are recognised": """
        columns.columns: DAY_NUMBERS MISSING NO_CODES
        columns.frames: ENGINES
        columns.labels: USUAL_ORDERS
        columns.rules: COUNT_NAME GROUP_NAME ID_NAME PERSONS
        columns.treating: PARTS
        io.files: NA
        io.typing: MONTHS NUMBER TESTS ZONED_TIME
        """,
    "lists of what there is": """
        : _HOMES
        cli: COMMANDS
        datasets: WEIGHTS _BERKELEY _MONKS_VALUES _TABLES _TITANIC
        outside.lazy: OWN
        questions.audit: _MEASURED
        questions.evidence: _CHANGE
        rivals: METHODS METHODS_OF_NUMBERS
        show.views: _MAKERS
        """,
    "another name of one that decides": """
        questions.relevance: DEFAULT_CONFIDENCE
        """,
    "the paper's experiments": """
        paper.datasets: GENERATED
        paper.functions: FUNCTIONS
        paper.reproduce: DIFFERS FORMATS PARTS VARIANTS
        paper.tables: K PAPER_RUNS Z
        """,
}
"""Constants that change no verdict, by kind: module and names."""


def constants():
    """All names in upper case that a module assigns outside of functions and classes, as module.NAME."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [name for target in targets for name in getattr(target, "elts", [target])]
            found |= {f"{module}.{name.id}" for name in names if isinstance(name, ast.Name) and name.id.isupper()}
    return found


def rows_of(heading):
    """The rows of the table below a heading of the page: constant, value, what it decides, experiment."""
    text = re.search(rf"^##? {heading}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\| `.*$", text, re.MULTILINE)
    ]


DECIDING, LIMITS = rows_of("Constants that decide"), rows_of("Limits and conventions")
OTHERS = [
    f"{module.strip()}.{name}"
    for lines in KINDS.values()
    for module, _, names in (line.partition(":") for line in lines.strip().splitlines())
    for name in names.split()
]


def test_every_constant_is_in_the_table_or_of_a_kind_that_decides_nothing():
    named = [*(row[0] for row in (*DECIDING, *LIMITS)), *OTHERS]
    assert sorted(set(named)) == sorted(named), "named twice"
    assert constants() - set(named) == set(), "not in docs/constants.md or KINDS"
    assert set(named) - constants() == set(), "no longer in the package"


@pytest.mark.parametrize("row", [*DECIDING, *LIMITS], ids=lambda row: row[0])
def test_the_table_has_the_value_of_the_code_and_what_it_rests_on(row):
    place, value, decides, experiment = row
    module, _, name = place.rpartition(".")
    assert getattr(import_module(f"analogical.{module}"), name) == ast.literal_eval(value)
    assert decides
    assert experiment


def test_constants_are_few():
    assert len(constants()) <= MOST
    assert len(DECIDING) <= MOST_DECIDING
