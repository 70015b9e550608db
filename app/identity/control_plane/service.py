"""Service that provisions, lists and changes organizations for the operator."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError

from app.identity.auth import credentials, links
from app.identity.control_plane import queries
from app.identity.control_plane.queries import OrganizationSummary
from app.identity.control_plane.records import (
    ManagedOrganization,
    ManagedOrganizationDetails,
    ProvisionedOrganization,
    ProvisionedOwner,
)
from app.identity.organizations import emitted_events
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors, events, tenancy
from app.kit.emails import Emails
from app.kit.errors import ApiError
from app.kit.events import EventName, Payload

emails = Emails(Path(__file__).parent / "emails")

LIMITS = {
    "members": "The maximum number of members.",
    "documents_per_month": "The maximum number of documents created per month.",
    "stored_bytes": "The maximum total size in bytes of the original files.",
    "active_schemas": "The maximum number of active schemas.",
    "connectors": "The maximum number of connectors.",
    "webhooks": "The maximum number of webhooks.",
    "ai_pages_per_month": "The maximum number of pages in completed predictions per month.",
}
"""Maps each limit of a plan to its description."""
LINK_LIFETIME = timedelta(days=7)
"""The lifetime of the link with which the user of a new or unverified account sets a password.

Invitations have the same lifetime.
"""


def set_plan(
    slug: str, *, plan: str, limits: dict[str, int | None], revision: int | None = None
) -> ManagedOrganization:
    """Replace an organization's plan and the limits that differ from the plan.

    A limit of None means no limit. If anything changes, cancels the scheduled plan change and emits
    `organization.plan_changed`. Raises 404 for an unknown slug, 409 `conflict` if the
    organization was closed, and 409 `stale_precondition` if `revision` is outdated.
    """
    organization = _lock_open_organization(slug, revision)
    with tenancy.organization(organization.id):
        organizations.change_plan(organization, plan=plan, limits=limits)
    return render(organization)


def suspend(slug: str, *, reason: str, revision: int | None = None) -> ManagedOrganization:
    """Suspend an organization, so that writes are refused, and email the reason to the owners.

    If the organization is already suspended, the reason is replaced and emailed; if the reason is
    the same, nothing happens. Emits `organization.suspended`. Raises 404 for an unknown slug, 409
    `conflict` if the organization was closed, and 409 `stale_precondition`.
    """
    organization = _lock_open_organization(slug, revision)
    was_suspended = organization.status == "suspended"
    if was_suspended and organization.suspension_reason == reason:
        return render(organization)
    organization.status, organization.suspension_reason = "suspended", reason
    if not was_suspended:
        organization.suspended_at = db.utc_now()
    _emit(organization, emitted_events.SUSPENDED, emitted_events.SuspendedPayload(reason=reason))
    _email_owners(organization, "suspended", reason=reason)
    return render(organization)


def close(slug: str) -> ManagedOrganizationDetails:
    """Close an organization, and return it; its data is erased after the grace period.

    Emits `organization.closed`. Raises 404 for an unknown slug, and 409 if the organization is
    already closed.
    """
    organization = _lock_open_organization(slug)
    with tenancy.organization(organization.id):
        organizations.close_locked_organization(organization)
    return get_organization(slug)


def reopen(slug: str) -> ManagedOrganizationDetails:
    """Reopen an organization within its grace period, and return it.

    Its members, API keys and records are unchanged. Emits `organization.reopened`. Raises 404 for
    an unknown slug, and 409 if the organization is not closed or if its erasure has begun.
    """
    organization = errors.require_found(queries.find_by_slug(slug, lock=True))
    with tenancy.organization(organization.id):
        organizations.reopen_locked_organization(organization)
    return get_organization(slug)


def reinstate(slug: str, *, revision: int | None = None) -> ManagedOrganization:
    """End the suspension of an organization and email its owners.

    Emits `organization.reinstated`. Does nothing if the organization is not suspended. Raises 404
    for an unknown slug, 409 `conflict` if the organization was closed, and 409
    `stale_precondition`.
    """
    organization = _lock_open_organization(slug, revision)
    if organization.status == "suspended":
        organization.status = "active"
        organization.suspended_at = organization.suspension_reason = None
        _emit(organization, emitted_events.REINSTATED, emitted_events.ReinstatedPayload())
        _email_owners(organization, "reinstated")
    return render(organization)


def render(organization: Organization) -> ManagedOrganization:
    """Flush changes, and render an organization in the format of the operator's API."""
    db.session().flush()
    return {
        "id": organization.id,
        "slug": organization.slug,
        "name": organization.name,
        "status": organization.status,
        "plan": organization.plan,
        "limits": organization.plan_limits,
        "suspended_at": organization.suspended_at,
        "suspension_reason": organization.suspension_reason,
        "created_at": organization.created_at,
        "updated_at": organization.updated_at,
        "revision": organization.revision,
    }


