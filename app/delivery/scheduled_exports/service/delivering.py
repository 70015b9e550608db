"""Delivery of the files of scheduled exports to their destinations."""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

import orjson

from app.delivery.exports.models import Export
from app.delivery.scheduled_exports import emitted_events
from app.delivery.scheduled_exports.models import (
    CANCELLED_CODE,
    DeliveryStatus,
    ScheduledExport,
    ScheduledRun,
)
from app.delivery.scheduled_exports.queries import records, runs
from app.delivery.scheduled_exports.service import destinations, periods
from app.delivery.scheduled_exports.service.describing import is_cancelled
from app.engines.destinations.model import OutgoingFile
from app.engines.formats import FORMATS
from app.engines.sources.model import HostError
from app.kit import container, db, events, jobs
from app.kit.jobs import Job, LostLease, Retry
from app.kit.storage import NotStored

DELIVER_JOB = "scheduled_exports.deliver"
"""The name of the job that delivers the file of a run."""
_DELIVERY_ERROR = {
    "code": "internal_error",
    "message": "The file could not be delivered after several attempts.",
}
_EXPIRED_ERROR = {"code": "expired", "message": "The file has expired. Retry the export."}
_COVERED_ERROR = {
    "code": "already_delivered",
    "message": "A later run covers this period, so this file was not delivered.",
}
_CANCELLED_ERROR = {"code": CANCELLED_CODE, "message": "The delivery was cancelled."}
_UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9]+")
_MAX_SLUG_LENGTH = 80
_ID_DIGITS = 8


class _DeliveryEnded(Exception):  # noqa: N818 - a signal, not an error
    """Signals that the delivery has ended or the run was deleted while a file was being sent."""


class _LockedRun(NamedTuple):
    """A locked run with its locked scheduled export and its export job."""

    run: ScheduledRun
    scheduled_export: ScheduledExport
    export: Export


def finish_run_or_enqueue_delivery(job_id: UUID) -> None:
    """Finish a run whose file is only for download, or queue the delivery of the file.

    If the file must not be sent, the delivery fails (see `_lock_run_to_send`). Delivery jobs
    connect to other hosts, so they wait while `OUTBOUND` is switched off.
    """
    locked_run = _lock_run_to_send(job_id)
    if locked_run is None:
        return
    jobs.enqueue(
        DELIVER_JOB,
        {"job_id": str(job_id)},
        organization_id=locked_run.run.organization_id,
        unique_key=f"{DELIVER_JOB}:{job_id}",
    )


def deliver(job: Job, job_id: UUID) -> None:
    """Deliver the file of a run whose export has completed, and mark the run as delivered.

    A repeated delivery replaces the file of the same name. The delivery fails if the file has
    expired or must not be sent (see `_lock_run_to_send`). Raises Retry if sending failed, and
    LostLease if another attempt holds the lease.
    """
    locked_run = _lock_run_to_send(job_id)
    if locked_run is None:
        return
    kind, files = locked_run.scheduled_export.destination, _build_outgoing_files(locked_run)
    try:
        settings = destinations.read_settings(locked_run.scheduled_export)
        # The host may be slow, so no transaction stays open during the delivery.
        job.checkpoint()
        location = _send_files(
            kind, settings, files, lambda size: _report_progress(job, job_id, size)
        )
    except _DeliveryEnded:
        return
    except HostError as problem:
        _record_problem(job, job_id, problem)
    except NotStored:
        _lock_lease(job)
        fail(job_id, _EXPIRED_ERROR)
        return
    _lock_lease(job)
    locked_run = _lock_pending_run(job_id)
    if locked_run is not None:
        locked_run.run.sent_bytes = files[0].size
        _mark_as_delivered(locked_run, location)


def _lock_run_to_send(job_id: UUID) -> _LockedRun | None:
    """Lock and return a run whose file must be sent to its destination.

    Returns None if the delivery is not pending, or if this call ends it. The delivery fails if the
    organization is closed, or if a later run covers the period. It succeeds without being sent if
    the file is only for download.
    """
    locked_run = _lock_pending_run(job_id)
    if locked_run is None:
        return None
    if records.is_organization_closed():
        _mark_as_failed(locked_run.run, _CANCELLED_ERROR)
    elif _is_covered(locked_run):
        _fail(locked_run, _COVERED_ERROR)
    elif locked_run.scheduled_export.destination == destinations.DOWNLOAD:
        _mark_as_delivered(locked_run, locked_run.export.download_path)
    else:
        return locked_run
    return None


def fail(job_id: UUID, error: dict[str, Any] | None = None) -> None:
    """Mark a pending delivery as failed, with `error` or the last recorded error as the reason.

    Emits `scheduled_export.delivery_failed`.
    """
    locked_run = _lock_pending_run(job_id)
    if locked_run is not None:
        _fail(locked_run, error or locked_run.run.delivery_error or _DELIVERY_ERROR)


def _fail(locked_run: _LockedRun, error: dict[str, Any]) -> None:
    _mark_as_failed(locked_run.run, error)
    events.emit(
        emitted_events.DELIVERY_FAILED,
        emitted_events.DeliveryFailedPayload(
            scheduled_export_id=locked_run.scheduled_export.id,
            job_id=locked_run.run.job_id,
            name=locked_run.scheduled_export.name,
            error=error,
            created_by=locked_run.export.created_by,
        ),
    )


