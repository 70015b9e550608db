"""Jobs that write export files, delete obsolete files, and purge old removal records."""

from contextlib import ExitStack, closing
from time import monotonic
from typing import Any, BinaryIO, cast
from uuid import UUID

from app.delivery.exports import emitted_events
from app.delivery.exports.models import Export
from app.delivery.exports.queries import records, rows
from app.delivery.exports.service import running
from app.delivery.exports.service.manifests import RunResult
from app.delivery.exports.service.sources import DocumentSource
from app.engines.formats import FORMATS
from app.engines.formats.labels import merge_fields
from app.engines.formats.model import TooManyColumnsError, Writer
from app.engines.formats.processes import ProcessWriter
from app.kit import container, jobs, purging, watermarks
from app.kit.db import ReportProgress
from app.kit.jobs import Job, Retry
from app.kit.storage import StagedFile

REPORT_SECONDS = 1.0
EXPIRE_INTERVAL_SECONDS = 600
OLD_REMOVALS_CONDITION = "removed_at < now() - interval '400 days'"
"""The SQL condition for the `RemovedTagSet` records to purge."""
_DAY_SECONDS = 86_400


class _ExportEnded(Exception):  # noqa: N818 - a signal, not an error
    """Signals that the export was cancelled or failed during its run."""


def _get_export_id(args: dict[str, Any]) -> UUID:
    return UUID(args["data"]["job_id"])


@jobs.handler(
    "exports.run",
    queue="exports",
    events=(emitted_events.REQUESTED,),
    on_failure=lambda job, error: running.fail(_get_export_id(job.args), error),
    on_retry=lambda args: running.reopen(_get_export_id(args)),
)
def run_export(job: Job) -> None:
    """Run an export: write its tag sets to a file, and complete the export.

    A repeated run starts again from the beginning. Does nothing if the export has already ended.
    If the file would have more columns than its format allows, the export fails without a retry.
    """
    container.current().reserve.check()
    export = running.start(_get_export_id(job.args))
    if export is None:
        return
    job.checkpoint()
    try:
        _wait_for_commits(job, export)
        with container.current().storage.stage() as staged_file:
            result = _write_file(
                staged_file,
                export,
                lambda done, total: _report_progress(job, export.id, done, total),
            )
            running.complete(job, export.id, staged_file, result)
    except TooManyColumnsError as failure:
        # Another attempt would fail as well.
        running.fail(export.id, type(failure).__name__)
    except _ExportEnded:
        return


def _wait_for_commits(job: Job, export: Export) -> None:
    """Wait for transactions that are committing and may add tag sets to the export's period.

    Does nothing if the export has no period. Raises Retry if a commit takes minutes, and
    _ExportEnded if the export was cancelled or has failed in the meantime.
    """
    if export.filter["created_before"] is None and export.filter["decided_before"] is None:
        return

    def raise_if_ended() -> None:
        job.checkpoint()
        if not records.is_running(export.id):
            raise _ExportEnded

    try:
        watermarks.wait_for_commits(raise_if_ended)
    except watermarks.StillCommitting:
        raise Retry("a transaction in the export period has been committing for minutes") from None


def _report_progress(job: Job, export_id: UUID, done: int, total: int) -> None:
    if not records.update_progress(export_id, done=done, total=total):
        raise _ExportEnded
    job.checkpoint()


class _ProgressReporter:
    """Passes the progress of an export to `report`, at most once every `REPORT_SECONDS`."""

    def __init__(self, report: ReportProgress, total: int) -> None:
        self._report = report
        self._total = total
        self._next_report_at = 0.0
        self.done = 0

    def report_if_due(self) -> None:
        """Report the progress if the last report is at least `REPORT_SECONDS` old."""
        if monotonic() >= self._next_report_at:
            self._report(self.done, self._total)
            self._next_report_at = monotonic() + REPORT_SECONDS


def _write_file(staged_file: StagedFile, export: Export, report: ReportProgress) -> RunResult:
    """Write every row to the staged file, and return a summary of the run."""
    format_ = FORMATS[export.format]
    with ExitStack() as stack:
        snapshot = stack.enter_context(rows.open_snapshot(export.filter, export.include))
        fields = merge_fields([version.fields for version in snapshot.versions])
        if format_.check_fields is not None:
            format_.check_fields(fields)
        progress = _ProgressReporter(report, snapshot.total)
        source = None
        if format_.document_writer is not None:
            pages = stack.enter_context(snapshot.open_page_reader())
            source = stack.enter_context(closing(DocumentSource(pages, progress.report_if_due)))
        # Writers only call `write`; a staged file has no other methods of BinaryIO.
        out = cast("BinaryIO", staged_file)
        writer: Writer
        if format_.needs_process:
            writer = ProcessWriter(
                out, export.format, fields, export.options, progress.report_if_due
            )
        else:
            writer = format_.create_writer(out, fields, export.options, source)
        progress.report_if_due()

        def receive(chunk: bytes, *, is_last: bool) -> None:
            writer.write_chunk(chunk, is_last=is_last)
            progress.done = min(writer.row_count, snapshot.total)
            progress.report_if_due()

        removed_count = snapshot.copy_rows(receive)
        writer.close()
        return RunResult(writer.row_count, removed_count, snapshot.taken_at, snapshot.versions)


@jobs.handler("exports.expire", queue="maintenance", resumable=True, every=EXPIRE_INTERVAL_SECONDS)
def delete_obsolete_files(job: Job) -> None:
    """Delete expired export files, and the files of exports that failed or were cancelled."""
    while running.delete_obsolete_files():
        job.checkpoint()


@jobs.handler("exports.forget_removed", queue="maintenance", resumable=True, every=_DAY_SECONDS)
def purge_removed_tag_sets(job: Job) -> None:
    """Purge `RemovedTagSet` records that are more than 400 days old."""
    purging.purge("removed_tag_sets", OLD_REMOVALS_CONDITION, job.checkpoint)
