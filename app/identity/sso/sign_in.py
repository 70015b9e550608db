"""Sign-in with a verified identity: finds the account, and checks whether the person may sign in.

Accounts are shared by all organizations, but each organization's administrators choose its
provider. Therefore, a provider is trusted only within its organization. See docs/decisions/0017.
"""

from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from app.identity.auth import credentials
from app.identity.organizations.models import Membership, Organization
from app.identity.sso import accounts, flows, members, queries
from app.identity.sso.models import Configuration, Flow, Identity
from app.identity.sso.providers import ExternalIdentity
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import audit, db, errors
from app.kit.permissions import Role


def sign_in(
    organization: Organization, configuration: Configuration, identity: ExternalIdentity, flow: Flow
) -> str | None:
    """Sign a person in: find, create or link the account, and update the membership.

    Returns the one-time code, or None if the person must first confirm the sign-in by email. If the
    account's address was not verified before, removes earlier ways to access the account. The
    organization must be the current organization, and its configuration must be locked. Raises 403
    `permission_denied` if the account is disabled or the organization's policy refuses the person,
    and 402 `plan_limit_reached` if the plan does not allow another member.
    """
    known_identity = accounts.lock_linked_identity(identity)
    if known_identity is None:
        match = accounts.find_or_create(identity)
    else:
        match = accounts.AccountMatch(accounts.lock(known_identity.user_id))
    user = match.user
    if user.disabled_at is not None:
        raise errors.denied("This account is disabled.")
    audit.set_actor("user", user.id, user.email)
    membership = queries.lock_membership(user.id)
    ownership_id = membership.ownership_id if membership is not None else None
    if match.needs_confirmation or _must_confirm(membership, configuration, known_identity):
        # If no email is sent now, the link in the previous email stays valid.
        if accounts.claim_confirmation_email(organization, user):
            pending = {**asdict(identity), "anchor": configuration.provider["anchor"]}
            code = flows.issue_code(flow, user.id, ownership_id=ownership_id, pending=pending)
            accounts.send_confirmation(organization, user, flow, code)
        return None
    if match.was_unverified:
        _remove_previous_access(user, known_identity)
    _link_and_sync(organization, configuration, user, identity, known_identity)
    return flows.issue_code(flow, user.id, ownership_id=ownership_id)


def _must_confirm(
    membership: Membership | None, configuration: Configuration, known_identity: Identity | None
) -> bool:
    """Return whether the person must confirm by email because they are an owner.

    An administrator chooses the provider, and must not be able to sign in as an owner. Therefore,
    owners must confirm each identity once after they become an owner, and again when the provider's
    anchor (a digest of a SAML provider's certificates) changes.
    """
    if membership is None or membership.role != Role.owner.name:
        return False
    if known_identity is None or known_identity.anchor != configuration.provider["anchor"]:
        return True
    confirmed_id = known_identity.confirmed_ownership_id
    return confirmed_id is None or confirmed_id != membership.ownership_id


def confirm(
    organization: Organization,
    configuration: Configuration,
    user: User,
    membership: Membership | None,
    pending: dict[str, Any],
) -> None:
    """Confirm a sign-in: link the identity after the person has used the emailed code.

    Also updates the membership. If the account's address was not verified before, removes earlier
    ways to access the account. `membership` must be locked. `pending` comes from the emailed code
    (see `models.Code`). Raises 403 `permission_denied` if the provider has changed since the email
    was sent, because the person confirmed the previous provider, or if the identity is now linked
    to another account. Also raises the errors of `members.sync_membership`.
    """
    groups = pending["groups"]
    identity_fields = {**pending, "groups": None if groups is None else tuple(groups)}
    provider = (identity_fields["issuer"], identity_fields.pop("anchor", None))
    if provider != (configuration.provider["issuer"], configuration.provider["anchor"]):
        raise errors.denied("The single sign-on configuration has changed. Sign in again.")
    identity = ExternalIdentity(**identity_fields)
    known_identity = queries.lock_identity(identity.issuer, identity.subject)
    if known_identity is not None and known_identity.user_id != user.id:
        raise errors.denied("This identity is now linked to another account.")
    if known_identity is not None:
        known_identity.anchor = configuration.provider["anchor"]
    if user.email_verified_at is None:
        # The code was emailed to the account's address, so the person can read email sent to it.
        _remove_previous_access(user, known_identity)
    linked_identity = _link_and_sync(organization, configuration, user, identity, known_identity)
    if membership is not None and membership.role == Role.owner.name:
        if membership.ownership_id is None:
            # The person became an owner before ownership ids existed.
            membership.ownership_id = uuid4()
        linked_identity.confirmed_ownership_id = membership.ownership_id
        db.session().flush()


def _remove_previous_access(user: User, known_identity: Identity | None) -> None:
    """Mark the address as verified; remove the password, sessions, links and other identities.

    This is necessary because somebody else may have registered the address earlier, in order to
    keep access to the account.
    """
    credentials.remove_credentials(user)
    user_queries.update_account(user, email_verified_at=db.utc_now())
    accounts.unlink_identities(
        user.id, kept_id=known_identity.id if known_identity is not None else None
    )


def get_session_scope(configuration: Configuration, user: User) -> UUID | None:
    """Return the id of the organization to limit a session to, or None for an unlimited session.

    An administrator of one organization chose the provider, so the provider is trusted only for
    that organization. The exception is a person in a verified domain for which passwords are
    disabled, because single sign-on is then the only way to sign in to the account.
    """
    if configuration.enforced and queries.is_domain_verified(accounts.get_domain(user.email)):
        return None
    return configuration.organization_id


def _link_and_sync(
    organization: Organization,
    configuration: Configuration,
    user: User,
    identity: ExternalIdentity,
    known_identity: Identity | None,
) -> Identity:
    linked_identity = known_identity or _create_identity(configuration, user, identity)
    members.sync_membership(organization, configuration, user, identity.groups, linked_identity)
    return linked_identity


def _create_identity(
    configuration: Configuration, user: User, identity: ExternalIdentity
) -> Identity:
    linked_identity = Identity(
        user_id=user.id,
        issuer=identity.issuer,
        subject=identity.subject,
        email=identity.email or user.email,
        anchor=configuration.provider["anchor"],
    )
    db.session().add(linked_identity)
    db.session().flush()
    return linked_identity
