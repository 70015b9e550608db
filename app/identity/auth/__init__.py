"""Login, sessions, registration and account recovery."""
