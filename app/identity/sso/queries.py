"""SQL of single sign-on."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.auth.models import Session
from app.identity.organizations.models import Membership, Organization
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

_OPEN = (
    select(Organization, Configuration)
    .join(Configuration, Configuration.organization_id == Organization.id)
    .where(Configuration.enabled, Organization.status.in_(("active", "suspended")))
)


def configuration(*, lock: bool = False) -> Configuration | None:
    """The bound organization's, if it has one, as it is now."""
    statement = select(Configuration).execution_options(populate_existing=True)
    if lock:
        statement = statement.with_for_update()
    return db.session().scalars(statement).one_or_none()


def provider_state(configuration_id: UUID) -> ProviderState | None:
    """What is known of the keys of a provider, as it is now."""
    statement = select(ProviderState).where(ProviderState.configuration_id == configuration_id)
    return db.session().scalars(statement.execution_options(populate_existing=True)).one_or_none()


def domains() -> list[Domain]:
    """Of the bound organization, by name."""
    return list(db.session().scalars(select(Domain).order_by(Domain.domain)))


def proven(domain: str) -> bool:
    """Whether the bound organization has proven `domain`."""
    statement = select(Domain.id).where(Domain.domain == domain, Domain.verified_at.is_not(None))
    return db.session().scalar(statement) is not None


def opened(
    organization_id: UUID, *, lock: bool = False
) -> tuple[Organization, Configuration] | None:
    """An organization with its single sign-on, when it has it and is open. As it is now."""
    statement = _OPEN.where(Organization.id == organization_id).execution_options(
        populate_existing=True
    )
    if lock:
        statement = statement.with_for_update(of=Configuration)
    return _pair(statement)


def proven_by_another(domain: str, organization_id: UUID) -> bool:
    """Whether an organization other than this one has proven `domain`. Across organizations."""
    statement = select(Domain.id).where(
        Domain.domain == domain,
        Domain.verified_at.is_not(None),
        Domain.organization_id != organization_id,
    )
    return db.session().scalar(statement) is not None


def by_domain(domain: str) -> tuple[Organization, Configuration] | None:
    """Who has proven `domain`, when it has single sign-on. Across organizations."""
    owned = Domain.organization_id == Organization.id
    return _pair(
        _OPEN.join(Domain, owned).where(Domain.domain == domain, Domain.verified_at.is_not(None))
    )


def by_slug(slug: str) -> tuple[Organization, Configuration] | None:
    """The organization of that slug, when it has single sign-on. Across organizations."""
    return _pair(_OPEN.where(Organization.slug == slug))


def _pair(
    statement: Select[Organization, Configuration],
) -> tuple[Organization, Configuration] | None:
    found = db.session().execute(statement).first()
    return (found[0], found[1]) if found is not None else None


class Confirmation(NamedTuple):
    """A sign-in that waits for its confirmation by email."""

    browser_hash: str
    challenge: str | None
    email: str
    organization: str


def find_confirmation(code_hash: str) -> Confirmation | None:
    """Return what an unused mailed code confirms. Across organizations."""
    statement = (
        select(Code.browser_hash, Code.challenge, User.email, Organization.name)
        .join(User, User.id == Code.user_id)
        .join(Organization, Organization.id == Code.organization_id)
        .where(
            Code.code_hash == code_hash,
            # A code that was not mailed holds the null of JSON here.
            func.jsonb_typeof(Code.pending) == "object",
            Code.used_at.is_(None),
            Code.expires_at > func.now(),
        )
    )
    row = db.session().execute(statement).one_or_none()
    return None if row is None else Confirmation(*row)


def identity(issuer: str, subject: str) -> Identity | None:
    """Who an issuer's subject is in the bound organization; locked."""
    statement = select(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
    return db.session().scalars(statement.with_for_update()).one_or_none()


def delete_identities(user_id: UUID, *, keep: UUID | None) -> None:
    """Unlink a user from the bound organization's provider, but for the identity `keep`."""
    kept = [Identity.id != keep] if keep is not None else []
    db.session().execute(delete(Identity).where(Identity.user_id == user_id, *kept))


def membership(user_id: UUID) -> Membership | None:
    """Return a user's membership in the bound organization as it is now, and lock it."""
    statement = select(Membership).where(Membership.user_id == user_id).with_for_update()
    statement = statement.execution_options(populate_existing=True)
    return db.session().scalars(statement).one_or_none()


def enforcing(domain: str) -> Organization | None:
    """The organization that has proven `domain` and turned passwords off there."""
    owned = Domain.organization_id == Organization.id
    found = _pair(
        _OPEN.join(Domain, owned).where(
            Domain.domain == domain, Domain.verified_at.is_not(None), Configuration.enforced
        )
    )
    return found[0] if found is not None else None


def end_password_sessions(organization_id: UUID, names: Iterable[str]) -> int:
    """Raise the token version of everybody in these domains who came in by password.

    Owners of the organization aside. How many people that were. Across organizations.
    """
    owners = select(Membership.user_id).where(
        Membership.organization_id == organization_id, Membership.role == "owner"
    )
    by_password = select(Session.user_id).where(
        Session.method == "password",
        Session.revoked_at.is_(None),
        Session.expires_at > func.now(),
    )
    raised = (
        update(User)
        .where(
            func.split_part(User.email, "@", 2).in_(list(names)),
            User.id.in_(by_password),
            User.id.not_in(owners),
        )
        .values(token_version=User.token_version + 1)
        .execution_options(synchronize_session=False)
    )
    return db.session().execute(raised).rowcount  # type: ignore[attr-defined, no-any-return]


def raise_token_version(user_id: UUID) -> None:
    """End every session of a user."""
    db.session().execute(
        update(User).where(User.id == user_id).values(token_version=User.token_version + 1)
    )


def remember_assertion(assertion_hash: str, expires_at: datetime) -> bool:
    """Note that the bound organization accepted an assertion; False when it had done so already.

    Of two at once one waits for the other.
    """
    noted = (
        insert(Assertion)
        .values(assertion_hash=assertion_hash, expires_at=expires_at)
        .on_conflict_do_nothing()
        .returning(Assertion.assertion_hash)
    )
    return db.session().execute(noted).first() is not None


def organizations() -> list[UUID]:
    """Those that have single sign-on. Across organizations."""
    return list(db.session().scalars(select(Configuration.organization_id)))


def purge(checkpoint: Callable[[], None]) -> None:
    """Delete what has expired, of all organizations, a batch in a transaction."""
    for table in (Flow, Code, Assertion):
        purging.purge(table.__tablename__, "expires_at < now()", checkpoint)