def cancel(job_id: UUID) -> bool:
    """Cancel the pending delivery of a completed run; return False if it has none.

    A worker that is sending the file stops within about a second. The file can still be downloaded,
    and the next incremental run covers the period again.
    """
    locked_run = _lock_pending_run(job_id)
    if locked_run is None:
        return False
    _mark_as_failed(locked_run.run, _CANCELLED_ERROR)
    return True


def reopen(job_id: UUID) -> None:
    """Reopen a failed delivery: make it pending again, because its job or export is retried.

    A delivery that was cancelled stays cancelled.
    """
    locked_run = _lock_run(job_id)
    if locked_run is None or is_cancelled(locked_run.run):
        return
    if locked_run.run.delivery_status == DeliveryStatus.FAILED:
        locked_run.run.delivery_status = DeliveryStatus.PENDING.value
        locked_run.run.delivery_error = None


def _lock_pending_run(job_id: UUID) -> _LockedRun | None:
    """Lock and return a run, or return None if its delivery is not pending."""
    locked_run = _lock_run(job_id)
    is_pending = locked_run is not None and locked_run.run.delivery_status == DeliveryStatus.PENDING
    return locked_run if is_pending else None


def _lock_run(job_id: UUID) -> _LockedRun | None:
    """Lock a run and return it, or None if it was deleted.

    The scheduled export is locked first, in the same order as in a deletion.
    """
    row = runs.get(job_id)
    scheduled_export = None if row is None else records.get(row.run.scheduled_export_id, lock=True)
    run = None if scheduled_export is None else runs.lock(job_id)
    if row is None or scheduled_export is None or run is None:
        return None
    return _LockedRun(run, scheduled_export, row.job)


def _mark_as_failed(run: ScheduledRun, error: dict[str, Any]) -> None:
    run.delivery_status = DeliveryStatus.FAILED.value
    run.delivery_error = error


def _mark_as_delivered(locked_run: _LockedRun, location: str | None) -> None:
    run, scheduled_export, export = locked_run
    run.delivery_status = DeliveryStatus.DELIVERED.value
    run.delivery_error = None
    run.delivered_at = db.utc_now()
    run.delivered_to = location
    if run.covers_until is not None and periods.has_current_settings(scheduled_export, export):
        now = records.get_transaction_time()
        until = periods.compute_exported_until(scheduled_export, run, now)
        records.set_state(scheduled_export.id, exported_until=until)


def _is_covered(locked_run: _LockedRun) -> bool:
    """Return whether a later incremental run has delivered, or will deliver, the run's period."""
    run, until = locked_run.run, locked_run.scheduled_export.exported_until
    if run.covers_until is None:
        return False
    # An `until` in the future was set while the clock was wrong.
    is_delivered = until is not None and run.covers_until <= until <= records.get_transaction_time()
    return is_delivered or records.has_unfinished_covering_run(run)


def _send_files(
    kind: str, settings: dict[str, Any], files: list[OutgoingFile], report: Callable[[int], None]
) -> str:
    """Send the files, and return the location of the first file.

    Raises HostError if a file cannot be sent.
    """
    with closing(destinations.open_destination(kind, settings)) as destination:
        location = destination.send(files[0], report)
        for file in files[1:]:
            destination.send(file, lambda _sent: None)
        return location


def _report_progress(job: Job, job_id: UUID, sent_bytes: int) -> None:
    if not runs.set_sent_bytes(job_id, sent_bytes):
        raise _DeliveryEnded
    job.checkpoint()


def _lock_lease(job: Job) -> None:
    if not job.lock_lease():
        raise LostLease


def _record_problem(job: Job, job_id: UUID, problem: HostError) -> NoReturn:
    """Record the problem that made a delivery fail, and raise Retry.

    Every delivery is retried, because wrong permissions, full disks and wrong addresses are often
    fixed within minutes.
    """
    _lock_lease(job)
    locked_run = _lock_pending_run(job_id)
    if locked_run is not None:
        locked_run.run.delivery_error = {"code": problem.kind.value, "message": problem.message}
    job.checkpoint()
    raise Retry(f"{problem.kind.value}: {problem.message}")


def _build_outgoing_files(locked_run: _LockedRun) -> list[OutgoingFile]:
    """Build the files to send: the file of an export, and its manifest.

    The file names contain a part of the job's id, because several scheduled exports may have the
    same name and due time, and send their files to the same place. The manifest is omitted for
    HTTP, where it could replace the export's file at the same URL.
    """
    run, scheduled_export, export = locked_run
    format_ = FORMATS[export.format]
    at = (run.due_at or run.created_at).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    slug = _UNSAFE_CHARS.sub("-", scheduled_export.name).strip("-")
    slug = slug[:_MAX_SLUG_LENGTH].lower() or "export"
    # The last digits of a UUIDv7 are random.
    name = f"{slug}-{at}-{run.job_id.hex[-_ID_DIGITS:]}"
    key, size, sha256 = export.storage_key, export.size_bytes, export.sha256
    assert size is not None, "the completed export has no file size"
    assert sha256 is not None

    def read() -> Iterator[bytes]:
        if key is None:
            raise NotStored(str(export.id))
        yield from container.current().storage.stream(key)

    file = OutgoingFile(f"{name}.{format_.extension}", format_.media_type, size, sha256, read)
    if scheduled_export.destination == "http":
        return [file]
    return [file, _build_manifest_file(f"{name}.manifest.json", export)]


def _build_manifest_file(name: str, export: Export) -> OutgoingFile:
    content = orjson.dumps(export.manifest, option=orjson.OPT_INDENT_2)
    digest = hashlib.sha256(content).hexdigest()
    return OutgoingFile(name, "application/json", len(content), digest, lambda: iter([content]))
