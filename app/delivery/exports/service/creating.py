"""Creation of export jobs, with validation and defaults for the request."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypedDict, Unpack
from uuid import UUID

from app.delivery.exports import emitted_events
from app.delivery.exports.models import Export
from app.delivery.exports.queries import records
from app.delivery.exports.queries.statements import FILTER_CONDITIONS
from app.engines.formats import FORMATS, check_options
from app.engines.formats.model import Format, FormatError
from app.kit import capacity, db, errors, events, watermarks
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.service import drafts as artifact_schemas
from app.workflow.tag_sets.transitions import TagSetStatus

ComputeEnd: TypeAlias = Callable[[datetime | None], datetime]
"""Receives the requested end of a period, or None, and returns the end to apply."""
_PARTS = ("evidence", "text", "history")
"""The parts of a tag set that a request can include."""
_ACCEPTED_ONLY = {TagSetStatus.ACCEPTED}


class ExportParameters(TypedDict):
    """The parameters of an export request; the keys of the mappings are those of the API."""

    format_id: str
    filter_: Mapping[str, Any]
    options: Mapping[str, Any]
    include: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """A validated export request with defaults filled in; all values are JSON values."""

    format: str
    filter: dict[str, Any]
    options: dict[str, Any]
    include: dict[str, Any]


@capacity.require_free_space("export")
def create(
    *,
    created_by: UUID | None,
    api_key_id: UUID | None = None,
    scheduled_export_id: UUID | None = None,
    **parameters: Unpack[ExportParameters],
) -> Export:
    """Create an export job, and emit `export.requested`, which starts the job.

    `api_key_id` is set if an API key of the user `created_by` requested the export. The filter of
    a scheduled export may refer to a deleted schema, labeler or document, which matches no tag set.
    If the filter has a period, the organization's watermark is raised to the end of the period.
    Raises 400 `validation_error` if the request is invalid, and 503 while the disk is full.
    """
    if scheduled_export_id is None:
        check_references(parameters["filter_"])
    request = validate_request(**parameters, compute_end=watermarks.raise_to)
    export = Export(
        id=uuid7(),
        **asdict(request),
        created_by=created_by,
        api_key_id=api_key_id,
        scheduled_export_id=scheduled_export_id,
    )
    db.session().add(export)
    emit_requested(export)
    db.session().flush()
    return export


def emit_requested(export: Export) -> None:
    """Emit `export.requested`, the event that starts the job of an export."""
    events.emit(
        emitted_events.REQUESTED,
        emitted_events.RequestedPayload(
            job_id=export.id, format=export.format, created_by=export.created_by
        ),
    )


def validate_request(
    *,
    format_id: str,
    filter_: Mapping[str, Any],
    options: Mapping[str, Any],
    include: Mapping[str, Any],
    compute_end: ComputeEnd,
) -> ExportRequest:
    """Validate an export request, and return it with defaults for omitted properties.

    `compute_end` receives the requested end of a period, and returns the end to apply. Raises 400
    `validation_error` if the request is invalid.
    """
    try:
        checked_options = check_options(format_id, options)
    except FormatError as failure:
        message = f"{failure.message[0].upper()}{failure.message[1:]}."
        raise errors.invalid(message, failure.path) from None
    completed_include = _complete_include(FORMATS[format_id], filter_, include)
    completed_filter = _complete_filter(filter_, completed_include["tags"], compute_end)
    if completed_include["removed"]:
        _check_removed(completed_filter, completed_include["tags"])
    return ExportRequest(format_id, completed_filter, checked_options, completed_include)


def _check_removed(filter_: Mapping[str, Any], selection: str) -> None:
    """Raise 400 unless an export with this filter and selection can include removed tag sets."""
    if selection != "accepted":
        raise errors.invalid(
            "Removed tag sets can be included only if `include.tags` is `accepted`.",
            "include.removed",
        )
    if filter_["decided_after"] is None or filter_["created_before"] is not None:
        raise errors.invalid(
            "To include removed tag sets, set `filter.decided_after`, and omit"
            " `filter.created_after` and `filter.created_before`.",
            "include.removed",
        )


def _complete_include(
    format_: Format, filter_: Mapping[str, Any], include: Mapping[str, Any]
) -> dict[str, Any]:
    """Complete the requested `include` with defaults, and return it.

    Raises 400 if the request includes a part that the format cannot keep, or excludes a part that
    the format needs.
    """
    for name in _PARTS:
        if include.get(name) and name not in format_.keeps:
            raise errors.invalid(
                f"The format {format_.id} cannot include `{name}`. Omit it or set it to false.",
                f"include.{name}",
            )
        if include.get(name) is False and name in format_.required_parts:
            raise errors.invalid(
                f"The format {format_.id} requires `{name}`. Set `{name}` to true or omit it.",
                f"include.{name}",
            )
    if include.get("removed") and not format_.keeps_removed:
        raise errors.invalid(
            f"The format {format_.id} cannot include removed tag sets. Omit `removed` or set it to"
            " false.",
            "include.removed",
        )
    # With `accepted` as the default, a request for other statuses would be invalid.
    has_accepted_only = set(filter_.get("statuses", _ACCEPTED_ONLY)) == _ACCEPTED_ONLY
    return {
        "tags": include.get("tags") or ("accepted" if has_accepted_only else "all"),
        **{name: include.get(name, name in format_.default_parts) for name in _PARTS},
        "removed": include.get("removed", False),
    }


def _complete_filter(
    filter_: Mapping[str, Any], selection: str, compute_end: ComputeEnd
) -> dict[str, Any]:
    """Complete the filter with defaults, and return its values as JSON; None means no condition.

    Raises 400 if a status contradicts the selection, or if a period is invalid.
    """
    is_accepted_only = selection in ("accepted", "final")
    statuses = set(filter_.get("statuses", _ACCEPTED_ONLY if is_accepted_only else TagSetStatus))
    if is_accepted_only and statuses != _ACCEPTED_ONLY:
        message = (
            f"If `include.tags` is `{selection}`, only accepted tag sets can be exported. Set"
            " `include.tags` to `latest` or `all`, or omit `filter.statuses`."
        )
        raise errors.invalid(message, "filter.statuses")
    ends = {
        f"{name}_before": _compute_period_end(filter_, name, compute_end)
        for name in ("created", "decided")
    }
    values = {name: _to_json({**filter_, **ends}.get(name)) for name in FILTER_CONDITIONS}
    return {**values, "statuses": [status.value for status in TagSetStatus if status in statuses]}


def _compute_period_end(
    filter_: Mapping[str, Any], name: str, compute_end: ComputeEnd
) -> datetime | None:
    """Return the end of a period, or None if no period was requested.

    `name` is the period's name in the filter: `created` or `decided`. `compute_end` returns
    the end to apply for the requested end. Raises 400 if the period is empty or starts after the
    end to apply.
    """
    start, requested_end = filter_.get(f"{name}_after"), filter_.get(f"{name}_before")
    if start is None and requested_end is None:
        return None
    if start is not None and requested_end is not None and start >= requested_end:
        raise errors.invalid(
            "The end of the period must be after its start.", f"filter.{name}_before"
        )
    end = compute_end(requested_end)
    check_start(filter_, name, end)
    return end


def check_start(filter_: Mapping[str, Any], name: str, latest: datetime) -> None:
    """Raise 400 if the period `name` of a filter, `created` or `decided`, starts after `latest`."""
    start = filter_.get(f"{name}_after")
    if start is not None and start > latest:
        raise errors.invalid(
            "The start of the period must not be in the future.", f"filter.{name}_after"
        )


def check_references(filter_: Mapping[str, Any]) -> None:
    """Raise 400 `validation_error` unless the schema, labeler and artifacts in a filter exist."""
    schema_id, labeler_id = filter_.get("schema_id"), filter_.get("labeler_id")
    artifact_schemas.check_reference(schema_id, "filter.schema_id")
    if labeler_id is not None and not records.labeler_exists(labeler_id):
        raise errors.invalid("This labeler does not exist.", "filter.labeler_id")
    artifact_ids = set(filter_.get("artifact_ids") or ())
    missing_count = len(artifact_ids) - records.count_artifacts(artifact_ids) if artifact_ids else 0
    if missing_count:
        message = f"Must contain only ids of artifacts. Number of unknown ids: {missing_count}."
        raise errors.invalid(message, "filter.artifact_ids")


def _to_json(value: object) -> str | list[str] | None:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return [str(item) for item in value]
    return value if value is None else str(value)
