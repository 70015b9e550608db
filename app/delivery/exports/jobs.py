"""Jobs that write export files and delete expired ones."""

from collections.abc import Callable
from time import monotonic
from typing import Any, BinaryIO, cast
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.exports.queries import records, rows
from app.delivery.exports.service import running
from app.delivery.exports.service.manifests import Written
from app.engines.formats import FORMATS, merge_fields
from app.kit import container, jobs, purging, watermarks
from app.kit.jobs import Job, Retry
from app.kit.storage import Staged

REPORT_SECONDS = 1.0
EXPIRE_EVERY = 600
REMOVED_LONG_AGO = "removed_at < now() - interval '400 days'"
_DAY_SECONDS = 86_400


class _ExportEnded(Exception):  # noqa: N818 - a signal, not an error
    """Signals that the export was ended by something else while it ran."""


def _get_export_id(job: Job) -> UUID:
    return UUID(job.args["data"]["job_id"])


def _fail_export(job: Job, error: str) -> None:
    running.fail(_get_export_id(job), error)


def _reopen_export(args: dict[str, Any]) -> None:
    running.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "exports.run",
    queue="exports",
    listens=("export.requested",),
    on_failure=_fail_export,
    on_retry=_reopen_export,
)
def run_export(job: Job) -> None:
    """Write an export's file.

    A repeated run starts again from the beginning. Does nothing when the export is already over.
    """
    container.current().reserve.check()
    export = running.start(_get_export_id(job))
    if export is None:
        return
    job.checkpoint()
    try:
        _wait_for_period(job, export)
        with container.current().storage.stage() as staged:
            written = _write(
                staged, export, lambda done, total: _report_progress(job, export.id, done, total)
            )
            running.complete(job, export.id, staged, written)
    except _ExportEnded:
        return


def _wait_for_period(job: Job, export: Export) -> None:
    """Wait until no open transaction can add tag sets to the period of the export."""
    if export.filter["created_before"] is None and export.filter["decided_before"] is None:
        return

    def check() -> None:
        job.checkpoint()
        if not records.is_running(export.id):
            raise _ExportEnded

    try:
        watermarks.wait_for_commits(check)
    except watermarks.StillCommitting:
        raise Retry("transactions of the export period have not ended for minutes") from None


def _report_progress(job: Job, export_id: UUID, done: int, total: int) -> None:
    if not records.update_progress(export_id, done=done, total=total):
        raise _ExportEnded
    job.checkpoint()


def _write(staged: Staged, export: Export, report: Callable[[int, int], None]) -> Written:
    """Write every row to the staged file, and return what was written.

    Calls `report` with the progress at most once per `REPORT_SECONDS`.
    """
    with rows.open_snapshot(export.filter, export.include) as snapshot:
        fields = merge_fields([version.fields for version in snapshot.versions])
        # Writers only call `write`; a staged file does not implement the rest of BinaryIO.
        writer = FORMATS[export.format].writer(cast("BinaryIO", staged), fields, export.options)
        report(0, snapshot.total)
        due = monotonic() + REPORT_SECONDS

        def receive(piece: bytes, *, is_last: bool) -> None:
            nonlocal due
            writer.write_piece(piece, is_last=is_last)
            if monotonic() >= due:
                report(min(writer.rows, snapshot.total), snapshot.total)
                due = monotonic() + REPORT_SECONDS

        snapshot.copy(receive)
        writer.close()
        return Written(writer.rows, snapshot.removed, snapshot.at, snapshot.versions)


@jobs.handler("exports.expire", queue="maintenance", resumable=True)
def delete_expired_files(job: Job) -> None:
    """Delete expired export files."""
    while running.delete_expired_files():
        job.checkpoint()


@jobs.handler("exports.forget_removed", queue="maintenance", resumable=True)
def forget_removed(job: Job) -> None:
    """Delete the records of tag sets that were removed long ago."""
    purging.purge("removed_tag_sets", REMOVED_LONG_AGO, job.checkpoint)


jobs.periodic("exports.expire", every=EXPIRE_EVERY)
jobs.periodic("exports.forget_removed", every=_DAY_SECONDS)
