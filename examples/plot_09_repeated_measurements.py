"""
Several rows of the same person
===============================

Intervals and p-values assume independent rows. Twelve visits of one patient are not independent,
and look like more evidence than they are. ``groups`` names the independent units.
"""

# %%
# Simulated visits
# ----------------
# 200 patients with twelve visits each. Some patients feel pain more easily than others. Blood group
# and hospital are constant within a patient and have no effect. The drug is drawn at each visit, and
# lowers the probability of pain by 30 points.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from analogical import relevance

rng = np.random.default_rng(5)
patient = np.repeat(np.arange(200), 12)
visits = pd.DataFrame(
    {
        "patient": patient,
        "blood_group": rng.choice(["A", "B", "AB", "0"], 200)[patient],
        "hospital": rng.choice(["north", "south", "west"], 200)[patient],
        "drug": rng.choice(["yes", "no"], len(patient)),
    }
)
chance = rng.uniform(0.3, 1.0, 200)[patient] - 0.3 * (visits["drug"] == "yes")
visits["pain"] = np.where(rng.random(len(visits)) < chance, "yes", "no")

# %%
# Visits as if they were independent
# ----------------------------------
# The hospital seems to have an effect, and even the blood group, which does nothing.

naive = relevance(visits, "pain", ignore="patient")
print(naive)

# %%
# Patients as the independent unit
# --------------------------------
# The paper's index is the same; effects, intervals and p-values are not. The drug varies between the
# visits of a patient, so these are compared. For blood group and hospital each patient is one
# observation. Only the drug has a significant effect.

grouped = relevance(visits, "pain", groups="patient")
print(grouped)

fig, axes = plt.subplots(2, 1, figsize=(6.6, 4.6), sharex=True, layout="constrained")
titles = ("2,400 visits as independent rows", "200 patients as independent groups")
for ax, drawn, title in zip(axes, (naive, grouped), titles, strict=True):
    drawn.plot(ax)
    ax.set_title(title, loc="left", pad=24)
plt.show()

# %%
# What to take away
# -----------------
# Name the independent units with ``groups``. A feature that varies within patients is tested within
# them, otherwise between patients. 2,400 visits are then 200 observations, so a weak effect of blood
# group could be missed. Do not conclude from a p-value above 0.05 that there is no effect.
