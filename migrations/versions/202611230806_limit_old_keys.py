"""Limit existing API keys to the rights that they had in the previous release.

In that release, a key had the lower of its role and the role of its creator, and was refused while
the creator's account was disabled.
"""

from migrations import live

revision = "202611230806"
down_revision = "202611230805"
branch_labels = None
depends_on = None

ROLES = "ARRAY['viewer', 'labeler', 'reviewer', 'admin', 'owner']"
IS_CREATOR = "m.organization_id = api_keys.organization_id AND m.user_id = api_keys.created_by"
ABOVE = f"""
EXISTS (SELECT FROM memberships m WHERE {IS_CREATOR}
        AND array_position({ROLES}, m.role::text) < array_position({ROLES}, api_keys.role::text))
"""  # noqa: S608 - made of constants
LOWER = f"""
UPDATE api_keys SET role = m.role, updated_at = now() FROM batch b, memberships m
WHERE api_keys.organization_id = b.organization_id AND api_keys.id = b.id AND {IS_CREATOR}
"""  # noqa: S608 - made of constants
REFUSED = """
(expires_at IS NULL OR expires_at > now())
AND EXISTS (SELECT FROM users u WHERE u.id = api_keys.created_by AND u.disabled_at IS NOT NULL)
"""
EXPIRE = """
UPDATE api_keys SET expires_at = now(), updated_at = now() FROM batch b
WHERE api_keys.organization_id = b.organization_id AND api_keys.id = b.id
"""


def upgrade() -> None:
    live.backfill("api_keys", LOWER, pending=ABOVE)
    live.backfill("api_keys", EXPIRE, pending=REFUSED)
    live.validate("fk_api_keys_created_by", "api_keys")
    live.create_index("ix_api_keys_creator", "api_keys", ["created_by"])


def downgrade() -> None:
    live.drop_index("ix_api_keys_creator")
