"""Routing rules, which assign artifacts automatically."""
