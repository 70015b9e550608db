"""SQL queries for feedback on predictions."""
