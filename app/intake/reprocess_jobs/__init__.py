"""Ingestion jobs that parse existing documents again."""
