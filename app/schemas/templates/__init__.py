"""Schema templates."""
