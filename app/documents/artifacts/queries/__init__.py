"""SQL of documents: reading, creating, parsing, claiming, cleaning up."""
