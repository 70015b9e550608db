"""Bulk import: one file with many documents."""
