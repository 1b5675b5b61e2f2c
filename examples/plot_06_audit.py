"""
An audit, all else equal
========================

A bank approves 50 % of the loans that men ask for and 34 % of those that women ask for. Does it
treat them differently, or do they apply under different conditions? An audit compares women and men
who agree on the features that approval depends on. The data are simulated, so we know the answer:
with the same income and debt, women are approved 6 points less often.
"""

# %%
# Simulated applications
# ----------------------
# More women than men have a low income, which lowers the probability of approval and widens the gap.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from analogical import audit

rng = np.random.default_rng(1)
n = 6000
gender = rng.choice(["woman", "man"], n)
low_income = rng.random(n) < np.where(gender == "woman", 0.6, 0.3)
loans = pd.DataFrame(
    {
        "gender": gender,
        "income": np.where(low_income, "low", rng.choice(["middle", "high"], n)),
        "debt": rng.choice(["none", "some", "much"], n),
    }
)
chance = 0.55 - 0.25 * low_income + 0.2 * (loans["income"] == "high") - 0.15 * (loans["debt"] == "much")
loans["approved"] = np.where(rng.random(n) < chance - 0.06 * (gender == "woman"), "yes", "no")
print(loans.groupby("gender")["approved"].value_counts(normalize=True).unstack().round(3))

# %%
# The audit
# ---------
# The audit finds that approval depends on income and debt, and compares applicants who agree on them.
# The crude difference is 16.7 points, the adjusted difference 6.1 points, and its interval contains the
# simulated 6 points.

result = audit(loans, "approved", "gender", reference="man", limit=2)
print(result)

# %%
# The same as a figure, with the difference in each context:

result.plot()
plt.show()

# %%
# What to take away
# -----------------
# The crude difference mixes who applies with how applications are treated; adjustment removes the
# first part. Do not conclude that the rest is caused by gender. An unrecorded variable may explain it,
# and a recorded one such as income may itself be the result of unequal treatment.
