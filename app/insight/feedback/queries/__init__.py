"""SQL of feedback on predictions."""
