"""Abandoned deliveries of deactivated webhooks, and deleted deliveries of deleted webhooks.

Deactivating a webhook begins a new generation of the webhook: from the commit on, its pending
deliveries are outdated and are not attempted. The first batch is abandoned in the same transaction,
and a job abandons the rest. Outdated deliveries stay outdated when the webhook is activated again:
later deliveries belong to the new generation. The relay finds deliveries that became outdated
unnoticed (`jobs.claim`).
"""

from collections.abc import Callable
from uuid import UUID

from app.delivery.webhooks.queries import backlog
from app.delivery.webhooks.queries.backlog import OutdatedWebhook
from app.kit import jobs, metrics
from app.kit.logging import get_logger

log = get_logger(__name__)

ABANDON_JOB = "webhooks.abandon"
PURGE_JOB = "webhooks.purge"
FIRST_BATCH = 1_000
"""The maximum number of deliveries that the transaction of a deactivation or deletion changes."""

Checkpoint = Callable[[], None]


def abandon_or_enqueue(organization_id: UUID, webhook_id: UUID, *, limit: int = FIRST_BATCH) -> int:
    """Abandon up to `limit` outdated deliveries of a webhook and enqueue a job for the rest.

    Returns the number of abandoned deliveries.
    """
    abandoned = 0
    if limit > 0:
        for webhook in backlog.list_outdated_webhooks(organization_id, webhook_id):
            abandoned = backlog.abandon_batch(webhook, limit)
        metrics.DELIVERIES.labels("abandoned").inc(abandoned)
    if abandoned >= limit:
        enqueue_abandoning(organization_id)
    return abandoned


def enqueue_abandoning(organization_id: UUID) -> None:
    """Enqueue the job that abandons an organization's outdated deliveries, unless it is queued."""
    key = f"{ABANDON_JOB}:{organization_id}"
    jobs.enqueue(ABANDON_JOB, {}, organization_id=organization_id, unique_key=key)


def abandon_all(organization_id: UUID, checkpoint: Checkpoint) -> None:
    """Abandon all outdated deliveries of an organization; `checkpoint` commits each batch."""
    while webhooks := backlog.list_outdated_webhooks(organization_id):
        abandoned = sum(_abandon(webhook, checkpoint) for webhook in webhooks)
        if not abandoned:
            # Other transactions have locked the rest; the relay finds those that stay outdated.
            return


def abandon_webhook(organization_id: UUID, webhook_id: UUID, checkpoint: Checkpoint) -> None:
    """Abandon the outdated deliveries of one webhook; `checkpoint` commits each batch."""
    for webhook in backlog.list_outdated_webhooks(organization_id, webhook_id):
        _abandon(webhook, checkpoint)


def _abandon(webhook: OutdatedWebhook, checkpoint: Checkpoint) -> int:
    abandoned, outdated_count = 0, backlog.count_outdated(webhook)
    try:
        while True:
            count = backlog.abandon_batch(webhook)
            abandoned += count
            checkpoint()
            if count < backlog.BATCH:
                return abandoned
    finally:
        metrics.DELIVERIES.labels("abandoned").inc(abandoned)
        log.info(
            "webhook.backlog_abandoned",
            webhook=str(webhook.id),
            abandoned=abandoned,
            left=max(0, outdated_count - abandoned),
        )


def delete_or_enqueue(organization_id: UUID, webhook_id: UUID) -> bool:
    """Delete a batch of a webhook's deliveries; return False if a job must delete the rest."""
    if backlog.delete_batch(organization_id, webhook_id, FIRST_BATCH) < FIRST_BATCH:
        return True
    enqueue_purge(organization_id, webhook_id)
    return False


def enqueue_purge(organization_id: UUID, webhook_id: UUID) -> None:
    """Enqueue the job that purges a webhook deleted by users, with its deliveries."""
    args = {"webhook_id": str(webhook_id)}
    key = f"{PURGE_JOB}:{webhook_id}"
    jobs.enqueue(PURGE_JOB, args, organization_id=organization_id, unique_key=key)


def purge_webhook(organization_id: UUID, webhook_id: UUID, checkpoint: Checkpoint) -> None:
    """Delete the deliveries of a deleted webhook in batches, then the webhook's row."""
    deleted = 0
    try:
        count = backlog.BATCH
        while count == backlog.BATCH:
            count = backlog.delete_batch(organization_id, webhook_id)
            deleted += count
            checkpoint()
    finally:
        log.info("webhook.deliveries_deleted", webhook=str(webhook_id), deleted=deleted)
    backlog.delete_webhook(organization_id, webhook_id)
