"""Services of artifacts."""
