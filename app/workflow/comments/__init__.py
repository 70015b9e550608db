"""Comments on tag sets."""
