"""SQL of exports: their records, and the rows of their files."""
