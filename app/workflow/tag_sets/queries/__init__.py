"""SQL of tag sets."""
