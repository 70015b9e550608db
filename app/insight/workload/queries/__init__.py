"""SQL queries for workload."""
