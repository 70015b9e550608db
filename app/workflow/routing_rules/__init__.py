"""Routing rules that assign artifacts."""
