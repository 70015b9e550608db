"""Import JSON Schemas, drafts 4 to 2020-12."""
