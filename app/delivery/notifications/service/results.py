"""Notify users of exports that they requested, and of invitations."""

from uuid import UUID

from app.delivery.notifications.queries import causes, records
from app.delivery.notifications.queries.records import NewNotification
from app.delivery.notifications.service.sending import messages, notify
from app.delivery.notifications.service.work import Event
from app.identity.users import preferences

_INVITATION = "invitation"


def notify_of_finished_export(event: Event) -> None:
    """Notify the user who requested an export that it can be downloaded."""
    export = causes.get_export(UUID(event.data["job_id"]))
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
    """Notify the user who requested an export that it failed."""
    export = causes.get_export(UUID(event.data["job_id"]))
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
    )


def notify_of_invitation(event: Event) -> None:
    """Notify an invited person who has an account already.

    Only in the application, because the invitation itself is an email. It has no link, because the
    token of the invitation is in that email only.
    """
    if event.data["user_id"] is None:
        return
    invitation_id, user_id = event.data["invitation_id"], UUID(event.data["user_id"])
    invited = causes.get_invited_user(UUID(invitation_id), user_id)
    if invited is None or not preferences.get_channels(invited.preferences, _INVITATION)[0]:
        return
    text = messages.render(
        "invitation",
        locale=invited.locale,
        time_zone=invited.time_zone,
        values={
            "by": invited.inviter or invited.organization,
            "organization": invited.organization,
            "role": invited.role,
            "email": invited.email,
            "expires_at": invited.expires_at,
        },
    )
    records.insert_notifications(
        [NewNotification(user_id, text.title, text.body, in_app=True)],
        kind=_INVITATION,
        link=None,
        unique_key=f"invitation:{invitation_id}",
    )
