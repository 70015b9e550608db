"""SQL of webhooks: what the API reads and writes, the leases, and the outcomes of attempts."""
