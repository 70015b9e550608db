"""exports: label sets as files."""

from typing import Any
from uuid import UUID

from app.delivery.exports import service
from app.delivery.exports.schemas import CreateExport, Export, ExportFilters
from app.engines.formats import FORMATS
from app.kit.api.blueprint import Blueprint, File, Listing
from app.kit.api.responses import Download
from app.kit.principal import Caller

blueprint = Blueprint("exports", description="Exports of label sets into files.")

_FILE = File(tuple(sorted({format_.media_type for format_ in FORMATS.values()})))


@blueprint.get(
    "/exports",
    permission="exports:read",
    query=Listing(sorts=("-created_at",), filters=ExportFilters),
    returns=Export,
)
def list_exports(caller: Caller, query: dict[str, Any]) -> Any:
    """List export jobs, by status and format."""
    return service.list_exports(**query)


@blueprint.post(
    "/exports",
    permission="exports:create",
    limit="create_export",
    body=CreateExport,
    returns=Export,
    status=202,
)
def create_export(caller: Caller, body: dict[str, Any]) -> Any:
    """Start an export: a format with its options, which label sets, and what of each."""
    return service.create(**body, created_by=caller.user_id)


@blueprint.get("/exports/{job_id}", permission="exports:read", returns=Export)
def get_export(caller: Caller, job_id: UUID) -> Any:
    """Read an export job: its state, progress, row count, size, checksum and expiry."""
    return service.get(job_id)


@blueprint.get(
    "/exports/{job_id}/download", permission="exports:download", returns=_FILE, writes=True
)
def download_export(caller: Caller, job_id: UUID) -> Any:
    """Download the file of a completed export, whole or a range of it.

    The audit log gets an entry for each download. Ranges of one file by one caller within an hour
    are one download.
    """
    file = service.download(job_id)
    return Download(
        file.read,
        file.size,
        file.media_type,
        file.name,
        file.sha256,
        on_send=lambda is_range: service.record_download(
            job_id,
            user_id=caller.user_id,
            actor_id=caller.api_key_id or caller.user_id,
            is_range=is_range,
        ),
    )
