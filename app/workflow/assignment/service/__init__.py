"""Services to assign, claim and release artifacts."""
