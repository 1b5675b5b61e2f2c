"""
Where the index is the wrong tool
=================================

If the log odds are linear in numbers, linear models and the F-test are the right tools. Here numbers
are divided into bins, only one of the tests uses their order, and additivity is not assumed. So more
rows are needed to find the same four features.
"""

# %%
# Twelve numbers, four of them relevant
# -------------------------------------
# The log odds of the label are half the sum of the first four numbers. A method is right if these
# four have its four best scores.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression

from analogical import relevance


def sample(n_rows, seed):
    """Standard normal numbers and a label whose log odds are linear in four of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 12))
    return X, rng.random(n_rows) < 1 / (1 + np.exp(-0.5 * X[:, :4].sum(axis=1)))


METHODS = {
    "effect": lambda X, y: -np.argsort(relevance(X, y).order()),
    "F-test": lambda X, y: f_classif(X, y)[0],
    "logistic regression": lambda X, y: np.abs(LogisticRegression().fit(X, y).coef_[0]),
}


def is_right(scores):
    """Whether the four best scores are those of the first four numbers."""
    return set(np.argsort(-scores)[:4].tolist()) == {0, 1, 2, 3}


# %%
# One sample
# ----------
# No two rows agree on all numbers but one, even in bins, so the paper's index has no pairs. The effect
# is given the deciding set, as far as it can be found in so few rows.

X, y = sample(300, seed=0)
result = relevance(X, y)
print(result)

# %%
# Twenty samples of each size
# ---------------------------

sizes = [200, 300, 400]  # with 100 rows no method finds the four
right = pd.DataFrame(0, index=pd.Index(sizes, name="rows"), columns=list(METHODS))
for size in sizes:
    for seed in range(20):
        X, y = sample(size, seed)
        for name, scores in METHODS.items():
            right.loc[size, name] += is_right(scores(X, y))
print(right)

fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
right.plot.bar(ax=ax, rot=0, color=["#3b6ea8", "#8a94a0", "#d9822b"])
ax.set(ylabel="samples with the right four", xlabel="rows", yticks=range(0, 21, 5))
plt.show()

# %%
# What to take away
# -----------------
# If you expect smooth additive effects of numbers, fit such a model. This method is for categories, for
# features that act together, and for effects given other features. Do not conclude that univariate
# tests are the better default: in :ref:`the first example <sphx_glr_gallery_plot_01_xor.py>` they
# detect nothing.
