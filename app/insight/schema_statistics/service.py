"""What a schema's documents and label sets have come to."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.insight.schema_statistics import queries
from app.kit import errors
from app.schemas.artifact_schemas import service as schemas
from app.workflow.tag_sets.transitions import TagSetStatus

_STATUSES = ("processing", "ready", "in_progress", "in_review", "done", "failed")
_TAG_SETS = (*TagSetStatus, "total")


def stats(
    schema_id: UUID, *, first: datetime | None = None, end: datetime | None = None
) -> dict[str, Any]:
    """A schema's documents and label sets, of all time or those created from `first` to `end`,
    which is the first moment not among them.

    {schema_id, first, end, artifacts, tag_sets, labeling_seconds {mean, median, timed}, decided,
    acceptance_rate, rejections, auto_accepted, versions}: the members from `tag_sets` on stand for
    each version too, newest first. Raises 404, or 400 on `from` when it is not before `to`.
    """
    schemas.get(schema_id)
    if first is not None and end is not None and first >= end:
        raise errors.invalid("Must be before the period's end.", "from")
    documents = queries.artifacts(schema_id, first=first, end=end)
    # The whole sorts first: its number is null.
    whole, *versions = queries.label_sets(schema_id, first=first, end=end)
    return {
        "schema_id": schema_id,
        "first": first,
        "end": end,
        "artifacts": {
            "total": sum(documents.get(status, 0) for status in _STATUSES),
            "by_status": {status: documents.get(status, 0) for status in _STATUSES},
            "archived": documents.get("archived", 0),
        },
        **_outcome(whole),
        "versions": [{"id": one.id, "number": one.number, **_outcome(one)} for one in versions],
    }


def _outcome(row: Any) -> dict[str, Any]:
    accepted, rejections = row.accepted or 0, int(row.rejections or 0)
    decided = accepted + rejections
    return {
        "tag_sets": {status: getattr(row, status) or 0 for status in _TAG_SETS},
        "labeling_seconds": {"mean": row.mean, "median": row.median, "timed": row.timed or 0},
        "decided": decided,
        "acceptance_rate": accepted / decided if decided else None,
        "rejections": rejections,
        "auto_accepted": row.auto_accepted or 0,
    }
