"""Drift detection."""
