"""Exports of tag sets to files."""
