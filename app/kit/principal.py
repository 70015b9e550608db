"""The caller of a request, its organization, and the interface for authentication."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app.kit.permissions import Role


@dataclass(frozen=True, slots=True)
class Organization:
    """The organization of a request, with the attributes that the kit needs.

    `plan_limits` are the organization's custom limits, which replace those of the plan.
    """

    id: UUID
    slug: str
    status: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    plan: str | None = None
    plan_limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: a user or an API key.

    A user has `organization` and `role` only on organization-scoped operations, an API key on all
    operations that it may call. An API key acts on behalf of the user who created it, even after
    that user has left: `user_id` and `email` are those of the user; `api_key_id`, `name` and `role`
    are those of the key. `expires_at` is None if the session or key does not expire.
    `only_organization` is set if the session is valid for this organization only, and not for all
    organizations of the user.
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
        """Return the organization; for organization-scoped operations only."""
        assert self.organization is not None, "the operation is not organization-scoped"
        return self.organization

    def has(self, role: Role) -> bool:
        """Return whether the caller's role is at least `role`."""
        return self.role is not None and self.role >= role


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The authentication functions, which `identity` implements and `app.api` binds.

    `by_token(token, slug)` verifies a bearer token and, if `slug` is given, membership in that
    organization; it raises 401 or 403. `by_api_key(key)` verifies an API key in its organization;
    it raises 401 `invalid_api_key`.
    """

    by_token: Callable[[str, str | None], Caller]
    by_api_key: Callable[[str], Caller]
