"""Drift of models and of labeling."""
