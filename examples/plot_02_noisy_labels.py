"""
Noisy labels: index, noise and effect
=====================================

The index of a feature is the share of pairs with different labels among rows that differ on this
feature only. If labels are noisy, identical rows differ in label too. The effect is the index minus
this noise.
"""

# %%
# One feature that matters, three that do not
# -------------------------------------------
# The label is the value of ``cause``, with a share of the labels flipped at random.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from analogical import relevance

rng = np.random.default_rng(0)
rows = pd.DataFrame(rng.integers(0, 2, size=(1000, 4)), columns=["cause", "a", "b", "c"])


def with_flips(share):
    """The table with a label of which this share is flipped."""
    flipped = rng.random(len(rows)) < share
    return rows.assign(label=rows["cause"] ^ flipped)


quiet = relevance(with_flips(0.0), "label")
print(quiet)

# %%
# Without noise the index is 1 or 0. (The output asks whether ``cause`` is a leak: it predicts every
# label.) With 20 % of the labels flipped, about a third of the pairs for ``a``, ``b`` and ``c`` have
# different labels, and so do identical rows: 2 x 0.2 x 0.8 = 0.32. The index alone would suggest that
# all four features matter. The effect of the three is near 0.

noisy = relevance(with_flips(0.2), "label")
print(noisy)

# %%
# From no noise to coin flips
# ---------------------------
# The index of both features moves towards 1/2. The effect of ``a`` stays near 0, and the effect of
# ``cause`` falls from 1 to 0: it is the squared difference in label shares, (1 - 2 x 0.2)² = 0.36
# with 20 % flipped.

shares = np.linspace(0, 0.5, 11)
results = [relevance(with_flips(share), "label", given="all") for share in shares]

fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True, layout="constrained")
for ax, name in zip(axes, ["cause", "a"], strict=True):
    ax.plot(shares, [result[name]["ari"] for result in results], "o-", color="#d9822b", label="index")
    ax.plot(shares, [result[name]["noise_rate"] for result in results], "s--", color="#8a94a0", label="noise")
    ax.plot(shares, [result[name]["effect"] for result in results], "^-", color="#3b6ea8", label="effect")
    ax.set(title=name, xlabel="share of labels flipped", ylim=(-0.05, 1.05))
axes[0].legend()
plt.show()

# %%
# What to take away
# -----------------
# With noisy labels, read the effect and its p-value, not the index. Do not conclude that an effect of
# 0.36 is weak: its square root is a difference of 0.6 in label shares. Noise can only be estimated if
# rows repeat; the output says so if none do.
