"""User accounts: email addresses, passwords, profiles and notification preferences."""
