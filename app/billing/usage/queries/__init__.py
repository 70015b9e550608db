"""SQL queries for usage."""
