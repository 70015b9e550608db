"""Abandons the pending deliveries of webhooks that were deactivated, and deletes those of deleted
ones, in batches.

Whoever deactivates a webhook begins a new generation of it: from the commit on, what was pending is
outdated and nobody attempts it. The first batch is abandoned in the same transaction, the rest by a
job. Activating the webhook again changes nothing about that: what comes then is of the new
generation. Deliveries that become outdated unnoticed are found by the relay (`jobs.claim`).
"""

from collections.abc import Callable
from uuid import UUID

from app.delivery.webhooks.queries import backlog
from app.delivery.webhooks.queries.backlog import OutdatedWebhook
from app.kit import jobs, metrics
from app.kit.logging import get_logger

log = get_logger(__name__)

ABANDON = "webhooks.abandon"
PURGE = "webhooks.purge"
FIRST_BATCH = 1_000
"""So many deliveries are abandoned, or deleted, in the transaction that makes it necessary."""

Checkpoint = Callable[[], None]


def begin(organization_id: UUID, webhook_id: UUID, *, limit: int = FIRST_BATCH) -> int:
    """Abandon up to `limit` outdated deliveries of a webhook, and have a job abandon the rest.

    Returns:
        How many were abandoned.
    """
    abandoned = 0
    if limit > 0:
        for webhook in backlog.list_outdated(organization_id, webhook_id):
            abandoned = backlog.abandon_batch(webhook, limit)
        metrics.DELIVERIES.labels("abandoned").inc(abandoned)
    if abandoned >= limit:
        enqueue(organization_id)
    return abandoned


def enqueue(organization_id: UUID) -> None:
    """Have a job abandon the outdated deliveries of an organization, unless there is such a job."""
    key = f"{ABANDON}:{organization_id}"
    jobs.enqueue(ABANDON, {}, organization_id=organization_id, unique_key=key)


def run(organization_id: UUID, checkpoint: Checkpoint) -> None:
    """Abandon all outdated deliveries of an organization; `checkpoint` commits a batch."""
    while found := backlog.list_outdated(organization_id):
        abandoned = sum(_abandon(webhook, checkpoint) for webhook in found)
        if not abandoned:
            # Others have the rest locked; the relay will see what is left of it.
            return


def _abandon(webhook: OutdatedWebhook, checkpoint: Checkpoint) -> int:
    abandoned, left = 0, backlog.count_left(webhook)
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
            left=max(0, left - abandoned),
        )


def delete_or_enqueue(organization_id: UUID, webhook_id: UUID) -> bool:
    """Delete the deliveries of a webhook if they are few, else have a job delete them.

    Returns:
        Whether they are deleted.
    """
    if backlog.delete_batch(organization_id, webhook_id, FIRST_BATCH) < FIRST_BATCH:
        return True
    enqueue_purge(organization_id, webhook_id)
    return False


def enqueue_purge(organization_id: UUID, webhook_id: UUID) -> None:
    """Have a job delete a webhook that users have deleted, with its deliveries."""
    args = {"webhook_id": str(webhook_id)}
    key = f"{PURGE}:{webhook_id}"
    jobs.enqueue(PURGE, args, organization_id=organization_id, unique_key=key)


def purge(organization_id: UUID, webhook_id: UUID, checkpoint: Checkpoint) -> None:
    """Delete the deliveries of a deleted webhook in batches, then its row."""
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
