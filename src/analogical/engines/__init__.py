"""Who counts: every engine returns the same counts and sums."""
