"""SQL of drift detection."""
