"""Connectors, bulk imports, and the jobs that import or reprocess documents or extract tags."""
