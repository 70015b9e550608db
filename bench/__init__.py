"""Benchmarks that compare the service with minimal implementations, which are called floors.

Each row of the printed table compares a measurement with its floor.
"""
