"""SQL queries for single sign-on."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.auth.models import Session
from app.identity.organizations.models import CLOSED_STATUSES, Membership, Organization
from app.identity.sso.models import (
    Assertion,
    Code,
    Configuration,
    Domain,
    Flow,
    Identity,
    ProviderState,
)
from app.identity.users.models import User
from app.kit import db, purging
from app.kit.db import Checkpoint

_SELECT_AVAILABLE = (
    select(Organization, Configuration)
    .join(Configuration, Configuration.organization_id == Organization.id)
    .where(Configuration.enabled, Organization.status.in_(("active", "suspended")))
)


def get_configuration(*, lock: bool = False) -> Configuration | None:
    """Return the current organization's configuration, or None if there is no configuration.

    Always reads the values from the database, even if the configuration is already loaded. If
    `lock` is true, locks the row until the transaction ends.
    """
    statement = select(Configuration).execution_options(populate_existing=True)
    if lock:
        statement = statement.with_for_update()
    return db.session().scalars(statement).one_or_none()


def get_provider_state(configuration_id: UUID) -> ProviderState | None:
    """Return the stored keys of a configuration's provider, or None if no keys are stored."""
    statement = select(ProviderState).where(ProviderState.configuration_id == configuration_id)
    return db.session().scalars(statement.execution_options(populate_existing=True)).one_or_none()


def list_domains() -> list[Domain]:
    """Return the current organization's domains, sorted by name."""
    return list(db.session().scalars(select(Domain).order_by(Domain.domain)))


def is_domain_verified(domain: str) -> bool:
    """Return whether the current organization has verified `domain`."""
    statement = select(Domain.id).where(Domain.domain == domain, Domain.verified_at.is_not(None))
    return db.session().scalar(statement) is not None


def get_available_configuration(
    organization_id: UUID, *, lock: bool = False
) -> tuple[Organization, Configuration] | None:
    """Return an organization and its configuration, or None if single sign-on is not available.

    Single sign-on is available if it is enabled and the organization is active or suspended. If
    `lock` is true, locks the configuration until the transaction ends.
    """
    statement = _SELECT_AVAILABLE.where(Organization.id == organization_id).execution_options(
        populate_existing=True
    )
    if lock:
        statement = statement.with_for_update(of=Configuration)
    return db.session().execute(statement).first()


def is_verified_by_another_organization(domain: str, organization_id: UUID) -> bool:
    """Return whether another organization has verified `domain`.

    Call this function within `tenancy.across_organizations`.
    """
    statement = select(Domain.id).where(
        Domain.domain == domain,
        Domain.verified_at.is_not(None),
        Domain.organization_id != organization_id,
    )
    return db.session().scalar(statement) is not None


def release_domain_of_closed_organization(domain: str) -> None:
    """End the verification of `domain` by a closed organization, if any.

    Call this function within `tenancy.across_organizations`.
    """
    closed_ids = select(Organization.id).where(Organization.status.in_(CLOSED_STATUSES))
    statement = update(Domain).where(
        Domain.domain == domain,
        Domain.verified_at.is_not(None),
        Domain.organization_id.in_(closed_ids),
    )
    db.execute_bulk(statement.values(verified_at=None, missing_since=None, vouched=False))


def find_by_domain(domain: str) -> tuple[Organization, Configuration] | None:
    """Return the organization that has verified `domain`, and its configuration.

    Returns None if there is no such organization or its single sign-on is not available. Call this
    function within `tenancy.across_organizations`.
    """
    statement = _SELECT_AVAILABLE.join(Domain, Domain.organization_id == Organization.id).where(
        Domain.domain == domain, Domain.verified_at.is_not(None)
    )
    return db.session().execute(statement).first()


def find_by_slug(slug: str) -> tuple[Organization, Configuration] | None:
    """Return the organization with this slug, and its configuration.

    Returns None if there is no such organization or its single sign-on is not available. Call this
    function within `tenancy.across_organizations`.
    """
    return db.session().execute(_SELECT_AVAILABLE.where(Organization.slug == slug)).first()


class Confirmation(NamedTuple):
    """A sign-in that awaits confirmation by email.

    `email` is the address of the account, and `organization` is the name of the organization.
    `browser_hash` is a keyed hash that binds the sign-in to a browser's cookie. `challenge` is the
    S256 challenge that binds it to the application with the code verifier, or None.
    """

    browser_hash: str
    challenge: str | None
    email: str
    organization: str


