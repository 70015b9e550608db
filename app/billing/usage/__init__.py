"""Usage: meters, plan limits, warnings and the usage history."""
