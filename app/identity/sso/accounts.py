"""Which account a person without a link has, if any: found, made, or refused."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from app.identity.organizations.models import Organization
from app.identity.sso import links, queries
from app.identity.sso.external import ExternalIdentity
from app.identity.sso.models import Flow
from app.identity.users import addresses
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors
from app.kit.emails import Emails
from app.kit.errors import ApiError
from app.kit.links import WebPage, build_token_link

LETTERS = Emails(Path(__file__).parent / "letters")
_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Found:
    """`sure` is off where the holder of the account has to say first that it is them. `unproven` is
    on where nobody has ever proven the account's address, which the organization's domain does."""

    user: User
    sure: bool
    unproven: bool = False


def get(user_id: UUID) -> User:
    """The account of a link."""
    user = db.session().get(User, user_id)
    assert user is not None, "links go with their account"
    return user


def find(identity: ExternalIdentity) -> Found:
    """The account for a subject that is new here. The organization is bound.

    A mail address proves nobody: who chose the provider could have it say any. It is enough where
    the organization has proven the address's domain and the provider vouches for the address.
    Otherwise an account that exists is linked only once its holder confirms by email, and only in a
    proven domain or when it is a member's; any other account is left alone. Raises 403
    `permission_denied`.
    """
    if identity.email is None:
        raise errors.denied("The identity provider tells no e-mail address.")
    email = _address(identity.email)
    domain = domain_of(email)
    proven = queries.proven(domain)
    trusted = proven and identity.email_verified is True
    user = users.find_by_email(email)
    if user is None:
        _check_verified(identity)
        _check_domain(domain)
        return Found(_make(email, identity, proven=trusted), sure=True)
    if user.email != email:
        raise _somebody_elses()
    if trusted:
        return Found(user, sure=True, unproven=user.email_verified_at is None)
    if not proven and queries.membership(user.id) is None:
        raise _somebody_elses()
    return Found(user, sure=False)


def domain_of(email: str) -> str:
    """The domain of an address, as `addresses.parse` has it."""
    return email.rpartition("@")[2]


def domain_of_typed(email: str) -> str:
    """The domain of whatever somebody typed, as it would be stored; empty when it is no address."""
    try:
        return domain_of(addresses.parse(email))
    except ApiError:
        return ""


def _address(email: str) -> str:
    try:
        return addresses.parse(email)
    except ApiError:
        raise errors.denied("The identity provider tells no usable e-mail address.") from None


def _check_verified(identity: ExternalIdentity) -> None:
    if identity.email_verified is False:
        raise errors.denied("The identity provider says that the e-mail address is not verified.")


def _check_domain(domain: str) -> None:
    listed = [row.domain for row in queries.domains()]
    if listed and domain not in listed:
        raise errors.denied("Addresses of this domain do not come in by single sign-on here.")


def _somebody_elses() -> ApiError:
    return errors.denied(
        "There is an account with this e-mail address that is not a member here. Ask for an"
        " invitation, accept it, and sign in again."
    )


def _make(email: str, identity: ExternalIdentity, *, proven: bool) -> User:
    user = User(
        email=email,
        name=_name(identity.name) or email.partition("@")[0],
        email_verified_at=db.utc_now() if proven else None,
    )
    db.session().add(user)
    db.session().flush()
    return user


def _name(name: str | None) -> str:
    """A name as people here have them: one line, of bounded length, that UTF-8 can hold."""
    text = (name or "").encode("utf-8", "ignore").decode()
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_NAME_LENGTH]


def mail_confirmation(organization: Organization, user: User, flow: Flow, code: str) -> None:
    """Ask the holder of the account; the letter goes to the address that the account has."""
    page = build_token_link(WebPage.CONFIRM_SIGN_ON, token=code, language=user.locale)
    LETTERS.enqueue(
        "confirm",
        to=user.email,
        locale=user.locale,
        values={
            "organization": organization.name,
            "name": user.name,
            "link": links.back(flow, code=code) or page,
            "token": code,
        },
        organization_id=organization.id,
    )
