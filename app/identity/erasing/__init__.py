"""Erasure of closed organizations, with their rows, files and unused accounts."""
