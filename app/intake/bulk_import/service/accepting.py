"""Accept files to import: detect the format, store the file and create the import job."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.service.creating import check_file_name
from app.engines.imports.detection import detect_format
from app.engines.imports.lines import MAX_LINE_BYTES
from app.intake.bulk_import.service.labels import LabelsAs
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import requests
from app.intake.ingestion_jobs.service.cleaning import build_source_key
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import capacity, container, errors, tenancy
from app.kit.api.uploads import Upload
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.kit.storage import StagedFile
from app.kit.stored_files import translate_storage_errors
from app.schemas.artifact_schemas.service import drafts as artifact_schemas

CHUNK_BYTES = 64 * 1024
_DEFAULT_NAME = "import"


class _ImportRequest(NamedTuple):
    name: str
    format_id: str | None
    schema_id: UUID | None
    labels_as: str
    created_by: UUID | None


@capacity.require_free_space("upload")
def import_records(
    *,
    file: Upload | None = None,
    content: str | None = None,
    name: str | None,
    format_id: str | None,
    schema_id: UUID | None,
    labels_as: str,
    caller: Caller,
) -> IngestionJob:
    """Import a file that is uploaded or sent as `content`: store it, and create the import job.

    `name` defaults to the name of the uploaded file, or to `import`. Raises 403 if `labels_as` is
    `accepted` and the caller is not a reviewer; 400 for an empty `file` or `content`, an unknown
    `schema_id`, or a format that cannot be detected; 422 for an invalid `name`; 503 while the disk
    is full or the storage is not available.
    """
    if labels_as == LabelsAs.ACCEPTED and not caller.has_role(Role.reviewer):
        raise errors.denied("Only reviewers may import labels as accepted tag sets.")
    field = "content" if file is None else "file"
    if not (content if file is None else file.staged.size):
        raise errors.invalid("The file is empty.", field)
    artifact_schemas.check_reference(schema_id)
    checked_name = check_file_name(name or (file and file.name) or _DEFAULT_NAME)
    request = _ImportRequest(checked_name, format_id, schema_id, labels_as, caller.user_id)
    if file is not None:
        return _create_job(file.staged, request)
    assert content is not None
    with container.current().storage.stage() as staged:
        staged.write(content.encode())
        return _create_job(staged, request)


@capacity.require_free_space("upload")
def import_local_file(
    path: Path, *, format_id: str | None, schema_id: UUID | None, labels_as: str
) -> IngestionJob:
    """Import a file from this machine: store a copy, and create the import job.

    Raises the errors of `import_records` except 403, and OSError if the file cannot be read.
    """
    artifact_schemas.check_reference(schema_id)
    request = _ImportRequest(check_file_name(path.name), format_id, schema_id, labels_as, None)
    with path.open("rb") as file, container.current().storage.stage() as staged:
        while chunk := file.read(CHUNK_BYTES):
            staged.write(chunk)
        if not staged.size:
            raise errors.invalid("The file is empty.", "file")
        return _create_job(staged, request)


def _create_job(staged: StagedFile, request: _ImportRequest) -> IngestionJob:
    job_id = uuid7()
    key = build_source_key(tenancy.current_organization_id(), job_id)
    with translate_storage_errors():
        staged.promote(key)
    schema_id = request.schema_id
    options = {
        "schema_id": None if schema_id is None else str(schema_id),
        "labels": str(request.labels_as),
    }
    try:
        return requests.create(
            JobKind.IMPORT,
            name=request.name,
            created_by=request.created_by,
            job_id=job_id,
            format=request.format_id or _detect_format(key, request.name),
            options=options,
            source_key=key,
            size_bytes=staged.size,
        )
    except ApiError:
        container.current().storage.delete(key)
        raise


def _detect_format(key: str, name: str) -> str:
    with translate_storage_errors():
        head = _read_head(key)
    format_id = detect_format(head, name)
    if format_id is None:
        raise errors.invalid("The format could not be detected. Set `format`.", "format")
    return format_id


def _read_head(key: str) -> bytes:
    """Read the first chunks of a file, up to and including the chunk with its first line break.

    Reads at most MAX_LINE_BYTES, which is the maximum size of a line.
    """
    head = bytearray()
    with closing(container.current().storage.stream(key, 0, MAX_LINE_BYTES)) as chunks:
        for chunk in chunks:
            head += chunk
            if b"\n" in chunk:
                break
    return bytes(head)
