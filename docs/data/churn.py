"""Simulate churn.csv, the table of the README: 3,000 customers, of whom we know what their leaving depends on.

    python docs/data/churn.py

Whether a customer leaves depends on the contract, the number of support calls, and on international calls with the
basic plan. Autopay and months are associated with the contract, and the fee with the plan; given these, the label
depends on none of them, nor on age or region.
"""

from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 3000


def customers() -> pd.DataFrame:
    """The table."""
    rng = np.random.default_rng(7)
    contract = rng.choice(["monthly", "1 year", "2 years"], ROWS, p=[0.5, 0.3, 0.2])
    autopay = rng.random(ROWS) < np.where(contract == "monthly", 0.35, 0.75)
    months = 1 + rng.gamma(2.0, np.where(contract == "monthly", 7, 16)).astype(int)
    plan = rng.choice(["basic", "plus", "family"], ROWS, p=[0.5, 0.3, 0.2])
    fee = np.select([plan == "basic", plan == "plus"], [19.0, 32.0], 48.0) + rng.normal(0, 4, ROWS)
    international = rng.random(ROWS) < 0.3
    calls = rng.poisson(1.6, ROWS)
    age = np.where(rng.random(ROWS) < 0.04, "", rng.integers(18, 86, ROWS).astype(str))
    region = rng.choice(["north", "south", "east", "west"], ROWS)
    chance = 0.06 + 0.20 * (contract == "monthly") + 0.30 * (calls >= 4)
    churned = rng.random(ROWS) < chance + 0.25 * (international & (plan == "basic"))
    return pd.DataFrame(
        {
            "customer": [f"C{k:04}" for k in range(1, ROWS + 1)],
            "age": age,
            "region": region,
            "months": months,
            "contract": contract,
            "autopay": np.where(autopay, "yes", "no"),
            "plan": plan,
            "fee": fee,
            "international": np.where(international, "yes", "no"),
            "calls": calls,
            "churned": np.where(churned, "yes", "no"),
        }
    )


if __name__ == "__main__":
    customers().to_csv(Path(__file__).with_suffix(".csv"), index=False, float_format="%.2f", lineterminator="\n")
