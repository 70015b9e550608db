"""Generate the JSON Schema for tags. `labels` builds the schema, the other modules its parts."""
