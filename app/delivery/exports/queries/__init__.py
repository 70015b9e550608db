"""SQL for exports: their records, and the rows of their files."""
