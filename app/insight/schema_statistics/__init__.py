"""Statistics of a schema and its versions."""
