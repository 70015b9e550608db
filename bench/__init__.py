"""Benchmarks: our path beside its floor, in one run, on the same machine and data."""
