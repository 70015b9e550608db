"""SQL for scheduled exports and their runs."""
