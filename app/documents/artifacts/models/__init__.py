"""Database models for artifacts, their text, their pages and their relations to users."""
