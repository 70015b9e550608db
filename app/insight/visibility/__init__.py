"""Visibility of the metrics and reports about labelers and teams."""
