"""Billing periods: the closing of calendar months."""
