"""SQL for invoices."""
