"""SQL queries of the review queue."""
