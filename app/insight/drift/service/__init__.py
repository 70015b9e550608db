"""Services for drift detection."""
