"""Services of the review queue."""
