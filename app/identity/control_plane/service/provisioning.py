"""Service that provisions an organization for an owner."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError

from app.identity.auth import links
from app.identity.control_plane.service.changing import emails, render
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.identity.users import addresses
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors, events, tenancy
from app.kit.errors import ApiError

LINK_LIFETIME = timedelta(days=7)
"""Lifetime of the first link, which is an invitation and is valid for as long as one."""


def provision(
    *, organization: dict[str, Any], owner: dict[str, str], plan: str | None = None
) -> dict[str, Any]:
    """Create an `organization` ({name, slug?}) for `owner` ({email, name}), and email the owner.

    If the address has no account, one is created, and the email has a link to choose a password. An
    existing account is not changed. Emits `organization.provisioned`. Raises 400
    `validation_error`, and 409 `conflict` if the slug is taken, if the address only looks like that
    of an existing account, or if the account is disabled.
    """
    with _prefix_error_field("owner"):
        user, created = _find_or_create_owner(owner["email"], owner["name"])
    with _prefix_error_field("organization"):
        record = organizations.create(**organization, owner_id=user.id, plan=plan)
    with tenancy.organization(record.id):
        events.emit("organization.provisioned", {"owner_id": user.id, "plan": record.plan})
    _email_owner(record, user, created=created)
    person = {"id": user.id, "email": user.email, "name": user.name, "created": created}
    return {**render(record), "owner": person}


def _find_or_create_owner(email: str, name: str) -> tuple[User, bool]:
    address = addresses.parse(email)
    account = users.find_by_email(address)
    if account is None:
        try:
            with db.session().begin_nested():
                return users.create(email=address, name=name), True
        except (IntegrityError, ApiError):
            account = users.find_by_email(address)
            if account is None:
                raise
            # A concurrent request has created the account.
    if account is None or account.email != address:
        raise users.address_taken()
    if account.disabled_at is not None:
        raise ApiError("conflict", "The account of this address is disabled.", field="email")
    return account, False


def _email_owner(organization: Organization, owner: User, *, created: bool) -> None:
    values: dict[str, str | int | None] = {"name": owner.name, "organization": organization.name}
    if created:
        values |= links.issue(owner, links.RESET, owner.email, LINK_LIFETIME)
        values |= {"email": owner.email, "days": LINK_LIFETIME.days}
    emails.enqueue(
        "welcome" if created else "provisioned",
        to=owner.email,
        locale=owner.locale,
        values=values,
        organization_id=organization.id,
    )


@contextmanager
def _prefix_error_field(member: str) -> Iterator[None]:
    """Prefix the field of an error with `member`, the part of the body that it belongs to."""
    try:
        yield
    except errors.ApiError as error:
        if error.field is not None:
            error.field = f"{member}.{error.field}"
        raise
