"""SQL queries for ingestion jobs, their items and their statistics."""
