"""Routes that serve the built web application (docs/decisions/0073)."""
