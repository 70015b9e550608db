"""Notifications in the application and by email."""
