"""Texts of the reproduction: titles, how the numbers of each table were computed, and the page to read first."""

from typing import Literal

from analogical.rivals import METHODS

__all__ = ["ABOUT", "FIGURE", "PAGE_TITLE", "READING", "TITLES", "Variant", "row_title"]

Variant = Literal["as-published", "corrected"]

PAGE_TITLE = "# The Analogical Relevance Index paper, reproduced"
"""First line of the page, by which a page written by ``reproduce`` is recognised."""

READING = """\
Every printed number is shown next to ours. Where the value that the average tends to with more runs is known
exactly, it is given as *expected*. A printed number **agrees** if it lies within three standard errors of the
expected value (of our mean, if that is unknown) plus its rounding error; the standard error is exact in Tables 4
and 6, and otherwise comes from the spread of our runs, by Student's distribution.

- **as-published**: with the authors' samples, splits and normalisation, as in their notebooks. Agreement means
  that we know how the printed number was obtained.
- **corrected**: the experiment that the text describes, with errors corrected. Disagreement means that the
  printed number does not answer the question that the text asks.

The column *Relief* was computed with the package `sklearn-relief`, which takes each row as its own nearest hit and
subtracts the integer codes of categories: it is the distance to the nearest miss. The corrected tables have Kira
and Rendell's Relief, and ReliefF of scikit-rebate where that is installed. They also have *ARI relaxed*, which is
not in the paper: the relaxed index of this library, for samples with too few pairs at distance 1.
"""

FIGURE: dict[Variant, str] = {
    "as-published": "the authors' samples, normalisation and Relief",
    "corrected": "every method on the same random thirds of the 1,024 numbers",
}
"""What the figure shows."""

TITLES = {
    "table1": "Table 1: ARI, χ², MI and Relief on the eight functions (10 binary features, a third of the universe)",
    "table2": "Table 2: ARI, χ², MI and Relief on UCI data",
    "table3": "Table 3: accuracy in percent with the four features that a method ranks first",
    "table4": "Table 4: ARI at four sample sizes (10 binary features)",
    "table5": "Table 5: how much of the universe a sample holds",
    "table6": "Table 6: ARI at six sample sizes (15 features of 3 values)",
}

_SAMPLES_AS_PUBLISHED = (
    "Samples are drawn without replacement; a run without any pair for a feature counts as 2 in its average. The"
    " expected value is exact: 2 P0 + p (1 - P0), with p the index on the whole universe and P0 the probability of no"
    " pair. The standard deviation of one run is known exactly too, so a printed average of 10 runs agrees if it lies"
    " within 3 standard errors plus its rounding error."
)
_SAMPLES_CORRECTED = (
    "The averages of the same samples over the runs that have a pair; their expected value is exactly the index on the"
    " whole universe, at every sample size. A dash means that no run had a pair. A printed number agrees if it lies"
    " within 3 standard errors of that index; where it does not, it reflects samples without pairs, not relevance."
)

ABOUT: dict[tuple[str, Variant], str] = {
    ("table1", "as-published"): (
        "ARI was computed on 337 random rows of the 1,024 in each run; the other three methods on one fixed split of"
        " 686 other rows (test size .33, seed 1), so their runs differ only by chance within the method. Scores are"
        " divided by their sum + .01. MI is the nearest-neighbour estimate on integer codes; Relief is the distance to"
        " the nearest miss (see README)."
    ),
    ("table1", "corrected"): (
        "In each run every method is given the same random third (341 rows) of the 1,024. Scores are averaged over the"
        " runs that have evidence, then divided by their sum. χ² is Pearson's, MI is that of categories, Relief is Kira"
        " and Rendell's. ARI relaxed also compares rows at larger distances. For ARI the expected value is exact: the"
        " index on the whole universe, divided by its sum."
    ),
    ("table2", "as-published"): (
        "The printed numbers come from a ratio of 0.8, not 1/3: ARI was computed on 80 % of the rows, the others on one"
        " fixed split of the other 20 % (seed 1). A 2 of ARI is left out of the mean but stays in the sum that the"
        " scores are divided by (+ .001). The label of primary-tumor is the attribute 'abdominal'."
    ),
    ("table2", "corrected"): (
        "In each run every method is given the same random third of the rows, as the text says. Scores are averaged"
        " over the runs that have evidence, then divided by their sum. In addition to the published files: the whole"
        " universes of Monks 2 and 3 (432 rows, no noise) and primary-tumor with its class as label. ARI relaxed also"
        " compares rows at larger distances. On a whole universe the expected ARI is exact. A dash means that no run"
        " had a pair."
    ),
    ("table3", "as-published"): (
        "Ten folds, integer codes, logistic regression (100 steps). The four features that ARI ranks first, a 2 before"
        " all others, are deleted and the rest is kept, as in the authors' notebook. Relief is fitted again on the test"
        " fold with its labels, so training and testing use different columns. The labels of breast-cancer and"
        " primary-tumor are attributes (node-caps, abdominal), not the class. A printed number is one run; it agrees if"
        " it lies within the spread of ours."
    ),
    ("table3", "corrected"): (
        "Ten folds, logistic regression run to convergence. At most four features, chosen on the training fold only; a"
        " feature that scores 0 or has no evidence is never chosen, and if none is left the most frequent class is"
        " predicted. Integer codes, as in the paper, and indicator columns, which categories need. In addition to the"
        " published files: the right label for breast-cancer and primary-tumor, and the whole universes of Monks 2 and"
        " 3. In addition to the paper's methods: ARI relaxed, which also compares rows at larger distances."
    ),
    ("table4", "as-published"): _SAMPLES_AS_PUBLISHED,
    ("table4", "corrected"): _SAMPLES_CORRECTED,
    ("table5", "corrected"): (
        "Arithmetic: n_values ^ n_features, and the sample as a percentage of it. A printed percentage agrees if it is"
        " the right one, rounded as printed."
    ),
    ("table6", "as-published"): _SAMPLES_AS_PUBLISHED,
    ("table6", "corrected"): (
        f"{_SAMPLES_CORRECTED} Up to 1,000 rows the mean of the relaxed index, which also compares rows at larger"
        ' distances, is shown on the same samples. The last column, "all on top", is the share of runs in which every'
        " relevant feature scores higher than every irrelevant one, where no evidence counts as the lowest score; g4"
        " and g8 have no irrelevant feature."
    ),
}
"""How the numbers of a table were computed."""


def row_title(row: str) -> str:
    """The name of a row as it is shown: the title of a method, a sample size, or the name itself.

    Examples
    --------
    >>> row_title("chi2"), row_title("1000"), row_title("400 relaxed"), row_title("Monks1")
    ('χ²', '1,000 rows', '400 rows, relaxed', 'Monks1')
    """
    if row in METHODS:
        return METHODS[row].title
    size = row.removesuffix(" relaxed")
    if not size.isdigit():
        return row
    return f"{int(size):,} rows" + (", relaxed" if size != row else "")
