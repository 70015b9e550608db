"""Changes of plans: now or at the end of the period, and their history."""
