"""Making organizations."""

from typing import Any
from uuid import UUID

from app.identity.organizations import queries, slugs
from app.identity.organizations.models import Membership, Organization
from app.identity.organizations.service import settings as rules
from app.kit import container, db, errors, tenancy

_TRIES = 8


def create(
    *,
    name: str,
    slug: str | None = None,
    owner_id: UUID,
    settings: dict[str, Any] | None = None,
    plan: str | None = None,
) -> Organization:
    """Make an organization and its owner's membership; flushed, not committed.

    Without a `slug` one is made from the name. `plan` is the operator's default where it is left
    out; `settings` as a client sends them. Raises 400 `validation_error` on a slug that none may
    have or a setting that cannot be, 409 `conflict` on a slug that is or was somebody's.
    """
    rules.check_address(settings or {})
    stored, provider_key = rules.merge({}, None, settings or {})
    values = {
        "name": name,
        "settings": stored,
        "ai_provider_key": provider_key,
        "plan": plan or container.settings().default_plan,
    }
    made = _named(name, values) if slug is None else _called(slug, values)
    with tenancy.organization(made.id):
        db.session().add(Membership(user_id=owner_id, role="owner"))
        db.session().flush()
    return made


def join(user_id: UUID, *, role: str) -> bool:
    """Make a user a member of the bound organization; False when they are one, as which they stay.

    Whoever waits for another to make the same membership is told False. An earlier removal is
    forgotten.
    """
    joined = queries.insert_membership(user_id, role)
    if joined:
        queries.delete_removal(user_id)
    return joined


def remember_removal(user_id: UUID) -> None:
    """Remember that a person ended this user's membership of the bound organization."""
    queries.insert_removal(user_id)


def was_removed(user_id: UUID) -> bool:
    """Return whether a person ended this user's membership and nobody has invited them since."""
    return queries.has_removal(user_id)


def _called(slug: str, values: dict[str, Any]) -> Organization:
    if not slugs.is_slug(slug):
        message = "Must be 3 to 63 of a-z and 0-9, with single hyphens between."
        raise errors.invalid(message, "slug")
    if slug in slugs.RESERVED:
        raise errors.invalid("This slug is reserved.", "slug")
    made = queries.insert_organization(slug, values)
    if made is None:
        raise errors.ApiError("conflict", "This slug is taken.", field="slug")
    return made


def _named(name: str, values: dict[str, Any]) -> Organization:
    first = slugs.of_name(name)
    made = queries.insert_organization(first, values) if first else None
    tries = 0
    while made is None:
        assert tries < _TRIES, "seven hundred million suffixes do not run out by chance"
        tries += 1
        made = queries.insert_organization(slugs.varied(name), values)
    return made
