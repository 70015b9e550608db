"""Ingestion jobs, which import documents, and their items."""
