"""SQL of giving documents to people."""
