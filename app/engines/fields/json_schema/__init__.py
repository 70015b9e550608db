"""Generate the JSON Schema of tags: `labels` combines it, the other modules describe its parts."""
