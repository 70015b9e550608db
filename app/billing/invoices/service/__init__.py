"""Services that compute, issue, read and correct invoices."""
