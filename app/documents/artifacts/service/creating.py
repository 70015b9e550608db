"""Create documents from text, or from files. Text is parsed immediately; a job reads files."""

from contextlib import suppress
from datetime import datetime
from hashlib import sha256 as digest_of
from typing import Any, TypedDict, Unpack
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import ArtifactPayload, build_ingested_payload
from app.documents.artifacts.models.documents import Artifact, build_zero_label_counts
from app.documents.artifacts.names import check_name
from app.documents.artifacts.queries import creating as queries
from app.documents.artifacts.queries.reading import PAGE_COLUMNS
from app.documents.artifacts.service import files, routing
from app.documents.artifacts.statuses import ArtifactStatus
from app.engines.documents.detection import HEAD_BYTES, detect_media_type
from app.engines.documents.layout import parse_text
from app.engines.documents.media import MEDIA_TYPES
from app.engines.documents.model import ParsedDocument, ParseFailed, UnsupportedMediaType
from app.kit import capacity, db, errors, events, plan_limits
from app.kit.api.uploads import Upload
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.plan_limits import Allowance, Meter
from app.kit.storage import StagedFile, StorageUnavailable
from app.kit.stored_files import translate_storage_errors


class DocumentProperties(TypedDict, total=False):
    """The optional properties of a new document, in addition to its name and content."""

    schema_id: UUID | None
    external_id: str | None
    metadata: dict[str, Any]
    priority: int
    due_at: datetime | None
    gold: bool
    archived: bool
    created_by: UUID | None
    connector_id: UUID | None
    ingestion_job_id: UUID | None
    parent_id: UUID | None


def create(
    *,
    file: Upload | None = None,
    name: str | None = None,
    text: str | None = None,
    **properties: Unpack[DocumentProperties],
) -> dict[str, Any]:
    """Create a document from an uploaded file, or from a text with a name.

    Raises the errors of `create_from_text` and `create_from_file`, and 503 while the disk is full.
    """
    if file is None:
        assert name is not None
        assert text is not None
        with capacity.require_free_space("text"):
            return create_from_text(name=name, text=text, **properties)
    with capacity.require_free_space("upload"):
        return create_from_file(
            staged=file.staged,
            file_name=file.name,
            declared_media_type=file.declared_media_type,
            name=name,
            **properties,
        )


def create_from_text(
    *, name: str, text: str, **properties: Unpack[DocumentProperties]
) -> dict[str, Any]:
    """Create a document from plain text, and return its row.

    The document is ready for labeling immediately (emits `artifact.ingested`), unless routing rules
    must run first (emits `artifact.parsed`). Raises 400 for an empty or too long `text` or an
    unknown `schema_id`, 402 `plan_limit_reached`, 409 `artifact_duplicate`, 409 `conflict` if a
    document with this content was just deleted, and 503 while the storage is unavailable.
    """
    try:
        parsed = parse_text(text)
    except ParseFailed as failure:
        raise errors.invalid(failure.message, "text", code=failure.code) from None
    content = text.encode()
    row = build_row(
        properties,
        name=name,
        sha256=digest_of(content).hexdigest(),
        has_text_layer=True,
        **build_text_columns(content, parsed),
        **build_initial_status(),
    )
    allowance = open_allowance()
    _lock_content_and_check_schema(row)
    _insert(row, text=parsed.text, pages=list_page_columns(parsed))
    allowance.add_usage(measure_usage(row))
    if row["routing_since"] is None:
        events.emit(emitted_events.INGESTED, build_ingested_payload(row["id"], row))
    else:
        routing.request_routing([row["id"]])
    with translate_storage_errors():
        # The file is written last, so that only the commit can fail after this step.
        files.get_storage().write(files.build_content_key(row["sha256"]), [content])
    return row


def create_from_file(
    *,
    staged: StagedFile,
    file_name: str,
    declared_media_type: str | None,
    name: str | None = None,
    **properties: Unpack[DocumentProperties],
) -> dict[str, Any]:
    """Create a document from a file, and emit `artifact.created`; a job then parses the file.

    `staged` is the received file, which is not yet stored as the content of a document.
    `declared_media_type` is the media type that the client sent; the stored media type is detected
    from the content. Raises the errors of `create_from_text` except those for `text`; also 400 for
    an empty `file`, 415 for a type that cannot be read, and 422 for `name` if the name of the file
    is invalid. If one of these errors is raised after the content has been stored, the content is
    deleted.
    """
    if staged.size == 0:
        raise errors.invalid("The file is empty.", "file")
    row = build_row(
        properties,
        name=name or check_file_name(file_name),
        media_type="",
        size_bytes=staged.size,
        sha256=staged.sha256,
        page_count=None,
        language=None,
        text_length=0,
        has_text_layer=None,
        status=ArtifactStatus.PROCESSING,
    )
    allowance = open_allowance()
    _lock_content_and_check_schema(row)
    _check_not_duplicate(row)
    allowance.add_usage(measure_usage(row))
    _store_document(staged, row, file_name or row["name"], declared_media_type)
    return row


