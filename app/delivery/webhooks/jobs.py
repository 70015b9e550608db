"""Jobs for webhooks, and the registration of the dispatcher with the background processes."""

from collections.abc import Sequence
from threading import Lock
from typing import Any
from uuid import UUID

from flask import Flask
from flask.globals import app_ctx

from app.delivery.webhooks import abandoning, fanout, replaying
from app.delivery.webhooks.catalog import SUBSCRIBABLE
from app.delivery.webhooks.dispatcher import QUEUE, Dispatcher
from app.delivery.webhooks.queries import backlog, due, maintenance
from app.identity.organizations import emitted_events as organization_events
from app.kit import container, jobs, purging
from app.kit.events import EventName
from app.kit.jobs import Job, handlers
from app.kit.logging import get_logger
from app.kit.secrets import DecryptionFailed

log = get_logger(__name__)

_DAY_SECONDS = 86_400
_dispatcher_lock = Lock()
_dispatcher: Dispatcher | None = None
_finder = due.DueWebhookFinder()


# There is no maximum number of attempts, because an event must never be dropped.
@jobs.handler(
    "webhooks.fan_out",
    queue="fanout",
    events=[EventName(name) for name in SUBSCRIBABLE],
    batch=True,
    max_attempts=None,
)
def fan_out(batch: Sequence[Job]) -> None:
    """Fan out a batch of events in one organization: create their deliveries."""
    fanout.fan_out(
        [
            fanout.Event(
                job.args["event_id"],
                job.args["name"],
                job.args["data"],
                job.request_id,
                job.created_at,
            )
            for job in batch
        ]
    )


@jobs.handler("webhooks.end", queue="bulk", events=(organization_events.CLOSED,))
def handle_organization_closed(job: Job) -> None:
    """Make a closed organization's pending deliveries outdated, and enqueue their abandonment."""
    assert job.organization_id is not None
    if backlog.begin_generation(job.organization_id):
        abandoning.enqueue_abandon_job(job.organization_id)


@jobs.handler(abandoning.ABANDON_JOB, queue="bulk", resumable=True)
def abandon(job: Job) -> None:
    """Abandon the outdated deliveries of an organization."""
    assert job.organization_id is not None
    abandoning.abandon_all(job.organization_id, job.checkpoint)


@jobs.handler(abandoning.PURGE_JOB, queue="bulk", resumable=True)
def purge(job: Job) -> None:
    """Purge a deleted webhook: delete its deliveries, then its row."""
    assert job.organization_id is not None
    abandoning.purge_webhook(job.organization_id, UUID(job.args["webhook_id"]), job.checkpoint)


def _fail_replay(job: Job, _error: str) -> None:
    replaying.fail_replay(UUID(job.args["webhook_id"]), job.args["replay_id"])


@jobs.handler(
    replaying.REPLAY_JOB, queue="bulk", resumable=True, on_failure=_fail_replay, retryable=False
)
def replay(job: Job) -> None:
    """Replay the deliveries that a replay request selects, in batches."""
    assert job.organization_id is not None
    webhook_id = UUID(job.args["webhook_id"])
    replaying.run_replay(job.organization_id, webhook_id, job.args["replay_id"], job.checkpoint)


@jobs.handler("webhooks.tidy", queue="maintenance", resumable=True, every=_DAY_SECONDS)
def clean_up(job: Job) -> None:
    """Delete old deliveries and secrets, enqueue purges of webhooks, and re-encrypt secrets."""
    maintenance.delete_expired_secrets()
    for organization_id, webhook_id in backlog.list_deleted_webhooks():
        abandoning.enqueue_purge(organization_id, webhook_id)
    job.checkpoint()
    webhooks = maintenance.list_secrets(None)
    while webhooks:
        _reencrypt_secrets(webhooks)
        job.checkpoint()
        webhooks = maintenance.list_secrets(webhooks[-1])
    purging.purge("webhook_deliveries", maintenance.OLD_DELIVERIES, job.checkpoint)


def _reencrypt_secrets(webhooks: Sequence[maintenance.EncryptedSecrets]) -> None:
    """Re-encrypt secrets with the keyring's first key if they are encrypted with another key."""
    keyring = container.keyring()
    for webhook in webhooks:
        for token in (webhook.secret, webhook.previous_secret):
            try:
                if token is not None and keyring.needs_rotation(token):
                    maintenance.replace_secret(webhook, token, keyring.rotate(token))
            except DecryptionFailed:
                log.warning("webhook.secret_unreadable", webhook=str(webhook.id))


def claim() -> handlers.Batches:
    """Return one empty batch, which wakes a dispatcher, or no batch if no delivery is due.

    Also enqueues jobs that abandon outdated pending deliveries, because a deactivation does not see
    deliveries that are created at the same time.
    """
    webhooks = _finder.search_once()
    for organization_id in {webhook.organization_id for webhook in webhooks if webhook.outdated}:
        abandoning.enqueue_abandon_job(organization_id)
    return [[]] if any(webhook.due for webhook in webhooks) else []


def accept(batch: list[Any]) -> None:  # noqa: ARG001 - the batches of `claim` are empty
    """Accept a batch from the queue: wake this process's dispatcher, starting it if necessary.

    Queued messages contain the name of this function.
    """
    start(app_ctx.app).wake()


def start(app: Flask) -> Dispatcher:
    """Start this process's dispatcher if it is not running, and return it."""
    global _dispatcher  # noqa: PLW0603 - one per process
    with _dispatcher_lock:
        if _dispatcher is None:
            _dispatcher = Dispatcher(app)
            _dispatcher.start()
        return _dispatcher


def stop(timeout: float) -> None:
    """Stop this process's dispatcher within `timeout` seconds.

    A later call of `start` creates a new dispatcher.
    """
    global _dispatcher
    with _dispatcher_lock:
        dispatcher, _dispatcher = _dispatcher, None
    if dispatcher is not None:
        dispatcher.stop(timeout)


def wait_until_handled(timeout: float) -> bool:
    """Wait up to `timeout` seconds until all due deliveries are sent and recorded.

    Returns False on a timeout.
    """
    return _dispatcher is None or _dispatcher.wait_until_idle(timeout)


handlers.SOURCES.append(
    handlers.DueSource(
        name="webhooks",
        queue=QUEUE,
        function=f"{__name__}.{accept.__name__}",
        claim=claim,
        start=start,
        stop=stop,
        wait_until_handled=wait_until_handled,
        measure_backlog=due.measure_backlog,
    )
)
