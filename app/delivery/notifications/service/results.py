"""Notifications about results: exports, deliveries, invitations, drift and plan limits."""

from uuid import UUID

from app.delivery.notifications.queries import references
from app.delivery.notifications.queries.collecting import Audience, list_members
from app.delivery.notifications.service.sending import notify
from app.delivery.notifications.service.work import Event
from app.kit.permissions import Role
from app.kit.plan_limits import Meter

_FULL_PERCENT = 100
_SIZE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def notify_of_completed_export(event: Event) -> None:
    """Notify the user who requested or scheduled an export that its file can be downloaded."""
    export = references.get_export_result(UUID(event.data["job_id"]))
    if export is None or export.user_id is None or export.expires_at is None:
        return
    notify(
        "export_ready",
        kind="export_ready",
        values={"format": export.format, "expires_at": export.expires_at},
        count=export.row_count or 0,
        link=f"/api/v1/exports/{event.data['job_id']}",
        unique_key=f"export:{event.id}",
        user_ids=[export.user_id],
    )


def notify_of_failed_export(event: Event) -> None:
    """Notify the user who requested or scheduled an export that the export has failed.

    If a scheduled export fails and its user is disabled or no longer a member, notifies the
    administrators instead.
    """
    export = references.get_export_result(UUID(event.data["job_id"]))
    # A retry of the job may have reopened the export.
    if export is None or export.user_id is None or export.error is None:
        return
    notify(
        "export_failed",
        kind="export_failed",
        values={"format": export.format, "reason": export.error["message"]},
        link=f"/api/v1/exports/{event.data['job_id']}",
        unique_key=f"export:{event.id}",
        user_ids=[export.user_id],
        role=_find_substitute_role(export.user_id) if event.data["scheduled_export_id"] else None,
    )


def notify_of_failed_delivery(event: Event) -> None:
    """Notify the user who scheduled or started a run about the failed delivery of its file.

    If the user is disabled or no longer a member, notifies the administrators instead.
    """
    if event.data["created_by"] is None:
        return
    user_id = UUID(event.data["created_by"])
    notify(
        "delivery_failed",
        kind="export_failed",
        values={"name": event.data["name"], "reason": event.data["error"]["message"]},
        link=f"/api/v1/exports/{event.data['job_id']}",
        unique_key=f"export_delivery:{event.id}",
        user_ids=[user_id],
        role=_find_substitute_role(user_id),
    )


def _find_substitute_role(user_id: UUID) -> Role | None:
    """Return the role to notify instead of a user who is disabled or no longer a member.

    Returns None if the user is an enabled member.
    """
    return None if list_members([Audience(user_ids=[user_id])]) else Role.admin


def notify_of_accepted_invitation(event: Event) -> None:
    """Notify the user who sent an invitation that it was accepted."""
    if event.data["invitation_id"] is None:
        return
    invitation = references.get_invitation(UUID(event.data["invitation_id"]))
    if invitation is None:
        return
    user_id = UUID(event.data["user_id"])
    notify(
        "invitation_accepted",
        kind="invitation",
        values={
            "member": references.get_user_names([user_id]).get(user_id, ""),
            "email": invitation.email,
        },
        link=f"/api/v1/organizations/{invitation.slug}/members",
        unique_key=f"invitation:{event.data['invitation_id']}",
        user_ids=[invitation.invited_by],
    )


def notify_of_drift(event: Event) -> None:
    """Notify administrators of all drift reports from one detection, in one notification."""
    data = event.data
    ellipsis = ["…"] if data["count"] > len(data["shifts"]) else []
    notify(
        "drift_detected",
        kind="drift_detected",
        values={"schema": data["schema_name"], "shifts": "\n".join([*data["shifts"], *ellipsis])},
        count=data["count"],
        link=f"/api/v1/quality/drift?detection_id={data['detection_id']}",
        unique_key=f"drift:{data['detection_id']}",
        role=Role.admin,
    )


def notify_of_usage_threshold(event: Event) -> None:
    """Notify administrators that a meter has reached a percentage of the plan's limit."""
    data = event.data
    used, limit = data["used"], data["limit"]
    is_size = data["meter"] == Meter.STORED_BYTES
    suffix = "reached" if data["percent"] == _FULL_PERCENT else "near"
    notify(
        f"plan_limit_{data['meter']}_{suffix}",
        kind="plan_limit",
        values={
            "used": format_size(used, limit) if is_size else str(used),
            "limit": format_size(limit, limit) if is_size else str(limit),
            "percent": data["percent"],
        },
        link="/api/v1/billing/usage",
        unique_key=f"plan_limit:{data['meter']}:{data['month']}:{data['percent']}",
        role=Role.admin,
    )


def format_size(size: int, max_size: int) -> str:
    """Format a number of bytes in the largest unit in which `max_size` is at least 10.

    The size is rounded down to a whole number of units. For a `max_size` below 10 KiB, the unit is
    bytes.
    """
    power = max((n for n in range(len(_SIZE_UNITS)) if max_size >= 10 * 1024**n), default=0)
    return f"{size // 1024**power} {_SIZE_UNITS[power]}"
