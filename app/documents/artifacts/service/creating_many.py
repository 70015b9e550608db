"""Create many documents from text in a fixed number of SQL statements, for imports."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256 as digest_of
from typing import Any, NamedTuple
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import build_ingested_payload
from app.documents.artifacts.queries import creating as queries
from app.documents.artifacts.service import files, routing
from app.documents.artifacts.service.creating import (
    build_initial_status,
    build_row,
    build_text_columns,
    list_page_columns,
    measure_usage,
    open_allowance,
)
from app.documents.artifacts.statuses import ArtifactStatus
from app.engines.documents.layout import parse_text
from app.engines.documents.model import ParsedDocument, ParseFailed
from app.kit import events
from app.kit.errors import ApiError
from app.kit.ids import generate_ids
from app.kit.plan_limits import Allowance

MAX_BATCH_SIZE = 500
"""The maximum number of documents in one call. Their contents are locked until the commit."""


@dataclass(frozen=True, slots=True)
class NewText:
    """A document to create from text. Its values must already follow the API's rules.

    Routing rules do not run on the document if `is_labeled` is true.
    """

    name: str
    text: str
    schema_id: UUID | None = None
    external_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    priority: int = 50
    due_at: datetime | None = None
    is_labeled: bool = False


class Outcome(NamedTuple):
    """The outcome of creating a document from text.

    `artifact_id` is the id of the document with this content. `is_new` is true if this call created
    the document. After an error, `artifact_id` is None, and `error` is an error code of the API and
    a message.
    """

    artifact_id: UUID | None
    is_new: bool = False
    error: tuple[str, str] | None = None


class PreparedText(NamedTuple):
    """A text with its content and the parsed document, or the error if it cannot be parsed.

    `error` is an error code of the API and a message. After an error, `sha256` is empty.
    """

    text: NewText
    content: bytes
    sha256: str
    parsed: ParsedDocument | None
    error: tuple[str, str] | None


_LABELED_STATUS: dict[str, Any] = {"status": ArtifactStatus.READY, "routing_since": None}
"""The initial status columns of a document that is created with labels."""


class _Candidate(NamedTuple):
    """A document to create unless its content already exists or the plan does not allow it."""

    row: dict[str, Any]
    content: bytes


def prepare_text(text: NewText) -> PreparedText:
    """Parse a text. Uses neither the database nor the current organization."""
    content = text.text.encode()
    try:
        parsed = parse_text(text.text)
    except ParseFailed as failure:
        return PreparedText(text, content, "", None, (failure.code, failure.message))
    return PreparedText(text, content, digest_of(content).hexdigest(), parsed, None)


def create_from_texts(
    texts: Sequence[PreparedText], *, created_by: UUID | None, ingestion_job_id: UUID | None
) -> list[Outcome]:
    """Create documents from at most `MAX_BATCH_SIZE` texts; return the outcomes in their order.

    No document is created for the content of an existing document or of an earlier text. Emits
    `artifact.ingested` for each new document, or `artifact.parsed` if routing rules must run first.
    If a document cannot be created, for example because of the plan, its outcome has an error. The
    caller creates the tag sets of labeled documents, and rolls back on StorageUnavailable.
    """
    assert len(texts) <= MAX_BATCH_SIZE
    schema_ids = {id_ for prepared_text in texts if (id_ := prepared_text.text.schema_id)}
    known_schema_ids = queries.find_existing_schema_ids(schema_ids)
    shared_columns = {
        "created_by": created_by,
        "ingestion_job_id": ingestion_job_id,
        **build_initial_status(),
    }
    ids = generate_ids(len(texts))
    results = [
        _build_candidate(prepared_text, known_schema_ids, {"id": new_id, **shared_columns})
        for prepared_text, new_id in zip(texts, ids, strict=True)
    ]
    candidates = [result for result in results if isinstance(result, _Candidate)]
    allowance = open_allowance()
    new_candidates = _find_new_candidates(candidates)
    refused_outcomes = _apply_plan_limits(allowance, new_candidates)
    contents = {
        files.build_content_key(digest): candidate.content
        for digest, candidate in new_candidates.items()
    }
    rows = [candidate.row for candidate in new_candidates.values()]
    # The contents are locked. If the transaction fails, `sweep` deletes the files.
    with ThreadPoolExecutor(1, "contents") as pool:
        write_future = pool.submit(files.get_storage().write_many, contents)
        created_ids = queries.create_many(rows)
        _emit_events([row for row in rows if row["id"] in created_ids])
        write_future.result()
    id_by_digest = queries.find_by_contents({candidate.row["sha256"] for candidate in candidates})
    return [_build_outcome(result, id_by_digest, refused_outcomes) for result in results]


def _build_candidate(
    prepared_text: PreparedText, known_schema_ids: set[UUID], base_columns: dict[str, Any]
) -> _Candidate | Outcome:
    text, parsed = prepared_text.text, prepared_text.parsed
    if parsed is None:
        return Outcome(None, error=prepared_text.error)
    if text.schema_id is not None and text.schema_id not in known_schema_ids:
        return Outcome(None, error=("validation_error", "This schema does not exist."))
    row = build_row(
        {
            "schema_id": text.schema_id,
            "external_id": text.external_id,
            "metadata": text.metadata,
            "priority": text.priority,
            "due_at": text.due_at,
        },
        name=text.name,
        sha256=prepared_text.sha256,
        **build_text_columns(prepared_text.content, parsed),
        **(base_columns | _LABELED_STATUS if text.is_labeled else base_columns),
    )
    row |= {"text": parsed.text, "pages": list_page_columns(parsed)}
    return _Candidate(row, prepared_text.content)


def _find_new_candidates(candidates: Sequence[_Candidate]) -> dict[str, _Candidate]:
    """Lock the contents, and return the first candidate with each new content, by digest."""
    candidate_by_digest: dict[str, _Candidate] = {}
    for candidate in candidates:
        candidate_by_digest.setdefault(candidate.row["sha256"], candidate)
    queries.lock_contents(candidate_by_digest)
    for digest in queries.find_by_contents(candidate_by_digest):
        del candidate_by_digest[digest]
    return candidate_by_digest


def _emit_events(rows: Sequence[dict[str, Any]]) -> None:
    ready_rows = [row for row in rows if row["routing_since"] is None]
    waiting_rows = [row for row in rows if row["routing_since"] is not None]
    events.emit_many(
        emitted_events.INGESTED, [build_ingested_payload(row["id"], row) for row in ready_rows]
    )
    routing.request_routing([row["id"] for row in waiting_rows])


def _apply_plan_limits(
    allowance: Allowance, new_candidates: dict[str, _Candidate]
) -> dict[str, Outcome]:
    """Apply the plan's limits: remove refused candidates, and return their outcomes by digest."""
    refused_outcomes = {}
    for digest, candidate in list(new_candidates.items()):
        try:
            allowance.add_usage(measure_usage(candidate.row))
        except ApiError as refusal:
            refused_outcomes[digest] = Outcome(None, error=(refusal.code, refusal.message))
            del new_candidates[digest]
    return refused_outcomes


def _build_outcome(
    result: _Candidate | Outcome,
    id_by_digest: dict[str, UUID],
    refused_outcomes: dict[str, Outcome],
) -> Outcome:
    if isinstance(result, Outcome):
        return result
    if result.row["sha256"] in refused_outcomes:
        return refused_outcomes[result.row["sha256"]]
    artifact_id = id_by_digest[result.row["sha256"]]
    return Outcome(artifact_id, is_new=result.row["id"] == artifact_id)
