"""
Redundant columns
=================

The town determines the county. Then no two rows differ on the county alone, and the index has no
pairs for it. The output names copies, and the selector keeps one of them.
"""

# %%
# Shops in six towns
# ------------------
# ``town_code`` is another name for ``town``, and ``town`` determines ``county``. Shops are busy on
# market days in three of the towns; one in twenty labels is wrong.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from analogical import AnalogicalSelector, redundancies, relevance

rng = np.random.default_rng(1)
towns = np.array(["Ahaus", "Borken", "Coesfeld", "Dorsten", "Emsdetten", "Feldhausen"])
town = rng.integers(0, 6, 500)
shops = pd.DataFrame(
    {
        "town": towns[town],
        "town_code": 100 + town,
        "county": np.array(["north", "north", "south", "south", "west", "west"])[town],
        "market_day": rng.choice(["yes", "no"], 500),
        "parking": rng.choice(["yes", "no"], 500),
    }
)
busy = (shops["market_day"] == "yes") & (town % 2 == 0)
shops["busy"] = busy ^ (rng.random(500) < 0.05)

# %%
# No pairs
# --------
# ``given="all"`` is the paper's index. Three columns have no pairs, so it says nothing about the town.

blocked = relevance(shops, "busy", given="all")
print(blocked)

# %%
# Which columns determine others
# ------------------------------

print(redundancies(shops, ignore="busy"))

# %%
# Resolved
# --------
# By default only the deciding set is held fixed. One of the columns is compared, and its copies have the
# status ``same``. The selector leaves them out: of two equivalent columns it keeps the first.

selector = AnalogicalSelector().fit(shops.drop(columns="busy"), shops["busy"])
for dropped in selector.dropped_:
    print(dropped)
print(selector.get_feature_names_out())

resolved = relevance(shops, "busy", ignore=["town_code", "county"])
print(resolved)

# %%
# The same table before and after:

fig, axes = plt.subplots(2, 1, figsize=(6.6, 5.4), sharex=True, layout="constrained")
for ax, drawn, title in zip(axes, (blocked, resolved), ("all columns", "without town_code and county"), strict=True):
    drawn.plot(ax)
    ax.set_title(title, loc="left", pad=24)
plt.show()

# %%
# What to take away
# -----------------
# If the status is ``same``, or no pairs were compared, check ``redundancies``. Do not conclude that the
# column that was kept is the one that matters: town and town code carry the same information, and no
# method can distinguish them.