def _lock_open_organization(slug: str, revision: int | None = None) -> Organization:
    organization = errors.require_found(queries.find_by_slug(slug, lock=True))
    if organization.status not in ("active", "suspended"):
        raise errors.conflict("The organization was closed.", state=organization.status)
    errors.check_revision(revision, organization.revision)
    return organization


def _emit(organization: Organization, event: EventName[Payload], payload: Payload) -> None:
    with tenancy.organization(organization.id):
        events.emit(event, payload)


def _email_owners(organization: Organization, template: str, **values: str) -> None:
    with tenancy.organization(organization.id):
        owners = queries.list_enabled_owners(organization.id)
    for owner in owners:
        emails.enqueue(
            template,
            to=owner.email,
            locale=owner.locale,
            values={"name": owner.name, "organization": organization.name, **values},
            organization_id=organization.id,
        )


def list_organizations(
    *, status: str | None = None, plan: str | None = None
) -> Generator[OrganizationSummary, None, None]:
    """Yield organizations with the number of their members, sorted by slug.

    `status` and `plan` are optional filters.
    """
    with tenancy.across_organizations(reason="the operator sees every organization"):
        yield from queries.list_organizations(status=status, plan=plan)


def get_organization(slug: str) -> ManagedOrganizationDetails:
    """Return an organization with its owners, member count, closing time and erasure times.

    `owners` contains the email addresses of the owners whose accounts are not disabled. Raises 404
    for an unknown slug.
    """
    organization = errors.require_found(queries.find_by_slug(slug))
    with tenancy.organization(organization.id):
        owners = [user.email for user in queries.list_enabled_owners(organization.id)]
        member_count = queries.count_members(organization.id)
    return {
        **render(organization),
        "owners": owners,
        "members": member_count,
        "closed_at": organization.closed_at,
        "erase_after": organization.erase_after,
        "erased_at": organization.erased_at,
    }


def provision(
    *, organization: dict[str, Any], owner: dict[str, str], plan: str | None = None
) -> ProvisionedOrganization:
    """Provision an organization with an owner, and email the owner instructions to sign in.

    `organization` contains `name` and optionally `slug`; `owner` contains `email` and `name`. If
    the email address has no account, an account is created, and the email has a link to choose a
    password. If the address of an existing account is not verified, somebody else may have
    registered the address: the account's password, sessions and links are removed, and the email
    has the same link. An account with a verified address is not changed. Emits
    `organization.provisioned`.

    Raises 400 `validation_error` if a field is invalid, and 409 `conflict` if the slug is taken, if
    the owner's account is disabled, or if a look-alike of the owner's address has an account.
    """
    with _prefix_error_field("owner"):
        user, created = _find_or_create_owner(owner["email"], owner["name"])
    with _prefix_error_field("organization"):
        record = organizations.create(**organization, owner_id=user.id, plan=plan)
    with tenancy.organization(record.id):
        events.emit(
            emitted_events.PROVISIONED,
            emitted_events.ProvisionedPayload(owner_id=user.id, plan=record.plan),
        )
    _email_instructions(record, user)
    rendered_owner = ProvisionedOwner(id=user.id, email=user.email, name=user.name, created=created)
    return {**render(record), "owner": rendered_owner}


def _find_or_create_owner(email: str, name: str) -> tuple[User, bool]:
    address = addresses.parse(email)
    account = user_queries.find_by_email(address)
    if account is None:
        try:
            with db.session().begin_nested():
                return users.create(email=address, name=name), True
        except (IntegrityError, ApiError):
            account = user_queries.find_by_email(address)
            if account is None:
                raise
            # A concurrent request has created the account.
    if account is not None:
        account = user_queries.lock(account.id)
    if account is None or account.email != address:
        raise users.build_address_taken_error()
    if account.disabled_at is not None:
        raise ApiError("conflict", "The account with this address is disabled.", field="email")
    if account.email_verified_at is None:
        # Whoever registered the account may be unable to read email sent to the address, and must
        # not become the owner.
        credentials.remove_credentials(account)
    return account, False


def _email_instructions(organization: Organization, owner: User) -> None:
    values: dict[str, str | int | None] = {"name": owner.name, "organization": organization.name}
    needs_password = owner.email_verified_at is None
    if needs_password:
        values |= links.issue(owner, links.PASSWORD_RESET, owner.email, LINK_LIFETIME)
        values |= {"email": owner.email, "days": LINK_LIFETIME.days}
    emails.enqueue(
        "welcome" if needs_password else "provisioned",
        to=owner.email,
        locale=owner.locale,
        values=values,
        organization_id=organization.id,
    )


@contextmanager
def _prefix_error_field(parent: str) -> Iterator[None]:
    """Add the prefix `parent` to the field name of an API error that the block raises."""
    try:
        yield
    except errors.ApiError as error:
        if error.field is not None:
            error.field = f"{parent}.{error.field}"
        raise
