"""Create schema drafts from files that other tools or organizations have created."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.engines.schema_sources import FORMATS
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema, SourceWarning
from app.kit import db
from app.kit.errors import ApiError
from app.kit.visible_text import has_visible_character
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.service import drafts as schemas

DEFAULT_NAME = "Imported schema"
DEFAULT_DOCUMENT_TYPE = "document"

_DRAFT_PROPERTIES = (
    *("id", "name", "document_type", "description", "guidelines", "review_policy"),
    *("required_skills", "fields", "status", "ai_assist_enabled"),
    *("current_version", "created_by", "created_at", "updated_at", "revision"),
)
_UNSET_BY_DRY_RUN = dict.fromkeys(("id", "created_at", "updated_at", "revision"))


def import_schema(
    *,
    created_by: UUID,
    format: str,  # noqa: A002 - the name of the request property
    content: object,
    name: str | None = None,
    document_type: str | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Import a schema from a file; return the draft's properties, `warnings` and `dry_run`.

    Each warning has the path of a part of the file that was changed or omitted, and a message. A
    dry run creates the draft, rolls back the transaction to a savepoint, and returns the draft
    without id, timestamps and revision. A name, document type or skill in the file is ignored if it
    has no visible character, because other requests cannot set such a value either. Raises 400 if
    the file cannot be imported. The error's `field` is the path of the problem, which begins with
    `content`; the error has `details.warnings` if there are warnings.
    """
    source = _parse_source(format, content)
    with db.session().begin_nested() as savepoint:
        schema = schemas.create(
            created_by=created_by,
            name=name or _get_visible_text(source.name) or DEFAULT_NAME,
            document_type=(
                document_type or _get_visible_text(source.document_type) or DEFAULT_DOCUMENT_TYPE
            ),
            description=source.description,
            guidelines=source.guidelines,
            review_policy=source.review_policy,
            required_skills=filter(has_visible_character, source.required_skills),
            fields=source.fields,
        )
        draft = _build_draft(schema, source)
        if dry_run:
            savepoint.rollback()
            return {**draft, **_UNSET_BY_DRY_RUN, "dry_run": True}
    return {**draft, "dry_run": False}


def _get_visible_text(text: str | None) -> str | None:
    return text if text and has_visible_character(text) else None


def _parse_source(format_: str, content: object) -> SourceSchema:
    try:
        return FORMATS[format_](content)
    except SchemaSourceError as error:
        field = ".".join(filter(None, ("content", error.path)))
        warnings = _build_warnings(error.warnings)
        details = {"warnings": warnings} if warnings else None
        raise ApiError(
            error.code, f"{field} {error.message}.", field=field, details=details
        ) from None


def _build_draft(schema: ArtifactSchema, source: SourceSchema) -> dict[str, Any]:
    draft = {name: getattr(schema, name) for name in _DRAFT_PROPERTIES}
    return {**draft, "warnings": _build_warnings(source.warnings)}


def _build_warnings(warnings: Sequence[SourceWarning]) -> list[dict[str, str]]:
    return [{"path": warning.path, "message": warning.message} for warning in warnings]
