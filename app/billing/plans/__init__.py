"""Plans: the limits and prices of the service."""
