"""Predictions of tags, and the models that an organization's accepted tag sets have trained."""
