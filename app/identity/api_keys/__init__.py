"""API keys, which other services use to call an organization's API."""
