"""Bulk import of many documents from one file."""
