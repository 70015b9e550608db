"""Billing periods: calendar months that are closed to issue invoices."""
