"""API keys, with which other programs access an organization through the API."""
