"""Plan changes, either immediate or at the end of the billing period, and the plan history."""
