"""SQL queries for API keys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, exists, func, or_, select

from app.identity.api_keys.models import ApiKey
from app.identity.organizations.models import Membership
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.prepared import Prepared
from app.kit.principal import Organization

# Authentication takes one round trip: the key, its organization and its creator are read together.
_AUTHENTICATE = Prepared(
    "authenticate_key",
    "text",
    """
    SELECT k.key_hash, k.expires_at IS NOT NULL AND k.expires_at <= now()
               OR o.status NOT IN ('active', 'suspended'),
           k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute',
           k.id, k.name, k.role, k.read_only, k.expires_at, u.id, u.email,
           o.id, o.slug, o.status, o.settings, o.plan, o.plan_limits
    FROM api_keys k
    JOIN organizations o ON o.id = k.organization_id
    JOIN users u ON u.id = k.created_by
    WHERE k.prefix = $1
    """,
)
# If many concurrent requests with one key find the timestamp outdated, only one request writes it.
_UPDATE_LAST_USED_AT = Prepared(
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
class KeyState:
    """The state of an API key, with its creator and its organization.

    `is_unusable` is true if the key has expired or its organization is closed or erased.
    `last_used_is_outdated` is true if `last_used_at` is null or more than a minute old. `user_id`
    and `email` belong to the creator.
    """

    key_hash: str
    is_unusable: bool
    last_used_is_outdated: bool
    id: UUID
    name: str
    role: str
    read_only: bool
    expires_at: datetime | None
    user_id: UUID
    email: str
    organization: Organization


def find_by_prefix(prefix: str) -> KeyState | None:
    """Return the state of the API key with this prefix, or None if there is no such key."""
    with tenancy.across_organizations(reason="finds the key before its organization is known"):
        row = _AUTHENTICATE.first(prefix)
    if row is None:
        return None
    values: list[Any] = [*row[:10], Organization(*row[10:])]
    return KeyState(*values)


def update_last_used_at(organization_id: UUID, key_id: UUID) -> None:
    """Update an API key's `last_used_at` to the current time, at most once a minute."""
    with tenancy.organization(organization_id):
        _UPDATE_LAST_USED_AT.execute(str(organization_id), str(key_id))


def get_page(
    page: PageRequest,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the current organization's API keys, including expired keys."""
    is_member = exists().where(
        Membership.organization_id == ApiKey.organization_id,
        Membership.user_id == ApiKey.created_by,
    )
    creator = func.jsonb_build_object(
        "id", User.id, "email", User.email, "name", User.name, "is_member", is_member
    )
    statement = (
        select(
            ApiKey.id,
            ApiKey.name,
            ApiKey.role,
            ApiKey.read_only,
            ApiKey.prefix,
            ApiKey.expires_at,
            ApiKey.last_used_at,
            creator.label("created_by"),
            ApiKey.created_at,
            ApiKey.updated_at,
        )
        .join(User, User.id == ApiKey.created_by)
        .where(*build_period_conditions(ApiKey.created_at, created_after, created_before))
    )
    sort_columns = {"created_at": ApiKey.created_at, "name": ApiKey.name}
    return paginate(statement, page, sort_columns=sort_columns, unique=ApiKey.id)


def lock(key_id: UUID) -> ApiKey | None:
    """Lock an API key until the transaction ends, and return it, or None if it does not exist."""
    statement = select(ApiKey).where(ApiKey.id == key_id).with_for_update()
    return db.session().execute(statement).scalar_one_or_none()


_NOT_EXPIRED = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > func.now())


def list_unexpired_by_creator(user_id: UUID) -> list[ApiKey]:
    """Return the unexpired keys that a user created in the current organization, sorted by name."""
    statement = select(ApiKey).where(ApiKey.created_by == user_id, _NOT_EXPIRED)
    return list(db.session().scalars(statement.order_by(ApiKey.name, ApiKey.id)))


def count_unexpired_by_creator(user_id: UUID) -> int:
    """Count the unexpired API keys that a user created in the current organization.

    Within `tenancy.across_organizations`, counts the keys in all organizations.
    """
    statement = select(func.count()).where(ApiKey.created_by == user_id, _NOT_EXPIRED)
    return db.session().execute(statement).scalar_one()


def delete_by_creator(user_id: UUID) -> None:
    """Delete all API keys that a user created in the current organization, even expired keys.

    Within `tenancy.across_organizations`, deletes the keys in all organizations.
    """
    db.execute_bulk(delete(ApiKey).where(ApiKey.created_by == user_id))
