"""Billing periods: closing a month."""
