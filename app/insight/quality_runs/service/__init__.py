"""Services of quality runs."""
