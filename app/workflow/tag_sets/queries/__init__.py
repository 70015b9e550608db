"""SQL queries for tag sets."""
