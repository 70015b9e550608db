"""SQL queries of connectors."""
