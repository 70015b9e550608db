"""SQL queries for drift detection."""
