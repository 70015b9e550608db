"""Erasing of closed organizations and deleted accounts."""
