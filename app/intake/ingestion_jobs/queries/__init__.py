"""SQL queries for ingestion jobs."""
