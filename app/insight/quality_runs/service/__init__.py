"""Services for quality runs."""
