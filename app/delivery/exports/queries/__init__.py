"""SQL of exports: their records, and the rows that they hold."""
