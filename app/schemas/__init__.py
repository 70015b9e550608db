"""Schemas: what to label."""
