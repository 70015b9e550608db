"""Who a proven identity is here, and whether they may come in.

Accounts are one for all organizations, and an administrator chooses the provider, so a provider's
word counts within its organization only. See docs/decisions/0017.
"""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid4

from app.identity.auth import recovery
from app.identity.organizations.models import Membership, Organization
from app.identity.sso import accounts, codes, members, queries
from app.identity.sso.external import ExternalIdentity
from app.identity.sso.models import Configuration, Flow, Identity
from app.identity.users.models import User
from app.kit import audit, db, errors
from app.kit.errors import ApiError
from app.kit.permissions import Role


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is for the application. None: the person has mail, and confirms first."""

    code: str | None


def sign_in(
    organization: Organization, configuration: Configuration, identity: ExternalIdentity, flow: Flow
) -> Outcome:
    """Let a person in: link, make or find the account, and bring the membership up to date.

    The organization is bound and its configuration locked. Raises 403 `permission_denied` where the
    policy says no.
    """
    known = queries.identity(identity.issuer, identity.subject)
    if known is None:
        found = accounts.find(identity)
        user, sure, unproven = found.user, found.sure, found.unproven
    else:
        user, sure, unproven = accounts.get(known.user_id), True, False
    if user.disabled_at is not None:
        raise errors.denied("This account is disabled.")
    audit.act_as("user", user.id, user.email)
    membership = queries.membership(user.id)
    ownership_id = membership.ownership_id if membership is not None else None
    if not sure or _must_confirm(membership, configuration, known):
        pending = {**asdict(identity), "anchor": configuration.provider["anchor"]}
        code = codes.issue(flow, user.id, ownership_id=ownership_id, pending=pending)
        accounts.mail_confirmation(organization, user, flow, code)
        return Outcome(None)
    if unproven:
        _disown(user, known)
    _admit(organization, configuration, user, identity, known)
    return Outcome(codes.issue(flow, user.id, ownership_id=ownership_id))


def _must_confirm(
    membership: Membership | None, configuration: Configuration, known: Identity | None
) -> bool:
    """Return whether the person must confirm by email, because they are an owner.

    An administrator chooses the provider and must not become an owner by it. So an owner confirms
    each identity, once per term as an owner, and again when the provider's anchor changes.
    """
    if membership is None or membership.role != Role.owner.name:
        return False
    if known is None or known.anchor != configuration.provider["anchor"]:
        return True
    confirmed = known.confirmed_ownership_id
    return confirmed is None or confirmed != membership.ownership_id


def confirm(
    organization: Organization,
    configuration: Configuration,
    user: User,
    membership: Membership | None,
    pending: dict[str, Any],
) -> None:
    """What `sign_in` left open until the person said by mail that it is them.

    `membership` is locked. Raises 403 `permission_denied` where the provider is another one by now:
    the person confirmed the one that they were mailed about.
    """
    facts = {**pending, "groups": tuple(pending["groups"])}
    provider = (facts["issuer"], facts.pop("anchor", None))
    if provider != (configuration.provider["issuer"], configuration.provider["anchor"]):
        raise errors.denied("Single sign-on has been changed in the meantime. Begin again.")
    identity = ExternalIdentity(**facts)
    known = queries.identity(identity.issuer, identity.subject)
    if known is not None and known.user_id != user.id:
        raise errors.denied("This identity belongs to another account in the meantime.")
    if known is not None:
        known.anchor = configuration.provider["anchor"]
    if user.email_verified_at is None:
        # The code was mailed to the account's address: whoever has it reads that mail.
        _disown(user, known)
    linked = _admit(organization, configuration, user, identity, known)
    if membership is not None and membership.role == Role.owner.name:
        if membership.ownership_id is None:
            # An owner from before ownerships were told apart.
            membership.ownership_id = uuid4()
        linked.confirmed_ownership_id = membership.ownership_id
        db.session().flush()


def _disown(user: User, known: Identity | None) -> None:
    """Leave nothing to whoever made the account: its password, sessions, links and identities here.

    A stranger may have registered the address, to wait in the account for its holder.
    """
    recovery.remove_credentials(user)
    queries.delete_identities(user.id, keep=known.id if known is not None else None)


def scope(configuration: Configuration, user: User) -> UUID | None:
    """The one organization that a session is good for; None for all of the person's.

    The provider was chosen by an administrator of one organization and speaks for that one. Only
    where passwords are off for the person's domain, which the organization has proven, is it the
    one door to the whole account.
    """
    if configuration.enforced and queries.proven(accounts.domain_of(user.email)):
        return None
    return configuration.organization_id


def _admit(
    organization: Organization,
    configuration: Configuration,
    user: User,
    identity: ExternalIdentity,
    known: Identity | None,
) -> Identity:
    linked = known or _link(configuration, user, identity)
    try:
        members.bring_up_to_date(organization, configuration, user, identity.groups, linked)
    except members.Dropped:
        # The removal stands, though the sign-in is refused.
        db.checkpoint()
        raise _no_group() from None
    return linked


def _no_group() -> ApiError:
    return errors.denied("None of your groups at the identity provider gives access here.")


def _link(configuration: Configuration, user: User, identity: ExternalIdentity) -> Identity:
    linked = Identity(
        user_id=user.id,
        issuer=identity.issuer,
        subject=identity.subject,
        email=identity.email or user.email,
        anchor=configuration.provider["anchor"],
    )
    db.session().add(linked)
    db.session().flush()
    return linked
