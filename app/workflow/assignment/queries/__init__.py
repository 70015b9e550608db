"""SQL queries of assignment."""
