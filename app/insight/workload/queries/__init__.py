"""SQL queries of workload."""
