"""Visibility of the figures and reports of labelers and teams."""
