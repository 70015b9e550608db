"""Read export jobs and their files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.exports.queries import records
from app.engines.formats import FORMATS
from app.identity.audit import service as audit
from app.kit import container, db, errors, events
from app.kit.errors import ApiError
from app.kit.pagination import Page, PageRequest
from app.kit.storage import NotStored, StorageUnavailable

RANGES_PERIOD = timedelta(hours=1)
"""Ranges of one file that one caller requests within this time count as one download."""

_MEMBERS = (
    "id",
    "format",
    "filter",
    "options",
    "include",
    "status",
    "row_count",
    "size_bytes",
    "sha256",
    "expires_at",
    "error",
    "scheduled_export_id",
    "created_by",
    "started_at",
    "finished_at",
    "created_at",
    "updated_at",
)


@dataclass(frozen=True)
class ExportFile:
    """A file to download; `read(start, end)` yields its bytes from `start` up to `end`."""

    read: Callable[[int, int], Iterator[bytes]]
    size: int
    media_type: str
    name: str
    sha256: str


def get(export_id: UUID) -> dict[str, Any]:
    """Return an export. Raises 404."""
    return to_response(_require(export_id))


def list_exports(
    *,
    page: PageRequest,
    status: str | None = None,
    format_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of exports."""
    rows = records.list_exports(
        page,
        status=status,
        format_id=format_id,
        created_after=created_after,
        created_before=created_before,
    )
    return replace(rows, items=[to_response(row) for row in rows.items])


def download(export_id: UUID) -> ExportFile:
    """Return the file of an export.

    Raises 404, and 409 if there is no file; `details.state` is then the export's status, or
    `expired`.
    """
    export = _require(export_id)
    if export.status != "completed":
        message = f"The export is {export.status}; it has no file."
        raise errors.conflict(message, state=export.status)
    if not export.storage_key or not export.expires_at or export.expires_at <= db.utc_now():
        raise _expired_error()
    assert export.size_bytes is not None, "a completed export has a file"
    assert export.sha256 is not None
    with _translate_storage_errors():
        container.current().storage.size(export.storage_key)
    format_ = FORMATS[export.format]
    return ExportFile(
        read=_build_reader(export.storage_key),
        size=export.size_bytes,
        media_type=format_.media_type,
        name=f"export-{export.id}.{format_.extension}",
        sha256=export.sha256,
    )


def record_download(export_id: UUID, *, user_id: UUID, actor_id: UUID, is_range: bool) -> None:
    """Record a download of an export's file, which writes an audit entry.

    Of several ranges within `RANGES_PERIOD`, only the first is recorded. Emits
    `export.downloaded`.
    """
    export = records.lock(export_id)
    assert export is not None, "the request handler has already read the export"
    if is_range:
        entries = audit.select_entries("exports", export_id)
        if records.was_downloaded(entries, actor_id, period=RANGES_PERIOD):
            return
    records.count_download(export_id)
    events.emit(
        "export.downloaded",
        {"job_id": export.id, "format": export.format, "sha256": export.sha256, "user_id": user_id},
    )


def build_download_path(export_id: UUID) -> str:
    """Return the path of an export's download, from the server's root."""
    return f"/api/v1/exports/{export_id}/download"


def to_response(export: Export) -> dict[str, Any]:
    """Return the members of an export that clients see."""
    members = {name: getattr(export, name) for name in _MEMBERS}
    completed = export.status == "completed"
    members["progress"] = _build_progress(export)
    members["download_path"] = build_download_path(export.id) if completed else None
    return members


def _require(export_id: UUID) -> Export:
    export = records.get(export_id)
    if export is None:
        raise errors.not_found()
    return export


def _build_progress(export: Export) -> dict[str, Any]:
    done, total = export.progress_done, export.progress_total
    rate = eta = None
    if export.started_at is not None and export.status in ("running", "completed"):
        # While the export runs, `updated_at` is the time of its latest progress report.
        seconds = ((export.finished_at or export.updated_at) - export.started_at).total_seconds()
        if done and total and seconds > 0:
            rate = round(done / seconds, 1)
            eta = ceil((total - done) * seconds / done)
    return {"done": done, "total": total, "rate_per_second": rate, "eta_seconds": eta}


def _expired_error() -> ApiError:
    return errors.conflict(
        "The file of this export has expired. Create a new export.", state="expired"
    )


@contextmanager
def _translate_storage_errors() -> Iterator[None]:
    try:
        yield
    except NotStored:
        raise _expired_error() from None
    except StorageUnavailable:
        raise ApiError(
            "service_unavailable", "The file storage is not available. Try again later."
        ) from None


def _build_reader(key: str) -> Callable[[int, int], Iterator[bytes]]:
    def read(start: int, end: int) -> Iterator[bytes]:
        with _translate_storage_errors():
            return container.current().storage.stream(key, start, end)

    return read
