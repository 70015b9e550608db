"""SQL for predictions and trained models."""
