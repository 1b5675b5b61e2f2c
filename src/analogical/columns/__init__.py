"""The user's table to codes and what they mean; the only stage that sees the table."""
