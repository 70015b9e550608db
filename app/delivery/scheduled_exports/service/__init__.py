"""Service functions for scheduled exports: management, start of runs, and delivery of files."""
