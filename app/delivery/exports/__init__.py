"""Exports of artifacts and tag sets to files."""
