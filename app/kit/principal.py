"""The caller of a request, its organization, and the interface for authentication."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app.kit.permissions import Role


@dataclass(frozen=True, slots=True)
class Organization:
    """The organization of a request, with the attributes that `app.kit` needs.

    `plan_limits` are the organization's custom limits, which replace the plan's limits. `plan` is
    None if it has not been read.
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

    `organization` and `role` are set for an API key, and for a user in organization-scoped
    operations. An API key acts on behalf of the user who created it, even after that user has left
    the organization. `user_id` and `email` then belong to the user, and `api_key_id`, `name` and
    `role` belong to the key. A `read_only` key may be used only for GET requests. A key has no
    `session_id` and no `token_id`. `expires_at` is None if the session or key does not expire.
    `only_organization_id` is set if the session is valid for this organization only, and not for
    all organizations of the user.
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
    only_organization_id: UUID | None = None

    @property
    def org(self) -> Organization:
        """Return the organization. Use this only in organization-scoped operations."""
        assert self.organization is not None, "the operation is not organization-scoped"
        return self.organization

    def has_role(self, role: Role) -> bool:
        """Return whether the caller's role is at least `role`."""
        return self.role is not None and self.role >= role


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The authentication functions, which `identity` implements and `app.api` binds.

    `authenticate_token(token, slug)` verifies a bearer token and, if `slug` is not None, membership
    in that organization. It raises 401 or 403. `authenticate_api_key(key)` verifies an API key in
    its organization, and raises 401 `invalid_api_key`.
    """

    authenticate_token: Callable[[str, str | None], Caller]
    authenticate_api_key: Callable[[str], Caller]
