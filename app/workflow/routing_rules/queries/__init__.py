"""SQL of routing: rules, documents as rules see them, who can be given work, and writing it."""
