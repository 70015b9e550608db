"""Feedback on predictions: how they compare with the correct values."""
