"""
Epistasis: which two SNPs act together
======================================

In epistasis two genetic variants change the risk of a disease together, but not alone. Here are
simulated genotypes of 800 people at 20 SNPs (0, 1 or 2 copies of one allele). The risk is
0.7 if exactly one of ``snp05`` and ``snp12`` is heterozygous, and 0.3 otherwise. With an allele
frequency of one half, neither SNP changes the risk on average.
"""

# %%
# Simulated genotypes
# -------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, false_discovery_control

from analogical import interactions

rng = np.random.default_rng(7)
names = [f"snp{k:02}" for k in range(1, 21)]
people = pd.DataFrame(rng.binomial(2, 0.5, size=(800, 20)), columns=names)
one_is_heterozygous = (people["snp05"] == 1) != (people["snp12"] == 1)
people["case"] = np.where(rng.random(800) < np.where(one_is_heterozygous, 0.7, 0.3), "yes", "no")

# %%
# One SNP at a time
# -----------------
# The usual test of each SNP alone is a chi-square test of genotype by case. Adjusted for 20 tests,
# no p-value is small.

tables = {name: pd.crosstab(people[name], people["case"]) for name in names}
alone = pd.Series({name: chi2_contingency(table).pvalue for name, table in tables.items()})
adjusted = pd.Series(false_discovery_control(alone), index=names)
print(adjusted.sort_values().head(4).round(3))

# %%
# All pairs
# ---------
# ``interactions`` compares four people at a time, with two genotypes of one SNP and two of another in
# all combinations, and tests whether the effect of one SNP depends on the other. Of 190 pairs, one is
# significant.

found = interactions(people, "case")
print(found.to_frame()[["first", "second", "effect", "p_adjusted", "status"]].head(4).round(4))

# %%
# The pair
# --------
# The shares of cases by genotype show the pattern: high where exactly one of the two is 1.

pair = found[found.ranking()[0]]
print(pair)
pair.plot(label="yes")
plt.show()

# %%
# What to take away
# -----------------
# A pair can be significant although neither SNP is alone. Do not conclude that any epistasis can be
# found: hundreds of thousands of SNPs have billions of pairs, and p-values are adjusted for all of
# them. In real genotypes, neighbouring SNPs and ancestry are other explanations.
