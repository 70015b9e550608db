"""The labeling and review service."""
