"""The catalogue of webhook events: their descriptions, JSON Schemas and samples."""

from dataclasses import dataclass
from typing import Any

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEST = "test"
TEST_MESSAGE = "This is a test delivery, requested by a user. It does not represent an event."

_ID = "0199a3f0-7c1e-7b54-9d0a-3f7c5a1e8b2d"
_ORG = "acme"


@dataclass(frozen=True)
class EventType:
    """An event type; `schema` is the JSON Schema of the whole body, `sample` a valid body."""

    event: str
    description: str
    schema: dict[str, Any]
    sample: dict[str, Any]


def _id(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "uuid", "description": description}


def _id_or_null(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "format": "uuid", "description": description}


def _text(description: str, **more: str) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _text_or_null(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "description": description}


def _count(description: str, *, null: bool = False) -> dict[str, Any]:
    return {
        "type": ["integer", "null"] if null else "integer",
        "format": "int64",
        "minimum": 0,
        "description": description,
    }


def _number_or_null(description: str) -> dict[str, Any]:
    return {"type": ["number", "null"], "description": description}


_SHA256 = {"pattern": "^[0-9a-f]{64}$"}


def _build(
    event: str, description: str, members: dict[str, tuple[dict[str, Any], Any]]
) -> EventType:
    """Build an event type; `members` maps each member of `data` to its JSON Schema and sample."""
    schema = {
        "$schema": DRAFT,
        "title": event,
        "description": description,
        "type": "object",
        "required": ["event", "timestamp", "org_slug", "data"],
        "properties": {
            "event": {"const": event},
            "timestamp": _text("When the delivery was created, UTC.", format="date-time"),
            "org_slug": _text("The organization that the event belongs to."),
            "data": {
                "type": "object",
                "required": list(members),
                "properties": {name: part for name, (part, _) in members.items()},
            },
        },
    }
    sample = {
        "event": event,
        "timestamp": "2026-03-14T09:26:53.589793Z",
        "org_slug": _ORG,
        "data": {name: value for name, (_, value) in members.items()},
    }
    return EventType(event, description, schema, sample)


_EXPORT_COMPLETED = _build(
    "export.completed",
    "An export job has finished, and its file can be downloaded.",
    {
        "job_id": (_id("The export job."), _ID),
        "format": (_text("The file's format."), "jsonl"),
        "row_count": (_count("The number of rows in the file."), 1250),
        "size_bytes": (_count("The size of the file in bytes."), 884736),
        "sha256": (_text("SHA-256 of the file.", **_SHA256), "5f" * 32),
        "scheduled_export_id": (
            _id_or_null("The schedule that started the export; null if none did."),
            None,
        ),
        "download_path": (
            _text("Path of the download, relative to the address of the API."),
            f"/api/v1/exports/{_ID}/download",
        ),
    },
)
_TAG_SET_ACCEPTED = _build(
    "tag_set.accepted",
    "A tag set of an artifact was accepted.",
    {
        "tag_set_id": (_id("The tag set."), _ID),
        "artifact_id": (_id("Its artifact."), "0199a3e1-04b2-7f6a-8a53-b1d2c9e07f41"),
        "schema_id": (_id("Its schema."), "0199a2c4-5d90-7c11-b7e6-20f4a86d3c55"),
        "schema_version_id": (
            _id("The version of the schema."),
            "0199a2c4-8f3b-70ae-9c02-6de15b7a4f90",
        ),
        "labeler_id": (
            _id_or_null("The labeler; null if no person labeled it."),
            "0199a1aa-3e6f-7d08-a4b9-95c0e27f1d63",
        ),
        "reviewer_id": (
            _id_or_null("The reviewer; null if a rule accepted it."),
            "0199a1ab-90d4-7e25-8f17-4ab36c2d5e80",
        ),
        "corrected": (
            {"type": "boolean", "description": "Whether the reviewer corrected the labels."},
            False,
        ),
    },
)
_ARTIFACT_INGESTED = _build(
    "artifact.ingested",
    "A new artifact was ingested and is ready for labeling.",
    {
        "artifact_id": (_id("The artifact."), _ID),
        "name": (_text("Its name."), "invoice-0042.pdf"),
        "media_type": (_text("Its media type."), "application/pdf"),
        "sha256": (_text("SHA-256 of its content.", **_SHA256), "9a" * 32),
        "page_count": (_count("The number of pages; null if it has none.", null=True), 3),
        "schema_id": (
            _id_or_null("The schema for labeling it; null if it has none."),
            "0199a2c4-5d90-7c11-b7e6-20f4a86d3c55",
        ),
        "connector_id": (_id_or_null("The connector that imported it; null if none did."), None),
        "ingestion_job_id": (
            _id_or_null("The ingestion job that created it; null if none did."),
            None,
        ),
    },
)
_CONNECTOR_ALERT = _build(
    "connector.alert",
    "A connector has raised an alert, for example because a crawl failed.",
    {
        "alert_id": (_id("The alert."), _ID),
        "connector_id": (_id("The connector."), "0199a2f7-62c8-7a39-b0d5-e8173f4c9a26"),
        "kind": (_text("The kind of alert."), "crawl_failed"),
        "message": (_text("What happened."), "The bucket does not exist."),
        "ingestion_job_id": (
            _id_or_null("The ingestion job in which it happened; null if none."),
            "0199a3ef-d471-7b8c-96e2-53a0c7f81d9b",
        ),
    },
)
_DRIFT_DETECTED = _build(
    "drift.detected",
    "The behaviour of a model or of the labeling has changed.",
    {
        "report_id": (_id("The drift report."), _ID),
        "schema_id": (_id("The schema."), "0199a2c4-5d90-7c11-b7e6-20f4a86d3c55"),
        "subject": (
            {
                "enum": ["model", "labeling"],
                "description": "Whether the behaviour of the model or of the labeling changed.",
            },
            "model",
        ),
        "field": (_text_or_null("The field; null for the schema as a whole."), "total_amount"),
        "metric": (_text("The name of the metric."), "accuracy"),
        "baseline": (_number_or_null("The value of the metric before the change."), 0.97),
        "current": (_number_or_null("The current value of the metric."), 0.88),
        "p_value": (
            _number_or_null("The p-value: how likely such a difference is by chance alone."),
            0.0004,
        ),
    },
)
_TEST = _build(
    TEST,
    "A test delivery requested by a user. Webhooks cannot subscribe to it.",
    {"message": (_text("A fixed text."), TEST_MESSAGE)},
)

CATALOGUE: dict[str, EventType] = {
    event_type.event: event_type
    for event_type in (
        _EXPORT_COMPLETED,
        _TAG_SET_ACCEPTED,
        _ARTIFACT_INGESTED,
        _CONNECTOR_ALERT,
        _DRIFT_DETECTED,
        _TEST,
    )
}
"""All event types by identifier, in the order of the documentation."""

SUBSCRIBABLE: tuple[str, ...] = tuple(name for name in CATALOGUE if name != TEST)
"""The events that a webhook may subscribe to."""
