"""Organizations and their settings."""
