"""Insight: quality metrics, drift, prediction feedback, statistics, histories and workloads."""
