"""SQL queries for invoices."""
