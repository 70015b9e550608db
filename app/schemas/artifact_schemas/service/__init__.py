"""Services of artifact schemas."""
