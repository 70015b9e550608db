"""Jobs that write export files and delete expired ones."""

from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any, BinaryIO, cast
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.exports.queries import records, rows
from app.delivery.exports.service import running
from app.delivery.exports.service.manifests import RunResult
from app.delivery.exports.service.sources import DocumentSource
from app.engines.formats import FORMATS, ProcessWriter, Writer, merge_fields
from app.kit import container, jobs, purging, watermarks
from app.kit.jobs import Job, Retry
from app.kit.storage import Staged

REPORT_SECONDS = 1.0
EXPIRE_EVERY = 600
OLD_REMOVED_TAG_SETS = "removed_at < now() - interval '400 days'"
_DAY_SECONDS = 86_400


class _ExportEnded(Exception):  # noqa: N818 - a signal, not an error
    """Signals that the export was cancelled or failed while its file was being written."""


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

    A repeated run starts again from the beginning. Does nothing if the export has already ended.
    """
    container.current().reserve.check()
    export = running.start(_get_export_id(job))
    if export is None:
        return
    job.checkpoint()
    try:
        _wait_for_period(job, export)
        with container.current().storage.stage() as staged:
            result = _write_file(
                staged, export, lambda done, total: _report_progress(job, export.id, done, total)
            )
            running.complete(job, export.id, staged, result)
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
        raise Retry("a transaction in the export period has been open for minutes") from None


def _report_progress(job: Job, export_id: UUID, done: int, total: int) -> None:
    if not records.update_progress(export_id, done=done, total=total):
        raise _ExportEnded
    job.checkpoint()


class _Progress:
    """Calls `report` with the progress, at most once every `REPORT_SECONDS`."""

    def __init__(self, report: Callable[[int, int], None], total: int) -> None:
        self._report = report
        self._total = total
        self._due = 0.0
        self.done = 0

    def check(self) -> None:
        """Report the progress if it is due."""
        if monotonic() >= self._due:
            self._report(self.done, self._total)
            self._due = monotonic() + REPORT_SECONDS


def _write_file(staged: Staged, export: Export, report: Callable[[int, int], None]) -> RunResult:
    """Write every row to the staged file, and return a summary of the run."""
    format_ = FORMATS[export.format]
    with ExitStack() as stack:
        snapshot = stack.enter_context(rows.open_snapshot(export.filter, export.include))
        fields = merge_fields([version.fields for version in snapshot.versions])
        progress = _Progress(report, snapshot.total)
        source = None
        if format_.document_writer is not None:
            source = DocumentSource(stack.enter_context(snapshot.open_pages()), progress.check)
        # Writers only call `write`; a staged file does not implement the rest of BinaryIO.
        out = cast("BinaryIO", staged)
        writer: Writer
        if format_.needs_process:
            writer = ProcessWriter(out, export.format, fields, export.options, progress.check)
        else:
            writer = format_.create_writer(out, fields, export.options, source)
        progress.check()

        def receive(piece: bytes, *, is_last: bool) -> None:
            writer.write_piece(piece, is_last=is_last)
            progress.done = min(writer.rows, snapshot.total)
            progress.check()

        removed_count = snapshot.copy(receive)
        writer.close()
        return RunResult(writer.rows, removed_count, snapshot.taken_at, snapshot.versions)


@jobs.handler("exports.expire", queue="maintenance", resumable=True)
def delete_expired_files(job: Job) -> None:
    """Delete expired export files."""
    while running.delete_expired_files():
        job.checkpoint()


@jobs.handler("exports.forget_removed", queue="maintenance", resumable=True)
def purge_removed_tag_sets(job: Job) -> None:
    """Delete the records of tag sets that were removed more than 400 days ago."""
    purging.purge("removed_tag_sets", OLD_REMOVED_TAG_SETS, job.checkpoint)


jobs.periodic("exports.expire", every=EXPIRE_EVERY)
jobs.periodic("exports.forget_removed", every=_DAY_SECONDS)
