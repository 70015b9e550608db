"""Services for usage: meters, plan limits, warnings and history."""
