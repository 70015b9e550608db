"""Registration, login, sessions, and changes of passwords and email addresses."""
