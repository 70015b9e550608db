"""Billing profiles: the recipients of invoices."""
