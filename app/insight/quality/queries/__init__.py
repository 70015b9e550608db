"""SQL of quality metrics."""
