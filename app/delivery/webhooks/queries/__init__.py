"""SQL queries for webhooks: API records, leases of deliveries, and outcomes of attempts."""
