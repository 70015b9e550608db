"""Create schemas from files of other tools."""

from typing import Any
from uuid import UUID

from app.engines.schema_sources import SourceError, SourceSchema, read
from app.kit import db
from app.kit.errors import ApiError
from app.schemas.artifact_schemas import service as schemas
from app.schemas.artifact_schemas.models import ArtifactSchema

DEFAULT_NAME = "Imported schema"
DEFAULT_DOCUMENT_TYPE = "document"


_SHOWN = (
    *("id", "name", "document_type", "description", "guidelines", "review_policy"),
    *("required_skills", "fields", "status", "ai_assist_enabled"),
    *("current_version", "created_by", "created_at", "updated_at", "revision"),
)
_NOT_YET = dict.fromkeys(("id", "created_at", "updated_at", "revision"))


def import_schema(
    *,
    created_by: UUID,
    format: str,  # noqa: A002 - the member's name
    content: object,
    name: str | None = None,
    document_type: str | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Create a draft from a file; `warnings` [{path, message}] list what could not be imported.

    A dry run creates the draft and rolls back: it returns the draft without id, times and revision.
    Raises 400 with the path of the problem in `content`, and with `details.warnings` if nothing in
    the file could be imported.
    """
    source = _read(format, content)
    with db.session().begin_nested() as savepoint:
        made = schemas.create(
            created_by=created_by,
            name=name or source.name or DEFAULT_NAME,
            document_type=document_type or source.document_type or DEFAULT_DOCUMENT_TYPE,
            description=source.description,
            guidelines=source.guidelines,
            review_policy=source.review_policy,
            required_skills=source.required_skills,
            fields=source.fields,
        )
        answer = _shown(made, source)
        if dry_run:
            savepoint.rollback()
            return {**answer, **_NOT_YET, "dry_run": True}
    return {**answer, "dry_run": False}


def _read(format_: str, content: object) -> SourceSchema:
    try:
        return read(format_, content)
    except SourceError as error:
        field = ".".join(filter(None, ("content", error.path)))
        warnings = [{"path": w.path, "message": w.message} for w in error.warnings]
        details = {"warnings": warnings} if warnings else None
        raise ApiError(
            error.code, f"{field} {error.message}.", field=field, details=details
        ) from None


def _shown(schema: ArtifactSchema, source: SourceSchema) -> dict[str, Any]:
    warnings = [{"path": w.path, "message": w.message} for w in source.warnings]
    return {**{name: getattr(schema, name) for name in _SHOWN}, "warnings": warnings}
