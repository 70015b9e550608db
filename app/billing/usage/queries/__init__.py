"""SQL queries of usage."""
