"""SQL of API keys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select

from app.identity.api_keys.models import ApiKey
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, paginate, within
from app.kit.prepared import Prepared

# One round trip proves a request: key, organization, who made it and their membership together.
_AUTHENTICATE = Prepared(
    "authenticate_key",
    "text",
    """
    SELECT k.key_hash, k.expires_at IS NOT NULL AND k.expires_at <= now()
               OR u.disabled_at IS NOT NULL OR o.status NOT IN ('active', 'suspended'),
           k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute',
           k.id, k.name, k.role, k.read_only, k.expires_at, u.id, u.email, m.role,
           o.id, o.slug, o.status, o.settings
    FROM api_keys k
    JOIN organizations o ON o.id = k.organization_id
    JOIN users u ON u.id = k.created_by
    JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.created_by
    WHERE k.prefix = $1
    """,
)
# Many requests of one key may find it due at once: one writes, the others pass by.
_TOUCH = Prepared(
    "touch_key",
    "uuid, uuid",
    """
    UPDATE api_keys SET last_used_at = now()
    WHERE (organization_id, id) = (
        SELECT organization_id, id FROM api_keys
        WHERE organization_id = $1 AND id = $2
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
        FOR UPDATE SKIP LOCKED
    )
    """,
)


@dataclass(frozen=True, slots=True)
class Proof:
    """What the database says of a key, its organization and who made it."""

    key_hash: str
    ended: bool
    unused_lately: bool
    id: UUID
    name: str
    role: str
    read_only: bool
    expires_at: datetime | None
    user_id: UUID
    email: str
    creator_role: str
    organization_id: UUID
    slug: str
    status: str
    settings: dict[str, Any]


def prove(prefix: str) -> Proof | None:
    """Look a key up; None when there is none."""
    with tenancy.across_organizations(reason="finds the key before its organization is known"):
        row = _AUTHENTICATE.first(prefix)
    return Proof(*row) if row is not None else None


def touch(organization_id: UUID, key_id: UUID) -> None:
    """Note that a key was used, unless somebody did within the minute."""
    with tenancy.organization(organization_id):
        _TOUCH.rows(str(organization_id), str(key_id))


def page(
    request: PageRequest, *, created_after: datetime | None, created_before: datetime | None
) -> Page:
    """A page of the organization's keys."""
    conditions: list[ColumnElement[bool]] = []
    conditions += within(ApiKey.created_at, created_after, created_before)
    maker = func.jsonb_build_object("id", User.id, "email", User.email, "name", User.name)
    statement = (
        select(
            ApiKey.id,
            ApiKey.name,
            ApiKey.role,
            ApiKey.read_only,
            ApiKey.prefix,
            ApiKey.expires_at,
            ApiKey.last_used_at,
            maker.label("created_by"),
            ApiKey.created_at,
            ApiKey.updated_at,
        )
        .join(User, User.id == ApiKey.created_by)
        .where(*conditions)
    )
    sorts = {"created_at": ApiKey.created_at, "name": ApiKey.name}
    return paginate(statement, request, sorts=sorts, unique=ApiKey.id)


def locked(key_id: UUID) -> ApiKey | None:
    """One key, which nobody else revokes until the commit."""
    statement = select(ApiKey).where(ApiKey.id == key_id).with_for_update()
    return db.session().execute(statement).scalar_one_or_none()
