"""Who calls, for which organization, and the port through which the caller is proven."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from app.kit.permissions import Role


@dataclass(frozen=True, slots=True)
class Organization:
    """The organization a request works in, as far as the kit needs to know it."""

    id: UUID
    slug: str
    status: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """A proven caller. `organization` and `role` are set on organization-scoped operations only.

    An API key acts for who made it: `user_id` is theirs, `api_key_id` the key, `name` the key's.
    """

    user_id: UUID
    email: str
    name: str
    session_id: UUID | None
    token_id: str | None
    expires_at: datetime
    organization: Organization | None = None
    role: Role | None = None
    api_key_id: UUID | None = None
    read_only: bool = False

    @property
    def org(self) -> Organization:
        """The organization, on an operation that has one."""
        assert self.organization is not None, "the operation is not organization-scoped"
        return self.organization

    def has(self, role: Role) -> bool:
        """Whether the caller's role is at least `role`."""
        return self.role is not None and self.role >= role


class Authenticator(Protocol):
    """What identity answers. Every method raises `ApiError` 401 or 403 when it must refuse."""

    def by_token(self, token: str, slug: str | None) -> Caller:
        """Prove a bearer token, and membership in `slug` when one is given."""

    def by_api_key(self, key: str, slug: str | None) -> Caller:
        """Prove an API key; `slug`, when given, must be the key's organization."""
