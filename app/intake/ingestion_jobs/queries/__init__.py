"""SQL queries of ingestion jobs."""
