"""Ingestion jobs: runs that bring documents in, with their items."""
