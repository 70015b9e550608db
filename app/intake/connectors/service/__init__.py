"""Service functions of connectors."""
