"""Insight: metrics of quality, drift and feedback, histories and workloads."""
