"""Routes of exports."""

from typing import Any
from uuid import UUID

from app.delivery.exports import models
from app.delivery.exports.schemas import CreateExport, Export, ExportFilters
from app.delivery.exports.service import creating, reading
from app.engines.formats import FORMATS
from app.kit.api.blueprint import Blueprint, File, Listing
from app.kit.api.responses import Download
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("exports", description="Exports of tag sets to files.")

# JSON comes last: some generated clients read every file in the way of the first type.
_MEDIA_TYPES = {format_.media_type for format_ in FORMATS.values()}
_FILE = File(tuple(sorted(_MEDIA_TYPES, key=lambda name: (name == "application/json", name))))


@blueprint.get(
    "/exports",
    permission="exports:read",
    query=Listing(sorts=("-created_at",), filters=ExportFilters),
    returns=Export,
)
def list_exports(caller: Caller, query: dict[str, Any]) -> Page:
    """List exports.

    Returns export jobs, optionally filtered by status, format and time of creation.
    """
    return reading.list_exports(**query)


@blueprint.post(
    "/exports",
    permission="exports:create",
    limit="create_export",
    body=CreateExport,
    returns=Export,
    status=202,
)
def create_export(caller: Caller, body: dict[str, Any]) -> models.Export:
    """Create an export.

    Queues a job that writes the selected tag sets to a file in the given format. `filter` selects
    the tag sets, `include` which of them per document and which parts of each, `options` the
    options of the format.
    """
    return creating.create(**body, created_by=caller.user_id, api_key_id=caller.api_key_id)


@blueprint.get("/exports/{job_id}", permission="exports:read", returns=Export)
def get_export(caller: Caller, job_id: UUID) -> models.Export:
    """Get an export.

    Returns one export job with its status and progress, and, once it is completed, the row count,
    size, checksum and expiry of its file.
    """
    return reading.get(job_id)


@blueprint.get(
    "/exports/{job_id}/download", permission="exports:download", returns=_FILE, writes=True
)
def download_export(caller: Caller, job_id: UUID) -> Download:
    """Download an export.

    Returns the file of a completed export, or a range of it. Responds with 409 `conflict` if there
    is no file (yet, or any more); `details.state` is the status of the export, or `expired`. Each
    download adds an entry to the audit log. Ranges of one file that one caller requests within an
    hour count as one download.
    """
    actor_id = caller.api_key_id or caller.user_id
    return reading.download(job_id, user_id=caller.user_id, actor_id=actor_id)
