"""Billing profiles: to whom invoices are addressed."""
