"""Plans: what an organization may use, and what it costs."""
