"""API keys of organizations."""
