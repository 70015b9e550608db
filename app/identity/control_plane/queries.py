"""SQL of what the operator decides."""

from uuid import UUID

from sqlalchemy import select

from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db


def locked(slug: str) -> Organization | None:
    """The organization of a slug, locked until the transaction ends."""
    statement = select(Organization).where(Organization.slug == slug).with_for_update()
    return db.session().scalars(statement).one_or_none()


def owners(organization_id: UUID) -> list[User]:
    """Who is told what the operator decides: the owners whose accounts are not disabled."""
    statement = (
        select(User)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.organization_id == organization_id,
            Membership.role == "owner",
            User.disabled_at.is_(None),
        )
        .order_by(User.id)
    )
    return list(db.session().scalars(statement))
