"""SQL queries for predictions and trained models."""
