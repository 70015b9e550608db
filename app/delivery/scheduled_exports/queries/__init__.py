"""SQL of scheduled exports and their runs."""
