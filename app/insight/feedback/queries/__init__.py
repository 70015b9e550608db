"""SQL for feedback on predictions."""
