"""SQL queries of routing rules."""
