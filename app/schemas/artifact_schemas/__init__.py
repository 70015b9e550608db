"""Artifact schemas, their versions and review policies."""
