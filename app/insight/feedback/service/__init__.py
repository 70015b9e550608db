"""Record feedback on predictions, and summarize it."""
