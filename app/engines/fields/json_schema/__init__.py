"""Generate the JSON Schema for tags.

The module `tags` builds the schema, and the other modules build its parts.
"""
