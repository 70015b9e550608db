"""SQL of quality runs."""
