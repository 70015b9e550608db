"""Record the feedback that clients report on predictions of any model."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson

from app.documents.artifacts.service import texts as artifacts
from app.engines.agreement.tag_keys import FieldSpec
from app.engines.fields import Tag, TagErrors
from app.insight.feedback.models import FeedbackOutcome
from app.insight.feedback.queries import recording
from app.insight.feedback.queries.recording import ReportedDocument, ReportedTagSet, ReportKey
from app.insight.feedback.service.automatic import build_confidence_columns
from app.insight.feedback.service.outcomes import classify
from app.kit import db, errors
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets.service import reading as tag_sets
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.rules import VersionRules

MAX_VALUE_BYTES = 10_000
_MISSING_VERSION = (
    "The artifact has no schema with a published version. Set its schema, or send `tag_set_id`."
)


@dataclass(slots=True)
class _ReferencedRecords:
    """The records to which the reports of one request refer.

    `automatic_pairs` are the pairs of artifact id and model that have automatic feedback.
    `reported_ids` are the ids of reported feedback, by report key.
    """

    documents: dict[UUID, ReportedDocument]
    tag_sets: dict[UUID, ReportedTagSet]
    automatic_pairs: set[tuple[UUID, str]]
    reported_ids: dict[ReportKey, UUID]


def create(report: dict[str, Any], *, caller: Caller) -> dict[str, Any]:
    """Create feedback from a report on one prediction, and return the feedback.

    Raises 400 with the name of the invalid property. Raises 409 `conflict` with
    `details.feedback_id` if the prediction already has feedback, or with `details.recorded` if
    feedback on the same model and artifact was recorded from an accepted tag set.
    """
    (result,) = create_many([report], caller=caller)
    if isinstance(result, ApiError):
        raise result
    return result


def create_many(
    reports: Sequence[dict[str, Any]], *, caller: Caller
) -> list[dict[str, Any] | ApiError]:
    """Create feedback from reports; return the feedback or the error for each report, in order."""
    recording.lock_recording()
    records = _load_records(reports, caller)
    results: list[dict[str, Any] | ApiError] = []
    rows = []
    for report in reports:
        try:
            feedback_row = _build_row(report, records, caller)
        except ApiError as failure:
            results.append(failure)
            continue
        records.reported_ids[_build_report_key(feedback_row)] = feedback_row["id"]
        rows.append(feedback_row)
        results.append({**feedback_row, "confidence": report.get("confidence")})
    recording.insert_feedback(rows)
    if rows:
        recording.refresh_documents(sorted({row["artifact_id"] for row in rows}))
    return results


def _load_records(reports: Sequence[dict[str, Any]], caller: Caller) -> _ReferencedRecords:
    artifact_models = sorted({(report["artifact_id"], report["model"]) for report in reports})
    tag_set_ids = {report["tag_set_id"] for report in reports if report.get("tag_set_id")}
    tag_sets_by_id = recording.find_tag_sets(sorted(tag_set_ids))
    if not caller.has_role(Role.reviewer):
        visible_ids = tag_sets.find_visible_ids(list(tag_sets_by_id), caller=caller)
        tag_sets_by_id = {tag_set_id: tag_sets_by_id[tag_set_id] for tag_set_id in visible_ids}
    return _ReferencedRecords(
        recording.lock_documents([artifact_id for artifact_id, _ in artifact_models]),
        tag_sets_by_id,
        recording.find_pairs_with_automatic_feedback(artifact_models),
        recording.find_reported_feedback_ids(artifact_models),
    )


def _build_row(
    report: dict[str, Any], records: _ReferencedRecords, caller: Caller
) -> dict[str, Any]:
    document = records.documents.get(report["artifact_id"])
    if document is None:
        raise errors.invalid("Must be the id of an artifact.", "artifact_id")
    tag_set = _find_tag_set(report, records)
    version_id = document.version_id if tag_set is None else tag_set.schema_version_id
    if version_id is None:
        raise errors.invalid(_MISSING_VERSION, "artifact_id")
    version = rules.get_version_rules(version_id)
    field_spec = version.field_specs.get(report["field"])
    if field_spec is None:
        raise errors.invalid(
            "Must be the key of a schema field, or `table.column` for a column.", "field"
        )
    outcome = _compare(report, version, field_spec, document)
    confidence = build_confidence_columns(report.get("confidence"), outcome, is_counted=True)
    feedback_row: dict[str, Any] = {
        "id": uuid7(),
        "artifact_id": document.id,
        "schema_id": document.schema_id if tag_set is None else tag_set.schema_id,
        "field": report["field"],
        "row": report.get("row"),
        "model": report["model"],
        "outcome": outcome.value,
        "predicted": report.get("predicted"),
        "correct": report.get("correct"),
        **confidence,
        "tag_set_id": None if tag_set is None else tag_set.id,
        "labeler_id": None if tag_set is None else tag_set.labeler_id,
        "day": db.utc_now().date(),
        "value_key": _build_value_key(report) if field_spec.multiple else None,
        "recorded_by": caller.user_id,
        "created_at": db.utc_now(),
    }
    _check_not_reported(feedback_row, records)
    return feedback_row


def _find_tag_set(report: dict[str, Any], records: _ReferencedRecords) -> ReportedTagSet | None:
    if report.get("tag_set_id") is None:
        return None
    tag_set = records.tag_sets.get(report["tag_set_id"])
    if tag_set is None or tag_set.artifact_id != report["artifact_id"]:
        raise errors.invalid("Must be the id of a tag set for this artifact.", "tag_set_id")
    return tag_set


def _compare(
    report: dict[str, Any], version: VersionRules, field_spec: FieldSpec, document: ReportedDocument
) -> FeedbackOutcome:
    """Validate a report, and return the outcome of comparing its values.

    Raises 400 and names the invalid property.
    """
    values = {name: report.get(name) for name in ("predicted", "correct")}
    if all(value is None for value in values.values()):
        raise errors.invalid("Send `predicted`, `correct`, or both.", "predicted")
    for name, value in values.items():
        if len(orjson.dumps(value)) > MAX_VALUE_BYTES:
            raise errors.invalid(f"Must have at most {MAX_VALUE_BYTES:,} bytes as JSON.", name)
    _check_row(report)
    correct = None
    if values["correct"] is not None:
        correct = _parse_value(report, "correct", version, field_spec, document)
    if values["predicted"] is None:
        return classify(None, correct, field_spec)
    try:
        predicted = _parse_value(report, "predicted", version, field_spec, document)
    except ApiError:
        # A predicted value that the field does not allow is wrong, but the report is valid.
        return FeedbackOutcome.SPURIOUS if correct is None else FeedbackOutcome.CORRECTED
    return classify(predicted, correct, field_spec)


def _check_row(report: dict[str, Any]) -> None:
    """Raise 400 if `row` is missing for a table column, or is set for a field outside a table."""
    is_cell = "." in report["field"]
    if is_cell != (report.get("row") is not None):
        rule = "is required for a table column" if is_cell else "is allowed only for a table column"
        raise errors.invalid(f"`row` {rule}.", "row")


def _parse_value(
    report: dict[str, Any],
    name: str,
    version: VersionRules,
    field_spec: FieldSpec,
    document: ReportedDocument,
) -> Tag:
    """Parse a reported value into a tag. Raises 400 if the field does not allow the value.

    The value of a span or region is its list of evidence.
    """
    value = report[name]
    content = {"evidence": value} if field_spec.has_marks else {"value": value}
    tag = {"field": report["field"], "row": report.get("row"), **content}
    try:
        (parsed_tag,) = version.fields.check_tags(
            [tag],
            text_length=document.text_length,
            page_count=document.page_count or 0,
            source=artifacts.build_source_text(document.id, document.updated_at),
        )
    except TagErrors as failure:
        _, message = failure.errors[0]
        raise errors.invalid(f"`{name}` {message}.", name) from None
    return parsed_tag


def _build_value_key(report: dict[str, Any]) -> str:
    """Build the hash of the predicted value, which distinguishes reports on the same field.

    If no value was predicted, the hash is that of the correct value.
    """
    name = "correct" if report.get("predicted") is None else "predicted"
    serialized_value = orjson.dumps([name, report[name]], option=orjson.OPT_SORT_KEYS)
    return sha256(serialized_value).hexdigest()


def _build_report_key(feedback_row: dict[str, Any]) -> ReportKey:
    names = ("artifact_id", "model", "field", "row", "value_key")
    artifact_id, model, field, row, value_key = (feedback_row[name] for name in names)
    return artifact_id, model, field, row, value_key


def _check_not_reported(feedback_row: dict[str, Any], records: _ReferencedRecords) -> None:
    """Raise 409 if the report is a duplicate, or its document and model have automatic feedback."""
    if (feedback_row["artifact_id"], feedback_row["model"]) in records.automatic_pairs:
        raise errors.conflict(
            "Feedback on this model and artifact was already recorded from an accepted tag set.",
            recorded="automatically",
        )
    feedback_id = records.reported_ids.get(_build_report_key(feedback_row))
    if feedback_id is not None:
        raise errors.conflict("This prediction already has feedback.", feedback_id=feedback_id)
