"""Revoke the open invitations of users who may no longer invite."""

from migrations import live

revision = "202611230804"
down_revision = "202611230802"
branch_labels = None
depends_on = None

ROLES = "ARRAY['viewer', 'labeler', 'reviewer', 'admin', 'owner']"
PENDING = f"""
accepted_at IS NULL AND revoked_at IS NULL AND NOT EXISTS (
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = invitations.organization_id AND m.user_id = invitations.invited_by
      AND m.role IN ('admin', 'owner') AND u.disabled_at IS NULL
      AND array_position({ROLES}, m.role::text) >= array_position({ROLES}, invitations.role::text))
"""  # noqa: S608 - made of constants
END = """
UPDATE invitations SET revoked_at = now(), updated_at = now() FROM batch
WHERE invitations.organization_id = batch.organization_id AND invitations.id = batch.id
"""


def upgrade() -> None:
    live.backfill("invitations", END, pending=PENDING)


def downgrade() -> None:
    """Do nothing: revoked invitations stay revoked."""
