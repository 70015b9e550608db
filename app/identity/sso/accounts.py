"""Accounts for identities: finding, creating or refusing the account, and email confirmation.

Whoever chooses a provider can make it return any address. Therefore, until an account's address is
verified, identities of somebody else may be linked to the account. The verification of the address
removes all identities that were linked before.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from limits import RateLimitItemPerSecond

from app.identity.organizations.models import Organization
from app.identity.sso import links, queries
from app.identity.sso.models import Flow, Identity
from app.identity.sso.providers import ExternalIdentity
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors, ratelimit, tenancy
from app.kit.emails import Emails
from app.kit.errors import ApiError
from app.kit.links import WebPage, build_token_link

EMAILS = Emails(Path(__file__).parent / "emails")
CONFIRMATION_LIMIT = RateLimitItemPerSecond(1, 30)
"""The rate limit for the emails that ask a user to confirm a sign-in to one organization."""
_MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class AccountMatch:
    """The account that an identity belongs to.

    If `needs_confirmation` is true, the account's holder must confirm by email before the identity
    is linked. If `was_unverified` is true, the identity proves the account's address, but the
    address is not marked as verified yet. The caller must then mark the address as verified, and
    remove earlier ways to access the account, because they may belong to somebody else.
    """

    user: User
    needs_confirmation: bool = False
    was_unverified: bool = False


def lock(user_id: UUID) -> User:
    """Lock and return the account that a linked identity or a one-time code refers to."""
    user = user_queries.lock(user_id)
    assert user is not None, "identities and codes are deleted together with their account"
    return user


def lock_linked_identity(identity: ExternalIdentity) -> Identity | None:
    """Lock a linked identity and its account, and return the identity as it is stored.

    Returns None if the identity is not linked in the current organization.
    """
    user_id = queries.find_linked_user_id(identity.issuer, identity.subject)
    # Accounts are locked before identities, as in `unlink_identities`.
    if user_id is None or user_queries.lock(user_id) is None:
        return None
    return queries.lock_identity(identity.issuer, identity.subject)


def unlink_identities(user_id: UUID, *, kept_id: UUID | None = None) -> None:
    """Delete a user's identities in all organizations, except the identity `kept_id`, if given."""
    # Write pending changes now: they belong to the current organization, which is unset below.
    db.session().flush()
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        queries.delete_identities(user_id, kept_id=kept_id)


def find_or_create(identity: ExternalIdentity) -> AccountMatch:
    """Find and lock, or create, the account for an identity that is not linked.

    An email address alone does not prove who a person is, because whoever chose the provider can
    make it return any address. The address is sufficient only if the organization has verified the
    domain of the address, and the provider says that the address is verified.

    Otherwise, an existing account is linked only after its holder confirms by email, and only if
    the domain is verified or the holder is a member of the organization. In all other cases, raises
    403 `permission_denied` and does not change the existing account.

    Also raises 403 if the provider returns no usable address. A new account is refused with 403 if
    the provider says that the address is not verified, or if the organization lists domains and the
    address is in none of them.
    """
    if identity.email is None:
        raise errors.denied("The identity provider did not return an email address.")
    email = _parse_email(identity.email)
    domain = get_domain(email)
    is_domain_verified = queries.is_domain_verified(domain)
    is_trusted = is_domain_verified and identity.email_verified is True
    user = user_queries.find_by_email(email)
    if user is None:
        _check_email_verified(identity)
        _check_domain(domain)
        name = _clean_name(identity.name) or email.partition("@")[0]
        return AccountMatch(users.create(email=email, name=name, verified=is_trusted))
    user = user_queries.lock(user.id)
    # A look-alike address is another mailbox, so the identity proves nothing about this account.
    if user is None or user.email != email:
        raise _build_not_member_error()
    if is_trusted:
        return AccountMatch(user, was_unverified=user.email_verified_at is None)
    if not is_domain_verified and queries.lock_membership(user.id) is None:
        raise _build_not_member_error()
    return AccountMatch(user, needs_confirmation=True)


def get_domain(email: str) -> str:
    """Return the domain of an email address in its stored form (see `addresses.parse`)."""
    return email.rpartition("@")[2]


def parse_domain(email: str) -> str:
    """Return the normalized domain of an address, or an empty string if the address is invalid."""
    try:
        return get_domain(addresses.parse(email))
    except ApiError:
        return ""


def _parse_email(email: str) -> str:
    try:
        return addresses.parse(email)
    except ApiError:
        raise errors.denied(
            "The identity provider did not return a usable email address."
        ) from None


def _check_email_verified(identity: ExternalIdentity) -> None:
    if identity.email_verified is False:
        raise errors.denied("The identity provider says that the email address is not verified.")


def _check_domain(domain: str) -> None:
    listed_domains = [row.domain for row in queries.list_domains()]
    if listed_domains and domain not in listed_domains:
        raise errors.denied(
            "Single sign-on in this organization does not accept this email domain."
        )


def _build_not_member_error() -> ApiError:
    return errors.denied(
        "The account with this email address is not a member of this organization. Ask for an"
        " invitation, accept it, and sign in again."
    )


def _clean_name(name: str | None) -> str:
    """Clean a display name, so that it is one line of limited length and valid UTF-8."""
    text = (name or "").encode("utf-8", "ignore").decode()
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_MAX_NAME_LENGTH]


def claim_confirmation_email(organization: Organization, user: User) -> bool:
    """Count an email toward `CONFIRMATION_LIMIT`, and return whether it may be sent now."""
    key = f"{organization.id}/{user.id}"
    return not ratelimit.count_action(CONFIRMATION_LIMIT, "sso_confirmation", key)


def send_confirmation(organization: Organization, user: User, flow: Flow, code: str) -> None:
    """Email the account's holder a link that confirms the sign-in."""
    page_url = build_token_link(WebPage.CONFIRM_SIGN_ON, token=code, language=user.locale)
    EMAILS.enqueue(
        "confirm",
        to=user.email,
        locale=user.locale,
        values={
            "organization": organization.name,
            "name": user.name,
            "link": links.build_return_url(flow, code=code) or page_url,
            "token": code,
        },
        organization_id=organization.id,
    )
