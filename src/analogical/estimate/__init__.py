"""Counts to scores: the only stage that divides and tests."""
