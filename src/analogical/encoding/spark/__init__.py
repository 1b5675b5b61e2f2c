"""A table that lies on Spark to codes, without bringing its rows here."""
