"""Usage: meters, the limits of plans, and their history."""
