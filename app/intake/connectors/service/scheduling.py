"""Crawl schedules for connectors: cron expressions in the organization's time zone."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from app.identity.organizations import service as organizations
from app.intake.connectors.models import AlertKind, Connector
from app.intake.connectors.queries import records
from app.intake.connectors.service import alerts
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import requests
from app.kit import cron, db, tenancy
from app.kit.errors import ApiError

MIN_INTERVAL = timedelta(minutes=5)
"""The minimum time between two scheduled crawls of a connector."""
MISSED_CRAWLS = 3
"""The number of consecutive scheduled crawls without success that make a connector stale."""
_BATCH_SIZE = 100


def check_schedule(schedule: str) -> str:
    """Validate a cron expression, and return it with single spaces. Raises 400 if it is invalid."""
    return cron.check_expression(schedule, field="schedule", min_interval=MIN_INTERVAL)


def compute_crawl_times(connector: Connector) -> tuple[datetime | None, datetime | None]:
    """Compute the time of the next crawl, and the time when the connector becomes stale.

    The connector becomes stale when the crawl after `MISSED_CRAWLS` unsuccessful crawls is due.
    Both times are None if the connector has no schedule or is disabled.
    """
    if connector.schedule is None or not connector.enabled:
        return None, None
    time_zone = organizations.get_time_zone(connector.organization_id)
    all_times = cron.iterate_times(connector.schedule, time_zone, db.utc_now())
    times = list(islice(all_times, MISSED_CRAWLS + 1))
    return (times[0], times[-1]) if times else (None, None)


def start_crawl(connector: Connector, created_by: UUID | None) -> IngestionJob:
    """Start a crawl of a locked connector: create the crawl job, and return it.

    Raises 409 `conflict` with `details.job_id` if another crawl of the connector is queued or
    running.
    """
    job = requests.create_crawl(connector.id, name=connector.name, created_by=created_by)
    records.set_state(connector.id, last_job_id=job.id)
    return job


def start_due_crawls() -> int:
    """Start a batch of due crawls in all organizations, and return how many crawls were due.

    A crawl is not started if the connector's previous crawl is still queued or running. Runs in the
    caller's transaction.
    """
    due_connectors = records.lock_due_connectors(_BATCH_SIZE)
    for connector in due_connectors:
        with tenancy.organization(connector.organization_id):
            next_crawl_at, _ = compute_crawl_times(connector)
            records.set_state(connector.id, next_crawl_at=next_crawl_at)
            with suppress(ApiError):  # The previous crawl is still queued or running.
                start_crawl(connector, None)
    return len(due_connectors)


def raise_stale_alerts() -> int:
    """Raise alerts for a batch of stale connectors in all organizations; return their number."""
    stale_connectors = records.lock_stale_connectors(_BATCH_SIZE)
    for connector in stale_connectors:
        with tenancy.organization(connector.organization_id):
            records.set_state(connector.id, stale_at=None)
            message = f"None of the last {MISSED_CRAWLS} scheduled crawls succeeded."
            alerts.raise_alert(connector, AlertKind.STALE, message, job_id=None)
    return len(stale_connectors)
