"""Plans: their limits and prices."""
