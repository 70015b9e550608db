"""SQL of invoices."""
