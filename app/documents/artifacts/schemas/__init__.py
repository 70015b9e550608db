"""Bodies and answers of artifacts."""
