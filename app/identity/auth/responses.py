"""The results of signing in, and of reading the current session."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.identity.organizations.queries import OrganizationRole
from app.identity.users.models import Person


class LoginResponse(NamedTuple):
    """An access token, with the user and the user's organizations; `expires_in` is in seconds."""

    access_token: str
    expires_in: int
    user: Person
    organizations: list[OrganizationRole]
    token_type: str = "bearer"  # noqa: S105 - a scheme, not a password


class KeySummary(NamedTuple):
    """The API key that authenticated a request."""

    id: UUID
    name: str
    read_only: bool


class SessionInfo(NamedTuple):
    """The caller's user and organizations, and the session or API key of the request."""

    user: Person
    organizations: list[OrganizationRole]
    session_id: UUID | None
    api_key: KeySummary | None
    expires_at: datetime | None
