"""Ingestion jobs that predict the tags of all documents that another job created."""
