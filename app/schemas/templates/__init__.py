"""Templates of schemas."""