def _store_document(
    staged_file: StagedFile, row: dict[str, Any], file_name: str, declared_media_type: str | None
) -> None:
    key = files.build_content_key(row["sha256"])
    with translate_storage_errors():
        staged_file.promote(key)
    try:
        row["media_type"] = _detect_media_type(key, file_name, declared_media_type)
        _insert(row, text="", pages=[])
        payload: ArtifactPayload = {"artifact_id": row["id"]}
        events.emit(emitted_events.CREATED, payload)
    except ApiError:
        # Any other error may mean that the session was lost, and with it the lock on the content:
        # the file may belong to another document by now. In that case, or if this deletion fails,
        # `sweep` deletes the file later.
        with suppress(StorageUnavailable, SQLAlchemyError):
            _delete_unused_file(row)
        raise


def _delete_unused_file(row: dict[str, Any]) -> None:
    # This query runs in the transaction that locked the content. If the transaction was lost, the
    # query fails and the file is kept, because another document may use it by now.
    if queries.find_by_content(row["sha256"]) in (None, row["id"]):
        files.delete_content(row["sha256"])


def build_text_columns(content: bytes, parsed: ParsedDocument) -> dict[str, Any]:
    """Build the columns of a new document that describe its text. `content` is UTF-8."""
    return {
        "media_type": "text/plain",
        "size_bytes": len(content),
        "page_count": len(parsed.pages),
        "language": parsed.language,
        "text_length": len(parsed.text),
    }


def list_page_columns(parsed: ParsedDocument) -> list[dict[str, Any]]:
    """Return the columns of each page. Words are not stored; they are laid out from the text."""
    return [{name: getattr(page, name) for name in PAGE_COLUMNS} for page in parsed.pages]


def open_allowance() -> Allowance:
    """Open the plan's allowance for new documents.

    Call this before content is locked: it locks meters, and all transactions lock in this order.
    """
    return plan_limits.open_allowance(Meter.DOCUMENTS, Meter.STORED_BYTES)


def measure_usage(row: dict[str, Any]) -> dict[Meter, int]:
    """Measure the usage of a new document: the amount that it adds to each meter."""
    return {Meter.DOCUMENTS: 1, Meter.STORED_BYTES: row["size_bytes"]}


def build_initial_status() -> dict[str, Any]:
    """Build the status columns of a new document with text.

    The document is ready, or it is processing until the routing rules have run.
    """
    if routing.is_routing_needed():
        return {"status": ArtifactStatus.PROCESSING, "routing_since": db.utc_now()}
    return {"status": ArtifactStatus.READY}


_COLUMN_DEFAULTS: dict[str, Any] = {
    str(column.key): column.default.arg
    for column in Artifact.__table__.columns
    if column.default is not None and column.default.is_scalar
}
"""The constant column defaults of a new document, for its INSERT and for the response."""


def build_row(properties: DocumentProperties, **content: object) -> dict[str, Any]:
    """Build the row of a new document: its columns, and properties that only the response has."""
    now = db.utc_now()
    return {
        **_COLUMN_DEFAULTS,
        **dict.fromkeys(("schema_id", "external_id", "due_at", "created_by")),
        **dict.fromkeys(("connector_id", "ingestion_job_id", "parent_id", "attachment_count")),
        "metadata": {},
        **properties,
        "id": content.get("id") or uuid7(),
        "failure": None,
        "routing_since": None,
        "assignees": [],
        "prediction": None,
        "claim": None,
        "label_counts": build_zero_label_counts(),
        # A document created from text is ready immediately, unless it waits for the routing rules.
        "ingested_at": now if content["status"] == ArtifactStatus.READY else None,
        "created_at": now,
        "updated_at": now,
        "revision": 1,
        **content,
    }


def check_file_name(file_name: str) -> str:
    """Validate a file name, and return it without surrounding whitespace. Raises 422."""
    try:
        return check_name(file_name)
    except ValueError as error:
        raise errors.unprocessable("name", str(error)) from None


def _lock_content_and_check_schema(row: dict[str, Any]) -> None:
    if not queries.lock_content_and_check_schema(row["sha256"], row["schema_id"]):
        raise errors.invalid("This schema does not exist.", "schema_id")


def _check_not_duplicate(row: dict[str, Any]) -> None:
    existing_id = queries.find_by_content(row["sha256"])
    if existing_id is not None:
        raise ApiError(
            "artifact_duplicate",
            "The organization already has a document with the same content.",
            details={"artifact_id": str(existing_id)},
        )


def _insert(row: dict[str, Any], *, text: str, pages: list[dict[str, Any]]) -> None:
    if not queries.create(row, text=text, pages=pages):
        _check_not_duplicate(row)
        raise errors.conflict("A document with the same content was just deleted. Try again.")


def _detect_media_type(key: str, file_name: str, declared_media_type: str | None) -> str:
    with translate_storage_errors():
        first_bytes = b"".join(files.get_storage().stream(key, 0, HEAD_BYTES))
    try:
        return detect_media_type(first_bytes, file_name, declared_media_type)
    except UnsupportedMediaType as error:
        raise ApiError(
            "unsupported_media_type",
            _build_unsupported_type_message(error),
            field="file",
            details={"declared": error.claimed_type, "detected": error.detected_type},
        ) from None


def _build_unsupported_type_message(error: UnsupportedMediaType) -> str:
    if error.claimed_type and error.detected_type in MEDIA_TYPES:
        return (
            f"The content of the file is `{error.detected_type}`, but its name or declared type "
            f"says `{error.claimed_type}`. "
            "Send the file with a name and media type that match its content."
        )
    return "This media type is not supported."
