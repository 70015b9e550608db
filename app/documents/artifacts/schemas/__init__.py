"""Request and response schemas of artifacts."""
