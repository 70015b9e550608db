"""Insight: quality metrics, drift reports, prediction feedback, histories and workloads."""
