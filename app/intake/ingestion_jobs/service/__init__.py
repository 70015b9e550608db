"""Service functions of ingestion jobs."""
