"""Request and response schemas for artifacts."""
