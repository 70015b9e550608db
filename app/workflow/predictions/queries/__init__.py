"""SQL of predictions and trained models."""
