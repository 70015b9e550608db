"""SQL queries for connectors."""
