"""SQL of the review queue: reading it, drawing from it, who holds what, and its numbers."""
