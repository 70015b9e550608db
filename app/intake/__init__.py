"""Intake: imports of documents and labels, and the jobs that run them."""
