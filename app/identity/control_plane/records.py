"""Organizations in the format of the operator's API and commands."""

from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID


class ManagedOrganization(TypedDict):
    """An organization in the format of the operator's API and commands."""

    id: UUID
    slug: str
    name: str
    status: str
    plan: str
    limits: dict[str, Any]
    suspended_at: datetime | None
    suspension_reason: str | None
    created_at: datetime
    updated_at: datetime
    revision: int


class ManagedOrganizationDetails(ManagedOrganization):
    """An organization with its owners' addresses, member count, closing and erasure times."""

    owners: list[str]
    members: int
    closed_at: datetime | None
    erase_after: datetime | None
    erased_at: datetime | None


class ProvisionedOwner(TypedDict):
    """The owner of a new organization; `created` is true if the account is new."""

    id: UUID
    email: str
    name: str
    created: bool


class ProvisionedOrganization(ManagedOrganization):
    """A new organization with its owner."""

    owner: ProvisionedOwner
