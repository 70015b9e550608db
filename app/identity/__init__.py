"""Identity: organizations, users, teams, authentication and the audit log."""
