"""Artifacts: documents with their text, pages and files."""
