"""SQL queries that create, parse, list, search, update, count and delete documents."""
