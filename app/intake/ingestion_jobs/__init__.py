"""Ingestion jobs that import documents or extract tags, and the items of these jobs."""
