"""Plan changes, which are immediate or at the end of the period, and the plan history."""
