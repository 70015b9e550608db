"""SQL for webhooks: records of the API, leases of deliveries, and outcomes of attempts."""
