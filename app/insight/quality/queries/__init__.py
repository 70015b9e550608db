"""SQL for quality metrics."""
