"""Ingestion jobs, which import or reprocess documents or extract tags, and their items."""
