"""Tables larger than memory on one machine: DuckDB reads files, and holds and groups their codes."""
