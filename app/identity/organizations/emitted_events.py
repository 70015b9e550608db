"""Names and payloads of events about organizations and members."""

from datetime import datetime
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class ProvisionedPayload(TypedDict):
    """The payload of `PROVISIONED`."""

    owner_id: UUID
    plan: str


class SuspendedPayload(TypedDict):
    """The payload of `SUSPENDED`; `reason` is the operator's reason."""

    reason: str


class ReinstatedPayload(TypedDict):
    """The payload of `REINSTATED`, which has no properties."""


class OrganizationPayload(TypedDict):
    """The payload of `REOPENED` and `SELF_REVIEW_DISALLOWED`."""

    organization_id: UUID


class MemberDisabledPayload(TypedDict):
    """The payload of `MEMBER_DISABLED`."""

    user_id: UUID


class ClosedPayload(TypedDict):
    """The payload of `CLOSED`; the organization is erased after `erase_after`."""

    organization_id: UUID
    erase_after: datetime


class PlanChangedPayload(TypedDict):
    """The payload of `PLAN_CHANGED`; a limit of None means no limit."""

    plan: str
    limits: dict[str, int | None]
    plan_before: str


class MemberJoinedPayload(TypedDict):
    """The payload of `MEMBER_JOINED`; `invitation_id` is null if there was no invitation."""

    user_id: UUID
    role: str
    invitation_id: UUID | None


MemberRoleChangedPayload = TypedDict(
    "MemberRoleChangedPayload", {"user_id": UUID, "from": str, "to": str, "changed_by": UUID | None}
)
"""The payload of `MEMBER_ROLE_CHANGED`; `changed_by` is null if single sign-on set the role."""


class MemberRemovedPayload(TypedDict):
    """The payload of `MEMBER_REMOVED`; `removed_by` is null if single sign-on removed the user."""

    user_id: UUID
    role: str
    removed_by: UUID | None
    team_ids: list[UUID]


PROVISIONED = EventName[ProvisionedPayload]("organization.provisioned")
PLAN_CHANGED = EventName[PlanChangedPayload]("organization.plan_changed")
SUSPENDED = EventName[SuspendedPayload]("organization.suspended")
REINSTATED = EventName[ReinstatedPayload]("organization.reinstated")
CLOSED = EventName[ClosedPayload]("organization.closed")
REOPENED = EventName[OrganizationPayload]("organization.reopened")
SELF_REVIEW_DISALLOWED = EventName[OrganizationPayload]("organization.self_review_disallowed")
MEMBER_JOINED = EventName[MemberJoinedPayload]("member.joined")
MEMBER_ROLE_CHANGED = EventName[MemberRoleChangedPayload]("member.role_changed")
MEMBER_REMOVED = EventName[MemberRemovedPayload]("member.removed")
MEMBER_DISABLED = EventName[MemberDisabledPayload]("member.disabled")
"""Emitted in each organization of a disabled account; the payload contains only `user_id`."""
