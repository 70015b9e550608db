"""Services of tag sets."""
