"""Quality metrics: read the daily aggregates, and keep them current."""
