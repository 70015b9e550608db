"""SQL for quality runs."""
