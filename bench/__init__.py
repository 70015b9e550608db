"""Benchmarks that compare the service with minimal implementations, which are called floors.

Each row of the printed table is a measurement, compared with its floor if it has one.
"""
