"""Services that predict tags and train models."""
