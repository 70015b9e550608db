"""Billing: what organizations used and owe."""
