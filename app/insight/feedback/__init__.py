"""Feedback on predictions: how predictions compare with the correct values."""
