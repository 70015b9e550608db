"""Schemas: the fields to label in each type of document."""
