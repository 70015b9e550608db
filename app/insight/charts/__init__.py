"""Charts of metrics, drawn within requests."""
