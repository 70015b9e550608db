"""SQL for drift detection."""
