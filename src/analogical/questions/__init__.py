"""One public verb each: a result, and the road to it."""
