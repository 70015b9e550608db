"""SQL of documents: create, parse, list, search, update, count and delete them."""
