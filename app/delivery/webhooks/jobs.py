"""From events to deliveries, and the deliverer's place among the processes."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

from flask import Flask, current_app

from app.delivery.webhooks import fanout
from app.delivery.webhooks.catalogue import SUBSCRIBABLE
from app.delivery.webhooks.dispatcher import Dispatcher
from app.delivery.webhooks.queries import leases, outcomes, upkeep
from app.kit import container, jobs, metrics
from app.kit.jobs import Job, handlers
from app.kit.logging import get_logger
from app.kit.secrets import DecryptionFailed

log = get_logger(__name__)

QUEUE = "webhooks"
BATCH = 64
_DAY_SECONDS = 86_400
_lock = Lock()
_dispatcher: Dispatcher | None = None


# An event is never dropped: however often this fails, it is tried again.
@jobs.handler(
    "webhooks.fan_out", queue="fanout", listens=SUBSCRIBABLE, batch=True, max_attempts=None
)
def fan_out(batch: Sequence[Job]) -> None:
    """Give each event of one organization to every active webhook that subscribes to it."""
    fanout.fan_out(
        [
            fanout.Happened(
                job.args["event_id"],
                job.args["name"],
                job.args["data"],
                job.request_id,
                job.created_at,
            )
            for job in batch
        ]
    )


@jobs.handler("webhooks.end", queue="bulk", listens=("organization.closed",))
def end(job: Job) -> None:
    """Give up what waits for the receivers of an organization that was closed."""
    assert job.organization_id is not None
    outcomes.abandon(job.organization_id)


@jobs.handler("webhooks.tidy", queue="maintenance", resumable=True)
def tidy(job: Job) -> None:
    """Forget old deliveries and secrets; encrypt anew what an older key had encrypted."""
    upkeep.forget_secrets()
    job.checkpoint()
    found = upkeep.sealed(None)
    while found:
        _reseal(found)
        job.checkpoint()
        found = upkeep.sealed(found[-1])
    while upkeep.purge():
        job.checkpoint()


def _reseal(webhooks: Sequence[upkeep.Sealed]) -> None:
    """Encrypt secrets with the first key where another one had encrypted them."""
    keyring = container.keyring()
    for webhook in webhooks:
        for token in (webhook.secret, webhook.previous_secret):
            try:
                if token is not None and keyring.needs_rotation(token):
                    upkeep.reseal(webhook, token, keyring.rotate(token))
            except DecryptionFailed:
                log.warning("webhook.secret_unreadable", webhook=str(webhook.id))


jobs.periodic("webhooks.tidy", every=_DAY_SECONDS)


def claim() -> handlers.Claims:
    """Claim what is due, for the relay: batches as `Dispatcher.accept` takes them."""
    claimed = leases.claim()
    expired = sum(claim.expired for claim in claimed)
    if expired:
        metrics.LEASE_EXPIRIES.labels(QUEUE).inc(expired)
    rows = [
        [str(c.organization_id), str(c.webhook_id), c.failures, str(c.id), str(c.lease_token)]
        for c in claimed
    ]
    return [rows[i : i + BATCH] for i in range(0, len(rows), BATCH)]


def accept(batch: list[list[Any]]) -> None:
    """Hand claimed deliveries to this process's dispatcher. RQ calls this by name."""
    app: Any = current_app
    start(app._get_current_object()).accept(batch)  # noqa: SLF001 - Flask's documented way


def start(app: Flask) -> Dispatcher:
    """This process's dispatcher; it is made on the first call."""
    global _dispatcher  # noqa: PLW0603 - one per process
    with _lock:
        if _dispatcher is None:
            _dispatcher = Dispatcher(app)
            _dispatcher.start()
        return _dispatcher


def stop(timeout: float) -> None:
    """End this process's dispatcher within `timeout` seconds; a later `start` makes a new one."""
    global _dispatcher
    with _lock:
        ending, _dispatcher = _dispatcher, None
    if ending is not None:
        ending.stop(timeout)


def drain(timeout: float) -> bool:
    """Wait until this process has sent and recorded all it accepted; False when out of time."""
    return _dispatcher is None or _dispatcher.settle(timeout)


handlers.SOURCES.append(
    handlers.DueSource(
        name="webhooks",
        queue=QUEUE,
        function=f"{__name__}.{accept.__name__}",
        claim=claim,
        start=start,
        stop=stop,
        settle=drain,
        depth=leases.depth,
    )
)
