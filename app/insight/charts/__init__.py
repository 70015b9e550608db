"""Charts of metrics, rendered during requests."""
