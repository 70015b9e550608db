"""Serve the built web application (docs/decisions/0073)."""
