"""Manifests that describe export files, so that the files can be understood years later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.delivery.exports.models import Export, ExportStatus
from app.delivery.exports.queries import records
from app.delivery.exports.queries.rows import Version
from app.engines.formats import FORMATS
from app.kit import errors
from app.kit.release import NAME, VERSION


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run: the file's row counts, and the snapshot's time and schema versions.

    `row_count` includes the `removed_count` rows for removed tag sets.
    """

    row_count: int
    removed_count: int
    snapshot_at: datetime
    versions: Sequence[Version]


def build_manifest(export: Export, result: RunResult) -> dict[str, Any]:
    """Build the manifest of a completed export as JSON values."""
    format_ = FORMATS[export.format]
    return {
        "job_id": str(export.id),
        "scheduled_export_id": export.scheduled_export_id and str(export.scheduled_export_id),
        "tool": {"name": NAME, "version": VERSION},
        "snapshot_at": result.snapshot_at.isoformat().replace("+00:00", "Z"),
        "format": export.format,
        "options": export.options,
        "filter": export.filter,
        "include": export.applied_include,
        "row_count": result.row_count,
        "removed_count": result.removed_count,
        "schemas": _build_schema_entries(result.versions),
        "file": {
            "name": f"export-{export.id}.{format_.extension}",
            "media_type": format_.media_type,
            "size_bytes": export.size_bytes,
            "sha256": export.sha256,
        },
    }


def _build_schema_entries(versions: Sequence[Version]) -> list[dict[str, Any]]:
    schemas: dict[str, dict[str, Any]] = {}
    for version in sorted(versions, key=lambda version: (version.schema_id, version.number)):
        schema = schemas.setdefault(
            version.schema_id,
            {"id": version.schema_id, "name": version.schema_name, "versions": []},
        )
        schema["versions"].append(
            {"id": version.id, "number": version.number, "row_count": version.count}
        )
    return list(schemas.values())


def get_manifest(export_id: UUID) -> dict[str, Any]:
    """Return the manifest of a completed export, even after its file has expired.

    Raises 404 if the export does not exist, and 409 `conflict` with `details.state` if the export
    is not completed. The state is `unknown` if the export was created by an earlier release, which
    did not write manifests.
    """
    export = errors.require_found(records.get(export_id))
    if export.status != ExportStatus.COMPLETED:
        message = f"The export is {export.status}; only completed exports have a manifest."
        raise errors.conflict(message, state=export.status)
    if export.manifest is None:
        message = "This export has no manifest: an earlier release created it. Create a new export."
        raise errors.conflict(message, state="unknown")
    return export.manifest
