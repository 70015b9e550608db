"""Billing profiles: the recipients of invoices, and the currency and language of invoices."""
