"""Crawl schedules of connectors: cron expressions in the organization's time zone."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from app.identity.organizations import service as organizations
from app.intake.connectors.models import Connector
from app.intake.connectors.queries import records
from app.intake.connectors.service import alerts
from app.intake.connectors.statuses import AlertKind
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.models import IngestionJob
from app.kit import cron, db, tenancy
from app.kit.errors import ApiError

MIN_INTERVAL = timedelta(minutes=5)
MISSED_CRAWLS = 3
"""The number of scheduled times without a successful crawl that makes a connector stale."""
_BATCH = 100


def check_schedule(schedule: str) -> str:
    """Return a cron expression with single spaces. Raises 400 on `schedule`."""
    return cron.check_expression(schedule, field="schedule", min_interval=MIN_INTERVAL)


def compute_crawl_times(connector: Connector) -> tuple[datetime | None, datetime | None]:
    """Return the time of the next crawl, and the time when the connector becomes stale.

    Both are None without a schedule, or if the connector is disabled.
    """
    if connector.schedule is None or not connector.enabled:
        return None, None
    time_zone = organizations.get_time_zone(connector.organization_id)
    all_times = cron.iterate_times(connector.schedule, time_zone, db.utc_now())
    times = list(islice(all_times, MISSED_CRAWLS))
    return (times[0], times[-1]) if times else (None, None)


def start_crawl(connector: Connector, created_by: UUID | None) -> IngestionJob:
    """Create the job that crawls a locked connector.

    Raises 409 `conflict` with `details.job_id` if another crawl of it is queued or running.
    """
    job = ingestion_jobs.create_crawl(connector.id, name=connector.name, created_by=created_by)
    records.set_state(connector.id, last_job_id=job.id)
    return job


def start_due_crawls() -> int:
    """Start a batch of due crawls in any organization, and return the size of the batch.

    A crawl is not started if the connector's previous crawl is still running. Runs in the caller's
    transaction.
    """
    due = records.lock_due(_BATCH)
    for connector in due:
        with tenancy.organization(connector.organization_id):
            next_crawl_at, _ = compute_crawl_times(connector)
            records.set_state(connector.id, next_crawl_at=next_crawl_at)
            with suppress(ApiError):
                start_crawl(connector, None)
    return len(due)


def raise_stale_alerts() -> int:
    """Raise alerts for a batch of stale connectors in any organization; return their number."""
    stale = records.lock_stale(_BATCH)
    for connector in stale:
        with tenancy.organization(connector.organization_id):
            records.set_state(connector.id, stale_at=None)
            message = f"The last {MISSED_CRAWLS} scheduled crawls brought no result."
            alerts.raise_alert(connector, AlertKind.STALE, message, job_id=None)
    return len(stale)
