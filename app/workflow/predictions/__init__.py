"""Predictions of tags, and the models trained on an organization's accepted tag sets."""
