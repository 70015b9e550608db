"""SQL for tag sets."""
