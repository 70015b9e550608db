"""Documents: what is labeled."""
