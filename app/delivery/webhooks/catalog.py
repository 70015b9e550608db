"""The catalog of webhook events: descriptions, JSON Schemas, samples and OpenAPI webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.delivery.exports import emitted_events as export_events
from app.documents.artifacts import emitted_events as artifact_events
from app.insight.drift import emitted_events as drift_events
from app.intake.connectors import emitted_events as connector_events
from app.kit import errors
from app.kit.api.documentation import Webhook, describe_header
from app.workflow.tag_sets import emitted_events as tag_set_events

JSON_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEST_EVENT = "test"
TEST_MESSAGE = "This is a test delivery, requested by a user. It does not represent an event."

_ID = "0199a3f0-7c1e-7b54-9d0a-3f7c5a1e8b2d"
_SCHEMA_ID = "0199a2c4-5d90-7c11-b7e6-20f4a86d3c55"


@dataclass(frozen=True)
class EventType:
    """An event type; `schema` is the JSON Schema for the whole body, `sample` is a valid body."""

    event: str
    description: str
    schema: dict[str, Any]
    sample: dict[str, Any]


Property = tuple[dict[str, Any], object]
"""The JSON Schema for a property of `data`, and a sample value."""


def _build_property(
    type_: str, description: str, sample: object, *, nullable: bool = False, **keywords: str | int
) -> Property:
    """Build a property of `data`; `nullable` allows null, `keywords` are JSON Schema keywords."""
    types = [type_, "null"] if nullable else type_
    return {"type": types, **keywords, "description": description}, sample


_build_id_property = partial(_build_property, "string", format="uuid")
_build_text_property = partial(_build_property, "string")
_build_sha256_property = partial(_build_property, "string", pattern="^[0-9a-f]{64}$")
_build_count_property = partial(_build_property, "integer", format="int64", minimum=0)
_build_number_property = partial(_build_property, "number")


def _build_event_type(name: str, description: str, properties: dict[str, Property]) -> EventType:
    event = str(name)  # Validators of JSON Schemas accept no subclass of `str`.
    schema = {
        "$schema": JSON_SCHEMA_DIALECT,
        "title": event,
        "description": description,
        "type": "object",
        "required": ["event", "timestamp", "org_slug", "data"],
        "properties": {
            "event": {"const": event},
            "timestamp": {
                "type": "string",
                "description": "When the delivery was created, in UTC.",
                "format": "date-time",
            },
            "org_slug": {
                "type": "string",
                "description": "The slug of the organization that the event belongs to.",
            },
            "data": {
                "type": "object",
                "required": list(properties),
                "properties": {name: keywords for name, (keywords, _) in properties.items()},
            },
        },
    }
    sample = {
        "event": event,
        "timestamp": "2026-03-14T09:26:53.589793Z",
        "org_slug": "acme",
        "data": {name: value for name, (_, value) in properties.items()},
    }
    return EventType(event, description, schema, sample)


_EVENT_TYPES = (
    _build_event_type(
        export_events.COMPLETED,
        "An export job has finished, and its file can be downloaded.",
        {
            "job_id": _build_id_property("The id of the export job.", _ID),
            "format": _build_text_property("The file's format.", "jsonl"),
            "row_count": _build_count_property("The number of rows in the file.", 1250),
            "size_bytes": _build_count_property("The size of the file in bytes.", 884736),
            "sha256": _build_sha256_property("SHA-256 of the file.", "5f" * 32),
            "scheduled_export_id": _build_id_property(
                "The scheduled export that the job belongs to; null if it belongs to none.",
                None,
                nullable=True,
            ),
            "download_path": _build_text_property(
                "The path of the download, relative to the server's URL.",
                f"/api/v1/exports/{_ID}/download",
            ),
        },
    ),
    _build_event_type(
        tag_set_events.ACCEPTED,
        "A tag set of an artifact was accepted.",
        {
            "tag_set_id": _build_id_property("The id of the tag set.", _ID),
            "artifact_id": _build_id_property(
                "The id of the tag set's artifact.", "0199a3e1-04b2-7f6a-8a53-b1d2c9e07f41"
            ),
            "schema_id": _build_id_property("The id of the tag set's schema.", _SCHEMA_ID),
            "schema_version_id": _build_id_property(
                "The id of the schema version.", "0199a2c4-8f3b-70ae-9c02-6de15b7a4f90"
            ),
            "labeler_id": _build_id_property(
                "The labeler; null if no person labeled the document.",
                "0199a1aa-3e6f-7d08-a4b9-95c0e27f1d63",
                nullable=True,
            ),
            "reviewer_id": _build_id_property(
                "The reviewer; null if a rule accepted the tag set.",
                "0199a1ab-90d4-7e25-8f17-4ab36c2d5e80",
                nullable=True,
            ),
            "corrected": _build_property(
                "boolean", "Whether the reviewer corrected the labels.", sample=False
            ),
        },
    ),
    _build_event_type(
        artifact_events.INGESTED,
        "A new artifact was ingested and is ready for labeling.",
        {
            "artifact_id": _build_id_property("The id of the artifact.", _ID),
            "name": _build_text_property("The name of the artifact.", "invoice-0042.pdf"),
            "media_type": _build_text_property(
                "The media type of the artifact.", "application/pdf"
            ),
            "sha256": _build_sha256_property("SHA-256 of the artifact's content.", "9a" * 32),
            "page_count": _build_count_property(
                "The number of pages; null if the artifact has no pages.", 3, nullable=True
            ),
            "schema_id": _build_id_property(
                "The schema for labeling the artifact; null if no schema is set.",
                _SCHEMA_ID,
                nullable=True,
            ),
            "connector_id": _build_id_property(
                "The connector that imported the artifact; null if no connector did.",
                None,
                nullable=True,
            ),
            "ingestion_job_id": _build_id_property(
                "The ingestion job that created the artifact; null if no ingestion job did.",
                None,
                nullable=True,
            ),
            "parent_id": _build_id_property(
                "The email that the artifact was attached to; null if it is not an attachment.",
                None,
                nullable=True,
            ),
        },
    ),
    _build_event_type(
        connector_events.ALERT,
        "A connector has raised an alert, for example because a crawl failed.",
        {
            "alert_id": _build_id_property("The id of the alert.", _ID),
            "connector_id": _build_id_property(
                "The id of the connector.", "0199a2f7-62c8-7a39-b0d5-e8173f4c9a26"
            ),
            "kind": _build_text_property("The type of alert.", "crawl_failed"),
            "message": _build_text_property(
                "The description of the problem.", "The bucket does not exist."
            ),
            "ingestion_job_id": _build_id_property(
                "The ingestion job that had the problem; null if no ingestion job had it.",
                "0199a3ef-d471-7b8c-96e2-53a0c7f81d9b",
                nullable=True,
            ),
        },
    ),
    _build_event_type(
        drift_events.DETECTED,
        "The predictions of a model or the labels of people have shifted.",
        {
            "report_id": _build_id_property("The id of the drift report.", _ID),
            "schema_id": _build_id_property("The id of the schema.", _SCHEMA_ID),
            "subject": (
                {
                    "enum": ["model", "labeling"],
                    "description": "What has shifted: `model` for the predictions of the model,"
                    " `labeling` for the labels that people assigned.",
                },
                "model",
            ),
            "field": _build_text_property(
                "The key of the field; null for the whole schema.", "total_amount", nullable=True
            ),
            "metric": _build_text_property("The name of the metric.", "accuracy"),
            "baseline": _build_number_property(
                "The value of the metric before the change.", 0.97, nullable=True
            ),
            "current": _build_number_property(
                "The current value of the metric.", 0.88, nullable=True
            ),
            "p_value": _build_number_property(
                "The p-value: the probability of a difference at least this large by chance.",
                0.0004,
                nullable=True,
            ),
        },
    ),
    _build_event_type(
        TEST_EVENT,
        "A test delivery requested by a user. Webhooks cannot subscribe to this event.",
        {
            "message": _build_text_property(
                "A message that is the same in every test delivery.", TEST_MESSAGE
            )
        },
    ),
)

CATALOG: dict[str, EventType] = {event_type.event: event_type for event_type in _EVENT_TYPES}
"""All event types by their names (`event`), in the order of the documentation."""

SUBSCRIBABLE: tuple[str, ...] = tuple(name for name in CATALOG if name != TEST_EVENT)
"""The events that a webhook may subscribe to."""


def check_events(names: Sequence[str], field: str = "events") -> None:
    """Raise 400 unless `names` are one or more distinct events that webhooks can subscribe to."""
    supported_events = list(SUBSCRIBABLE)
    if not names:
        message = f"`{field}` must contain at least one event."
        raise errors.invalid(message, field, supported=supported_events)
    unknown_names = [name for name in names if name not in SUBSCRIBABLE]
    if unknown_names:
        message = f"Webhooks cannot subscribe to these events: {', '.join(unknown_names[:10])}."
        raise errors.invalid(message, field, supported=supported_events)
    if len(set(names)) < len(names):
        raise errors.invalid(f"`{field}` must not contain duplicates.", field)


_HEADERS = (
    describe_header(
        "X-Service-Event",
        "The event type, such as `tag_set.accepted`; the same as `event` in the body.",
        required=True,
    ),
    describe_header(
        "X-Service-Signature",
        "HMAC-SHA-256 of the body's bytes with the signing secret.",
        required=True,
        pattern="^sha256=[0-9a-f]{64}$",
    ),
    describe_header(
        "X-Service-Delivery",
        "The delivery id, the same in every attempt and redelivery.",
        required=True,
        format="uuid",
    ),
    describe_header(
        "X-Service-Attempt",
        "The attempt number, starting at 1; redeliveries continue the count.",
        required=True,
        pattern="^[1-9][0-9]*$",
    ),
    describe_header("webhook-id", "The delivery id; see Standard Webhooks.", required=True),
    describe_header(
        "webhook-timestamp",
        "The time of the attempt, in seconds since the Unix epoch.",
        required=True,
        pattern="^[0-9]+$",
    ),
    describe_header("webhook-signature", "The signatures; see Standard Webhooks.", required=True),
)


def build_openapi_webhooks() -> dict[str, Webhook]:
    """Build the OpenAPI webhooks for all event types, by the name of the type."""
    return {
        name: Webhook(
            "".join(word.title() for word in name.replace("_", ".").split(".")) + "Event",
            event_type.description,
            {key: value for key, value in event_type.schema.items() if key != "$schema"},
            _HEADERS,
        )
        for name, event_type in CATALOG.items()
    }
