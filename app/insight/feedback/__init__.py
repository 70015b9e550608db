"""Feedback on predictions: how they compare with what was right."""
