"""Intake: imports of documents and labels, and their jobs."""
