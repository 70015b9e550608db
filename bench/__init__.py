"""Benchmarks that compare the service with a minimal implementation (the floor) in one run."""
