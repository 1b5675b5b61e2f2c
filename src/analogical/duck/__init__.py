"""Tables that DuckDB holds: files larger than memory, in this process."""
