"""Invitations to an organization."""
