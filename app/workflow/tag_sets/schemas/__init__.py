"""Schemas of tag sets."""
