"""Create export jobs: validate the request, fill in defaults and store the job."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.exports.queries import records, rows
from app.engines.formats import FORMATS, Format, FormatError, check_options
from app.kit import capacity, db, errors, events, watermarks
from app.kit.ids import uuid7
from app.workflow.tag_sets.transitions import TagSetStatus

_PARTS = ("evidence", "text", "history")
"""The parts of a tag set that a request can include."""


@capacity.guard("export")
def create(
    *,
    format_id: str,
    where: Mapping[str, Any],
    options: Mapping[str, Any],
    include: Mapping[str, Any],
    created_by: UUID | None,
    api_key_id: UUID | None = None,
    scheduled_export_id: UUID | None = None,
) -> Export:
    """Create an export job.

    `api_key_id` is set if a key of the user `created_by` requested it. Raises 400
    `validation_error` if the request is invalid, 503 while the disk is full.
    """
    try:
        checked_options = check_options(format_id, options)
    except FormatError as failure:
        raise errors.invalid(failure.message, failure.path) from None
    completed_include = _complete_include(FORMATS[format_id], where, include)
    export = Export(
        id=uuid7(),
        format=format_id,
        filter=_complete_filter(where, completed_include["tags"]),
        options=checked_options,
        include=completed_include,
        created_by=created_by,
        api_key_id=api_key_id,
        scheduled_export_id=scheduled_export_id,
    )
    db.session().add(export)
    events.emit(
        "export.requested", {"job_id": export.id, "format": format_id, "created_by": created_by}
    )
    db.session().flush()
    return export


def _complete_include(
    format_: Format, where: Mapping[str, Any], requested: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `include` with all its members. Raises 400 for a part that the format cannot keep."""
    for name in _PARTS:
        if requested.get(name) and name not in format_.keeps:
            raise errors.invalid(
                f"The format {format_.id} cannot include `{name}`.", f"include.{name}"
            )
    return {
        # With `statuses` alone, export those statuses: `accepted` would silently drop all others.
        "tags": requested.get("tags") or ("all" if "statuses" in where else "accepted"),
        **{name: requested.get(name, name in format_.default_parts) for name in _PARTS},
    }


def _complete_filter(where: Mapping[str, Any], selection: str) -> dict[str, Any]:
    """Return the filter with all its members as JSON values, None for those without a condition."""
    _check_references(where)
    requested = where.get("statuses")
    only_accepted = selection in ("accepted", "final")
    if only_accepted and requested not in (None, [TagSetStatus.ACCEPTED]):
        message = f"`include.tags` is `{selection}`; use `latest` or `all` for other statuses."
        raise errors.invalid(message, "filter.statuses")
    statuses = requested or ([TagSetStatus.ACCEPTED] if only_accepted else list(TagSetStatus))
    ends = {f"{name}_before": _compute_end(where, name) for name in ("created", "decided")}
    members = {name: _to_json({**where, **ends}.get(name)) for name in rows.FILTER_CONDITIONS}
    return {**members, "statuses": [status.value for status in TagSetStatus if status in statuses]}


def _compute_end(where: Mapping[str, Any], name: str) -> datetime | None:
    """Return the end of a period, or None if no period was requested.

    A period without an end, or with one in the future, ends now, so that it stays complete.
    """
    start, requested_end = where.get(f"{name}_after"), where.get(f"{name}_before")
    if start is None and requested_end is None:
        return None
    if start is not None and requested_end is not None and start >= requested_end:
        raise errors.invalid(
            "The end of the period must be after its start.", f"filter.{name}_before"
        )
    end = watermarks.raise_to(requested_end)
    if start is not None and start > end:
        raise errors.invalid(
            "The start of the period must not be in the future.", f"filter.{name}_after"
        )
    return end


def _check_references(where: Mapping[str, Any]) -> None:
    schema_id, labeler_id = where.get("schema_id"), where.get("labeler_id")
    if schema_id is not None and not records.schema_exists(schema_id):
        raise errors.invalid("There is no such schema.", "filter.schema_id")
    if labeler_id is not None and not records.labeler_exists(labeler_id):
        raise errors.invalid("There is no such labeler.", "filter.labeler_id")
    artifact_ids = set(where.get("artifact_ids") or ())
    missing = len(artifact_ids) - records.count_artifacts(artifact_ids) if artifact_ids else 0
    if missing:
        raise errors.invalid(f"{missing} of these artifacts do not exist.", "filter.artifact_ids")


def _to_json(value: object) -> str | list[str] | None:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return [str(item) for item in value]
    return value if value is None else str(value)
