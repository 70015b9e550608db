"""SQL queries for assignment."""
