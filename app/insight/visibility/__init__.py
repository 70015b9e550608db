"""Whose figures and reports a caller may see."""
