"""Making an organization for somebody."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError

from app.identity.auth import links
from app.identity.control_plane.service.deciding import letters, shown
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.identity.users import addresses
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors, events, tenancy
from app.kit.errors import ApiError

LINK_LIFETIME = timedelta(days=7)
"""Of the first link: it is an invitation, and lives as long as one."""


def provision(
    *, organization: dict[str, Any], owner: dict[str, str], plan: str | None = None
) -> dict[str, Any]:
    """Make an organization ({name, slug?}) of `owner` ({email, name}), and mail the owner.

    Without an account of the address one is made; its letter has a link to choose a password. An
    account that is there stays as it is. Emits `organization.provisioned`. Raises 400
    `validation_error`, and 409 `conflict` on a slug that is taken, and on an address that is only
    alike an account's or whose account is disabled.
    """
    with _inside("owner"):
        user, created = _owner(owner["email"], owner["name"])
    with _inside("organization"):
        made = organizations.create(**organization, owner_id=user.id, plan=plan)
    with tenancy.organization(made.id):
        events.emit("organization.provisioned", {"owner_id": user.id, "plan": made.plan})
    _write(made, user, created=created)
    person = {"id": user.id, "email": user.email, "name": user.name, "created": created}
    return {**shown(made), "owner": person}


def _owner(email: str, name: str) -> tuple[User, bool]:
    address = addresses.parse(email)
    found = users.by_email(address)
    if found is None:
        try:
            with db.session().begin_nested():
                return users.create(email=address, name=name), True
        except (IntegrityError, ApiError):
            found = users.by_email(address)
            if found is None:
                raise
            # Somebody else made it in this very moment.
    if found is None or found.email != address:
        raise users.taken()
    if found.disabled_at is not None:
        raise ApiError("conflict", "The account of this address is disabled.", field="email")
    return found, False


def _write(organization: Organization, owner: User, *, created: bool) -> None:
    values: dict[str, str | int | None] = {"name": owner.name, "organization": organization.name}
    if created:
        values |= links.issue(owner, links.RESET, owner.email, LINK_LIFETIME)
        values |= {"email": owner.email, "days": LINK_LIFETIME.days}
    letters.enqueue(
        "welcome" if created else "provisioned",
        to=owner.email,
        locale=owner.locale,
        values=values,
        organization_id=organization.id,
    )


@contextmanager
def _inside(member: str) -> Iterator[None]:
    """Name the culprit of an error by its path from here."""
    try:
        yield
    except errors.ApiError as error:
        if error.field is not None:
            error.field = f"{member}.{error.field}"
        raise
