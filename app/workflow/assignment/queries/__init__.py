"""SQL queries for assigning and claiming artifacts."""
