"""The history of an artifact."""
