"""Events that billing profiles emit."""

CHANGED = "billing_profile.changed"
"""The billing profile of the organization was set; payload: {revision}."""
