"""Generate the JSON Schema of tags: `labels` builds the schema, the other modules its parts."""
