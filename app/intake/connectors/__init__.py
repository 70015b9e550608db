"""Connectors: sources that the service crawls for documents, and their alerts."""
