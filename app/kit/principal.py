"""Who calls, for which organization, and the port through which the caller is proven."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
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
    """A proven caller. A person has `organization` and `role` on organization-scoped operations
    only, an API key on all that it may call.

    What an API key does is done in the name of who made it, who may have left: `user_id` and
    `email` are theirs, `api_key_id` the key, `name` and `role` the key's. `expires_at` None: never.
    `only_organization`: the one that the session is good for, where it is not good for all that the
    user belongs to.
    """

    user_id: UUID
    email: str
    name: str
    session_id: UUID | None
    token_id: str | None
    expires_at: datetime | None
    organization: Organization | None = None
    role: Role | None = None
    api_key_id: UUID | None = None
    read_only: bool = False
    only_organization: UUID | None = None

    @property
    def org(self) -> Organization:
        """The organization, on an operation that has one."""
        assert self.organization is not None, "the operation is not organization-scoped"
        return self.organization

    def has(self, role: Role) -> bool:
        """Whether the caller's role is at least `role`."""
        return self.role is not None and self.role >= role


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The port that identity answers, bound by the factory.

    `by_token(token, slug)` proves a bearer token, and membership in `slug` when one is given: 401
    or 403. `by_api_key(key)` proves an API key in its organization: 401 `invalid_api_key`.
    """

    by_token: Callable[[str, str | None], Caller]
    by_api_key: Callable[[str], Caller]
