"""SQL queries for the review queue."""
