"""SQL queries for scheduled exports and their runs."""
