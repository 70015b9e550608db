"""Jobs that create notifications about events, queue their emails, and purge old records.

Frequent events are handled in batches, and one notification can cover many of them.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from app.billing.usage import emitted_events as usage_events
from app.delivery.exports import emitted_events as export_events
from app.delivery.notifications import emitted_events
from app.delivery.notifications.service import mailing, results, work
from app.delivery.notifications.service.work import Event
from app.delivery.scheduled_exports import emitted_events as scheduled_export_events
from app.identity.organizations import emitted_events as organization_events
from app.insight.drift import emitted_events as drift_events
from app.intake.connectors import emitted_events as connector_events
from app.kit import container, jobs, purging
from app.kit.events import AnyEventName
from app.kit.jobs import Job
from app.workflow.assignment import emitted_events as assignment_events
from app.workflow.comments import emitted_events as comment_events
from app.workflow.review_queue import emitted_events as review_events
from app.workflow.tag_sets import emitted_events as tag_set_events

OLD_CAUSES_CONDITION = "created_at < now() - interval '9 days'"
"""The SQL condition for the `NotificationCause` records to purge."""
OLD_NOTIFICATIONS_CONDITION = "created_at < now() - make_interval(days => :days)"


@jobs.handler("notifications.email", queue="notifications", events=(emitted_events.CREATED,))
def enqueue_email(job: Job) -> None:
    """Queue or postpone a notification's email in the transaction that marks the job as done."""
    mailing.enqueue_email(UUID(job.args["data"]["notification_id"]))


def _build_event(job: Job) -> Event:
    return Event(UUID(job.args["event_id"]), job.args["data"])


def _register_handler(
    name: str, events: Sequence[AnyEventName], notify: Callable[[Event], None]
) -> None:
    @jobs.handler(name, queue="notifications", events=events)
    def handle_event(job: Job) -> None:
        notify(_build_event(job))


def _register_batch_handler(
    name: str, event: AnyEventName, notify: Callable[[Sequence[Event]], None]
) -> None:
    @jobs.handler(name, queue="notifications", events=(event,), batch=True)
    def handle_events(batch: Sequence[Job]) -> None:
        notify([_build_event(job) for job in batch])


for _name, _event, _notify_of_batch in (
    (
        "notifications.artifacts_assigned",
        assignment_events.ASSIGNED,
        work.notify_of_assigned_documents,
    ),
    ("notifications.reviews_assigned", review_events.ASSIGNED, work.notify_of_assigned_reviews),
    ("notifications.reviews_returned", review_events.RETURNED, work.notify_of_returned_reviews),
    ("notifications.tag_set_rejected", tag_set_events.REJECTED, work.notify_of_rejected_tag_sets),
    ("notifications.tag_set_reopened", tag_set_events.REOPENED, work.notify_of_reopened_tag_sets),
):
    _register_batch_handler(_name, _event, _notify_of_batch)
for _name, _events, _notify in (
    ("notifications.tag_set_commented", (comment_events.COMMENTED,), work.notify_of_comment),
    (
        "notifications.connector_alert",
        (connector_events.ALERT_RAISED,),
        work.notify_of_connector_alert,
    ),
    (
        "notifications.export_completed",
        (export_events.COMPLETED,),
        results.notify_of_completed_export,
    ),
    ("notifications.export_failed", (export_events.FAILED,), results.notify_of_failed_export),
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
    ("notifications.drift_found", (drift_events.FOUND,), results.notify_of_drift),
    (
        "notifications.limit_used",
        (usage_events.THRESHOLD_REACHED,),
        results.notify_of_usage_threshold,
    ),
    (
        "notifications.api_key_creator_left",
        (organization_events.MEMBER_REMOVED, organization_events.MEMBER_DISABLED),
        work.notify_of_departed_creator,
    ),
    (
        "notifications.api_key_creator_demoted",
        (organization_events.MEMBER_ROLE_CHANGED,),
        work.notify_of_demoted_creator,
    ),
):
    _register_handler(_name, _events, _notify)


@jobs.handler("notifications.post_due", queue="notifications", resumable=True, every=10)
def enqueue_due_emails(job: Job) -> None:
    """Close the notifications whose `open_until` has passed, and queue or postpone their emails."""
    mailing.enqueue_due_emails(job.checkpoint)


@jobs.handler("notifications.purge", queue="maintenance", resumable=True, every=3600)
def purge(job: Job) -> None:
    """Purge old notifications, and records of events whose jobs no longer exist."""
    purging.purge("notification_causes", OLD_CAUSES_CONDITION, job.checkpoint)
    days = {"days": container.settings().notification_retention_days}
    purging.purge("notifications", OLD_NOTIFICATIONS_CONDITION, job.checkpoint, days)
