"""SQL queries for quality metrics."""
