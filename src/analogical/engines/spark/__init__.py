"""The engine that counts a table where it lies: on the executors of Apache Spark."""
