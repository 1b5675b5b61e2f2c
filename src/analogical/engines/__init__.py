"""Tables held by a database or a cluster: what DuckDB and Spark have in common."""
