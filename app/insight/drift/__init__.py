"""Drift of models and of the labeling."""
