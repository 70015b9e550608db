"""SQL of notifications: who is told, what collects, and what is mailed."""
