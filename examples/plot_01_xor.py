"""
An exclusive or that no univariate filter detects
=================================================

The label is 1 if exactly one of two switches is on. Each switch alone is uninformative: half of the
rows have label 1 whether it is on or off. A filter that scores one column at a time finds nothing,
however many rows there are. Pairs of rows that differ on one switch only show it at once.
"""

# %%
# Eight switches
# --------------
# All 256 positions of eight switches, once each. The lamp depends on ``left`` and ``right`` only.

from itertools import product

import matplotlib.pyplot as plt
import pandas as pd

from analogical import compare, relevance

names = ["left", "right", "a", "b", "c", "d", "e", "f"]
switches = pd.DataFrame(product((0, 1), repeat=8), columns=names)
switches["lamp"] = switches["left"] ^ switches["right"]

# %%
# The index
# ---------
# Two rows that differ on ``left`` only always have different labels, so the index of ``left`` is 1.
# Two rows that differ on ``a`` only never do, so the index of ``a`` is 0.

result = relevance(switches, "lamp")
print(result)

# %%
# Compared with filters
# ---------------------
# Chi-square and mutual information score one column at a time. They give every switch the score 0. A
# random forest and Relief use several columns at a time, and find both.

comparison = compare(switches, "lamp", methods=["ari", "chi2", "mi", "forest", "relief"])
print(comparison)
comparison.plot()
plt.show()

# %%
# What to take away
# -----------------
# A univariate score of 0 does not mean that a feature is irrelevant. In a sample these scores would
# not be exactly 0, and their order would be random. Do not conclude that the index is always the better
# choice: the forest and Relief find both switches too, and
# :ref:`the last example <sphx_glr_gallery_plot_12_wrong_tool.py>` shows where others do better.
