"""Plan changes, immediate or at the end of the period, and their history."""
