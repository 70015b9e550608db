"""Statistics of a schema's documents and tag sets."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts.statuses import ArtifactStatus
from app.insight.schema_statistics import queries
from app.insight.schema_statistics.queries import TagSetCounts
from app.kit import errors
from app.schemas.artifact_schemas.service import drafts as schemas
from app.workflow.tag_sets.transitions import TagSetStatus

_TAG_SET_COUNT_NAMES = (*TagSetStatus, "total")


def get_statistics(
    schema_id: UUID, *, first: datetime | None = None, end: datetime | None = None
) -> dict[str, Any]:
    """Return statistics for a schema's documents and tag sets, over all time or a period.

    Only documents and tag sets created at or after `first` and before `end` are counted. Returns
    the properties of `SchemaStats`: the number of documents and tag sets by status, labeling times,
    decisions and rates, in total and for each version, newest first. Raises 404 for an unknown
    schema, or 400 for `from` if it is not before `to`.
    """
    schemas.get(schema_id)
    if first is not None and end is not None and first >= end:
        raise errors.invalid("Must be before `to`.", "from")
    artifacts = queries.count_artifacts(schema_id, first=first, end=end)
    # The total sorts first, because its version number is null.
    total, *versions = queries.count_tag_sets(schema_id, first=first, end=end)
    return {
        "schema_id": schema_id,
        "first": first,
        "end": end,
        "artifacts": {
            "total": sum(artifacts.get(status, 0) for status in ArtifactStatus),
            "by_status": {status: artifacts.get(status, 0) for status in ArtifactStatus},
            "archived": artifacts.get("archived", 0),
        },
        **_build_statistics(total),
        "versions": [
            {"id": version.id, "number": version.number, **_build_statistics(version)}
            for version in versions
        ],
    }


def _build_statistics(row: TagSetCounts) -> dict[str, Any]:
    acceptances, rejections = row.accepted or 0, int(row.rejections or 0)
    decisions = acceptances + rejections
    return {
        "tag_sets": {status: getattr(row, status) or 0 for status in _TAG_SET_COUNT_NAMES},
        "labeling_seconds": {"mean": row.mean, "median": row.median, "timed": row.timed or 0},
        "decided": decisions,
        "acceptance_rate": acceptances / decisions if decisions else None,
        "rejections": rejections,
        "auto_accepted": row.auto_accepted or 0,
    }
