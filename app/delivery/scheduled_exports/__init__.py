"""Exports that run on a schedule and deliver their files."""
