"""
Numbers, missing cells and identifiers
======================================

A table with an identifier, two numbers, and a question that some did not answer needs no
preparation. Numbers are divided into 5 bins, missing cells count as a separate value, and a column
that is distinct in nearly every row is set aside. The output says so.
"""

# %%
# Simulated patients
# ------------------
# The risk is higher above 70 years, and for smokers up to that age. Sex and blood pressure have no
# effect. The ill leave the question about smoking open more often.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from analogical import relevance

rng = np.random.default_rng(3)
n = 2000
patients = pd.DataFrame(
    {
        "patient": [f"p{k:04}" for k in range(n)],
        "age": rng.integers(20, 90, n),
        "sex": rng.choice(["f", "m"], n),
        "pressure": rng.normal(130, 15, n).round(1),
        "smoker": rng.choice(["yes", "no"], n),
    }
)
risk = 0.05 + 0.5 * (patients["age"] > 70) + 0.25 * ((patients["smoker"] == "yes") & (patients["age"] <= 70))
patients["ill"] = np.where(rng.random(n) < risk, "yes", "no")
unanswered = rng.random(n) < np.where(patients["ill"] == "yes", 0.4, 0.1)
patients["smoker"] = patients["smoker"].mask(unanswered)
print(patients.head())

# %%
# As it is
# --------
# The first lines say how the columns were encoded.

result = relevance(patients, "ill")
print(result)
print("age is divided at", result["age"]["edges"])

# %%
# Without the missing answers
# ---------------------------
# Here it matters that an answer is missing: those who did not answer are ill more often. Without
# these rows, the effect of ``smoker`` is smaller and ``age`` comes first.

complete = relevance(patients, "ill", missing="drop")
print(complete)

fig, axes = plt.subplots(2, 1, figsize=(6.6, 5.0), sharex=True, layout="constrained")
titles = ("missing answers are a value", "rows with missing answers left out")
for ax, drawn, title in zip(axes, (result, complete), titles, strict=True):
    drawn.plot(ax)
    ax.set_title(title, loc="left", pad=24)
axes[0].set_xlim(0, 32)
plt.show()

# %%
# What to take away
# -----------------
# Read the notes. If cells are missing, compute both ways: a difference suggests that missingness is
# associated with the label. Do not conclude from the first result that smoking matters more than age;
# part of its effect is who answered. Nor do bins follow the rule: 70 years lies within a bin.
