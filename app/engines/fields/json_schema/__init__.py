"""Generate the JSON Schema for tags.

The module `labels` builds the schema, and the other modules build its parts.
"""
