"""SQL queries for routing rules."""
