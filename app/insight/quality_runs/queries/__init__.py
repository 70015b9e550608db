"""SQL queries for quality runs."""
