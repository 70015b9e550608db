"""Service that creates organizations and memberships."""

from typing import Any
from uuid import UUID

from app.identity.organizations import queries, slugs
from app.identity.organizations.models import Membership, Organization
from app.identity.organizations.service import settings as rules
from app.kit import container, db, errors, tenancy

_MAX_ATTEMPTS = 8


def create(
    *,
    name: str,
    slug: str | None = None,
    owner_id: UUID,
    settings: dict[str, Any] | None = None,
    plan: str | None = None,
) -> Organization:
    """Create an organization and its owner's membership; flushed, not committed.

    Without `slug`, one is generated from the name; without `plan`, it is the operator's default.
    `settings` are in the form that clients send. Raises 400 `validation_error` on an invalid slug
    or setting, and 409 `conflict` if the slug is, or ever was, in use.
    """
    rules.check_address(settings or {})
    stored, provider_key = rules.merge({}, None, settings or {})
    values = {
        "name": name,
        "settings": stored,
        "ai_provider_key": provider_key,
        "plan": plan or container.settings().default_plan,
    }
    if slug is None:
        organization = _insert_with_generated_slug(name, values)
    else:
        organization = _insert_with_slug(slug, values)
    with tenancy.organization(organization.id):
        db.session().add(Membership(user_id=owner_id, role="owner"))
        db.session().flush()
    return organization


def join(user_id: UUID, *, role: str) -> bool:
    """Make a user a member of the bound organization, and delete the record of an earlier removal.

    Returns false if the user is already a member, also if a concurrent transaction has created the
    membership; the role is then not changed.
    """
    joined = queries.insert_membership(user_id, role)
    if joined:
        queries.delete_removal(user_id)
    return joined


def record_removal(user_id: UUID) -> None:
    """Record that a person ended this user's membership of the bound organization."""
    queries.insert_removal(user_id)


def was_removed(user_id: UUID) -> bool:
    """Return true if a person ended this user's membership and the user has not joined again."""
    return queries.has_removal(user_id)


def _insert_with_slug(slug: str, values: dict[str, Any]) -> Organization:
    if not slugs.is_slug(slug):
        message = "Must be 3 to 63 characters of a-z and 0-9, with single hyphens between them."
        raise errors.invalid(message, "slug")
    if slug in slugs.RESERVED:
        raise errors.invalid("This slug is reserved.", "slug")
    organization = queries.insert_organization(slug, values)
    if organization is None:
        raise errors.ApiError("conflict", "This slug is taken.", field="slug")
    return organization


def _insert_with_generated_slug(name: str, values: dict[str, Any]) -> Organization:
    slug = slugs.from_name(name)
    organization = queries.insert_organization(slug, values) if slug else None
    attempts = 0
    while organization is None:
        assert attempts < _MAX_ATTEMPTS, "every random suffix was taken, out of 700 million"
        attempts += 1
        organization = queries.insert_organization(slugs.from_name_with_suffix(name), values)
    return organization
