"""API keys, with which other services call the API of an organization."""
