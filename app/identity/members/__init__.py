"""Members of organizations and their roles."""
