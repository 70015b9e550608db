"""Billing: plans, usage and invoices of organizations."""
