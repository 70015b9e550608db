"""Invitations by email to join an organization: sending, revoking and accepting."""
