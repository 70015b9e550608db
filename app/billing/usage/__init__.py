"""Usage: meters, plan limits, and the usage history."""
