"""Members of organizations: listing, roles, removal and ownership transfer."""
