"""Cleanup of pending deliveries after a webhook is deactivated or deleted.

Deactivating a webhook begins a new generation of the webhook: after the commit, its pending
deliveries (except tests) are outdated and are not attempted. The first batch of outdated deliveries
is abandoned in the same transaction, and a job abandons the remaining batches. Outdated deliveries
stay outdated when the webhook is activated again, because only later deliveries belong to the new
generation. If `jobs.claim` finds outdated deliveries, it enqueues the job again.
"""

from uuid import UUID

from app.delivery.webhooks.queries import backlog
from app.delivery.webhooks.queries.backlog import OutdatedWebhook
from app.kit import jobs, metrics
from app.kit.db import Checkpoint
from app.kit.logging import get_logger

log = get_logger(__name__)

ABANDON_JOB = "webhooks.abandon"
PURGE_JOB = "webhooks.purge"
FIRST_BATCH_SIZE = 1_000
"""The maximum number of deliveries that are abandoned or deleted without a job."""


def abandon_or_enqueue(
    organization_id: UUID, webhook_id: UUID, *, limit: int = FIRST_BATCH_SIZE
) -> int:
    """Abandon up to `limit` outdated deliveries of a webhook; enqueue a job if more may be left.

    Returns how many deliveries were abandoned.
    """
    abandoned_count = 0
    if limit > 0:
        for webhook in backlog.list_outdated_webhooks(organization_id, webhook_id):
            abandoned_count = backlog.abandon_batch(webhook, limit)
        metrics.DELIVERIES.labels("abandoned").inc(abandoned_count)
    if abandoned_count >= limit:
        enqueue_abandon_job(organization_id)
    return abandoned_count


def enqueue_abandon_job(organization_id: UUID) -> None:
    """Enqueue the job that abandons an organization's outdated deliveries.

    Does nothing if the job is already queued.
    """
    key = f"{ABANDON_JOB}:{organization_id}"
    jobs.enqueue(ABANDON_JOB, {}, organization_id=organization_id, unique_key=key)


def abandon_all(organization_id: UUID, checkpoint: Checkpoint) -> None:
    """Abandon all outdated deliveries of an organization; `checkpoint` commits each batch."""
    while webhooks := backlog.list_outdated_webhooks(organization_id):
        abandoned_count = sum(_abandon_deliveries(webhook, checkpoint) for webhook in webhooks)
        if not abandoned_count:
            # Other transactions have locked the remaining deliveries. If the deliveries stay
            # pending, the relay enqueues this job again.
            return


def abandon_webhook(organization_id: UUID, webhook_id: UUID, checkpoint: Checkpoint) -> None:
    """Abandon the outdated deliveries of one webhook; `checkpoint` commits each batch."""
    for webhook in backlog.list_outdated_webhooks(organization_id, webhook_id):
        _abandon_deliveries(webhook, checkpoint)


def _abandon_deliveries(webhook: OutdatedWebhook, checkpoint: Checkpoint) -> int:
    abandoned_count, outdated_count = 0, backlog.count_outdated_deliveries(webhook)
    try:
        while True:
            count = backlog.abandon_batch(webhook)
            abandoned_count += count
            checkpoint()
            if count < backlog.BATCH_SIZE:
                return abandoned_count
    finally:
        metrics.DELIVERIES.labels("abandoned").inc(abandoned_count)
        log.info(
            "webhook.backlog_abandoned",
            webhook=str(webhook.id),
            abandoned=abandoned_count,
            left=max(0, outdated_count - abandoned_count),
        )


def delete_or_enqueue(organization_id: UUID, webhook_id: UUID) -> bool:
    """Delete a batch of a webhook's deliveries, and enqueue a job if more may be left.

    Returns whether all deliveries were deleted.
    """
    if backlog.delete_batch(organization_id, webhook_id, FIRST_BATCH_SIZE) < FIRST_BATCH_SIZE:
        return True
    enqueue_purge(organization_id, webhook_id)
    return False


def enqueue_purge(organization_id: UUID, webhook_id: UUID) -> None:
    """Enqueue the job that deletes the deliveries and then the row of a deleted webhook."""
    args = {"webhook_id": str(webhook_id)}
    key = f"{PURGE_JOB}:{webhook_id}"
    jobs.enqueue(PURGE_JOB, args, organization_id=organization_id, unique_key=key)


def purge_webhook(organization_id: UUID, webhook_id: UUID, checkpoint: Checkpoint) -> None:
    """Purge a deleted webhook: delete its deliveries in batches, then its row."""
    deleted_count = 0
    try:
        count = backlog.BATCH_SIZE
        while count == backlog.BATCH_SIZE:
            count = backlog.delete_batch(organization_id, webhook_id)
            deleted_count += count
            checkpoint()
    finally:
        log.info("webhook.deliveries_deleted", webhook=str(webhook_id), deleted=deleted_count)
    backlog.delete_webhook(organization_id, webhook_id)
