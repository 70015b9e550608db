"""Login, sessions, registration and recovery of accounts."""
