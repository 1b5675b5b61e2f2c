"""
A label that is a number: what makes a flat dear
================================================

If the label is a number, rows are compared as for classes, and sizes are in its unit. The table is
simulated, so that we know what each column is worth.
"""

# %%
# Simulated flats
# ---------------
# A square metre costs 8, the districts up to 190, a balcony 45. Each floor adds 30 in a house with a
# lift and takes 30 without one. The number of rooms does not count; but large flats have more rooms.

import matplotlib.pyplot as plt

from analogical import load_table, relevance

rents = load_table("rents").to_frame("pandas").drop(columns="count")
print(rents.head())
print(rents[["area", "rooms", "floor", "rent"]].corr().round(2)["rent"])

# %%
# Sizes in the unit of the label
# ------------------------------
# Rooms are correlated with the rent, far more than the floor is, but among flats of equal area they make
# no difference. The floor has an effect whose direction depends on the lift.

result = relevance(rents, "rent")
print(result)
result.plot()
plt.show()

# %%
# Other scales
# ------------
# Ranks depend less on a few very dear flats, and logarithms turn differences into ratios: with these,
# sizes are in per cent.

for scale in ("ranks", "log"):
    print(relevance(rents, "rent", scale=scale))

# %%
# What to take away
# -----------------
# Choose the scale by the question: the unit of the label if its differences add up, logarithms if they
# multiply, ranks if only the order is meant. Do not conclude that a square metre more
# makes a flat dearer by 8: the sizes compare flats as they are, given the recorded columns.
