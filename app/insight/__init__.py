"""Insight: what happened, and how much work there is."""