def find_confirmation(code_hash: str) -> Confirmation | None:
    """Return the sign-in that awaits confirmation with this emailed code.

    Returns None if the code is unknown, used or expired, or was not emailed. Call this function
    within `tenancy.across_organizations`.
    """
    statement = (
        select(Code.browser_hash, Code.challenge, User.email, Organization.name)
        .join(User, User.id == Code.user_id)
        .join(Organization, Organization.id == Code.organization_id)
        .where(
            Code.code_hash == code_hash,
            # For a code that was not emailed, the column contains the JSON value null.
            func.jsonb_typeof(Code.pending) == "object",
            Code.used_at.is_(None),
            Code.expires_at > func.now(),
        )
    )
    return db.find_row(Confirmation, statement)


def find_linked_user_id(issuer: str, subject: str) -> UUID | None:
    """Return the id of the user linked to an identity in the current organization, or None."""
    statement = select(Identity.user_id)
    return db.session().scalar(
        statement.where(Identity.issuer == issuer, Identity.subject == subject)
    )


def lock_identity(issuer: str, subject: str) -> Identity | None:
    """Lock and return the identity with this issuer and subject in the current organization.

    Returns None if the identity is not linked.
    """
    statement = select(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
    return db.session().scalars(statement.with_for_update()).one_or_none()


def delete_identities(user_id: UUID, *, kept_id: UUID | None) -> None:
    """Delete a user's linked identities, except the identity `kept_id` if it is not None.

    Call this function within `tenancy.across_organizations`.
    """
    conditions = [Identity.id != kept_id] if kept_id is not None else []
    db.session().execute(delete(Identity).where(Identity.user_id == user_id, *conditions))


def lock_membership(user_id: UUID) -> Membership | None:
    """Lock and return a user's membership in the current organization, or None for a non-member."""
    statement = select(Membership).where(Membership.user_id == user_id).with_for_update()
    statement = statement.execution_options(populate_existing=True)
    return db.session().scalars(statement).one_or_none()


def find_enforcing_organization(domain: str) -> Organization | None:
    """Return the organization that has verified `domain` and enforces single sign-on, or None.

    Call this function within `tenancy.across_organizations`.
    """
    pair = find_by_domain(domain)
    return pair[0] if pair is not None and pair[1].enforced else None


def end_password_sessions(organization_id: UUID, email_domains: Iterable[str]) -> None:
    """End all sessions of users in the email domains who have an active password session.

    Increments the token version of these users. Owners of the organization are excluded. Waits for
    concurrent logins, which lock their user. Call this function within
    `tenancy.across_organizations`.
    """
    owner_ids = select(Membership.user_id).where(
        Membership.organization_id == organization_id, Membership.role == "owner"
    )
    conditions = (
        func.split_part(User.email, "@", 2).in_(list(email_domains)),
        User.id.not_in(owner_ids),
    )
    users = select(User.id).where(*conditions).order_by(User.id)
    db.session().execute(users.with_for_update(key_share=True)).all()
    password_user_ids = select(Session.user_id).where(
        Session.method == "password",
        Session.revoked_at.is_(None),
        Session.expires_at > func.now(),
    )
    statement = (
        update(User)
        .where(*conditions, User.id.in_(password_user_ids))
        .values(token_version=User.token_version + 1)
    )
    db.execute_bulk(statement)


def record_assertion(assertion_hash: str, expires_at: datetime) -> bool:
    """Record that the current organization accepted a SAML assertion.

    Returns False if the assertion was already recorded. If another transaction is recording the
    same assertion, waits until that transaction ends.
    """
    statement = (
        insert(Assertion)
        .values(assertion_hash=assertion_hash, expires_at=expires_at)
        .on_conflict_do_nothing()
        .returning(Assertion.assertion_hash)
    )
    return db.session().execute(statement).first() is not None


def list_configured_organization_ids() -> list[UUID]:
    """Return the ids of the open organizations that have a single sign-on configuration.

    Call this function within `tenancy.across_organizations`.
    """
    statement = (
        select(Configuration.organization_id)
        .join(Organization, Organization.id == Configuration.organization_id)
        .where(Organization.status.not_in(CLOSED_STATUSES))
    )
    return list(db.session().scalars(statement))


def delete_expired(checkpoint: Checkpoint) -> None:
    """Delete expired flows, codes and assertions of all organizations in batches.

    `checkpoint` commits each batch.
    """
    for table in (Flow, Code, Assertion):
        purging.purge(table.__tablename__, "expires_at < now()", checkpoint)
