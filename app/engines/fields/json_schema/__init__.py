"""JSON Schema of tags: `labels` puts it together, the other modules describe its parts."""
