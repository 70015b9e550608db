"""Jobs that create notifications about events and queue emails for them.

Frequent events are handled in batches, and one notification covers several events.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from app.delivery.notifications.service import mailing, results, sending, work
from app.delivery.notifications.service.work import Event
from app.delivery.scheduled_exports import emitted_events as scheduled_export_events
from app.identity.organizations import emitted_events as organization_events
from app.kit import container, jobs, purging
from app.kit.jobs import Job

OLD_CAUSES = "created_at < now() - interval '9 days'"
OLD_NOTIFICATIONS = "created_at < now() - make_interval(days => :days)"


@jobs.handler("notifications.email", queue="notifications", events=(sending.NOTIFICATION_CREATED,))
def enqueue_email(job: Job) -> None:
    """Queue the email for a notification in the transaction that marks the job as done."""
    mailing.enqueue_email(UUID(job.args["data"]["notification_id"]))


def _build_event(job: Job) -> Event:
    return Event(UUID(job.args["event_id"]), job.args["data"])


def _register_handler(name: str, events: Sequence[str], notify: Callable[[Event], None]) -> None:
    @jobs.handler(name, queue="notifications", events=events)
    def handle_event(job: Job) -> None:
        notify(_build_event(job))


def _register_batch_handler(
    name: str, event: str, notify: Callable[[Sequence[Event]], None]
) -> None:
    @jobs.handler(name, queue="notifications", events=(event,), batch=True)
    def handle_events(batch: Sequence[Job]) -> None:
        notify([_build_event(job) for job in batch])


for _name, _event, _notify_of_batch in (
    ("notifications.artifacts_assigned", "artifacts.assigned", work.notify_of_assigned_documents),
    ("notifications.reviews_assigned", "reviews.assigned", work.notify_of_assigned_reviews),
    ("notifications.reviews_returned", "reviews.returned", work.notify_of_returned_reviews),
    ("notifications.tag_set_rejected", "tag_set.rejected", work.notify_of_rejected_tag_sets),
    ("notifications.tag_set_reopened", "tag_set.reopened", work.notify_of_reopened_tag_sets),
):
    _register_batch_handler(_name, _event, _notify_of_batch)
for _name, _events, _notify in (
    ("notifications.tag_set_commented", ("tag_set.commented",), work.notify_of_comment),
    ("notifications.connector_alert", ("connector.alert_raised",), work.notify_of_connector_alert),
    ("notifications.export_completed", ("export.completed",), results.notify_of_completed_export),
    ("notifications.export_failed", ("export.failed",), results.notify_of_failed_export),
    (
        "notifications.export_delivery_failed",
        (scheduled_export_events.DELIVERY_FAILED,),
        results.notify_of_failed_delivery,
    ),
    (
        "notifications.invitation_accepted",
        (organization_events.MEMBER_JOINED,),
        results.notify_of_accepted_invitation,
    ),
    ("notifications.drift_found", ("drift.found",), results.notify_of_drift),
    ("notifications.limit_used", ("usage.threshold_reached",), results.notify_of_usage_threshold),
    (
        "notifications.api_key_creator_left",
        ("member.removed", "member.disabled"),
        work.notify_of_departed_creator,
    ),
    (
        "notifications.api_key_creator_demoted",
        ("member.role_changed",),
        work.notify_of_demoted_creator,
    ),
):
    _register_handler(_name, _events, _notify)


@jobs.handler("notifications.post_due", queue="notifications", resumable=True, every=10)
def enqueue_due_emails(job: Job) -> None:
    """Close due notifications, and queue their emails or postpone the emails."""
    mailing.enqueue_due_emails(job.checkpoint)


@jobs.handler("notifications.purge", queue="maintenance", resumable=True, every=3600)
def purge(job: Job) -> None:
    """Purge old notifications, and records of events whose jobs no longer exist."""
    purging.purge("notification_causes", OLD_CAUSES, job.checkpoint)
    days = {"days": container.settings().notification_retention_days}
    purging.purge("notifications", OLD_NOTIFICATIONS, job.checkpoint, days)
