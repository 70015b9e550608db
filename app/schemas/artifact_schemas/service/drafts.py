"""Create, read, update and copy schema drafts."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.engines.fields import Field, FieldError, check_fields
from app.identity.teams.skills import deduplicate_skills
from app.kit import db, errors
from app.kit.errors import ApiError
from app.schemas.artifact_schemas import queries
from app.schemas.artifact_schemas.models import ArtifactSchema

lock_reference = queries.lock_reference

MAX_NAME_LENGTH = 200
_COPY_SUFFIX = " (copy)"

DEFAULT_POLICY: dict[str, Any] = {
    "labels_per_artifact": 1,
    "sample_rate": 1.0,
    "auto_accept_agreement": None,
    "auto_accept_confidence": None,
    "max_rejections": 3,
}


def create(
    *,
    created_by: UUID,
    name: str,
    document_type: str,
    description: str = "",
    guidelines: str = "",
    review_policy: dict[str, Any] | None = None,
    required_skills: Iterable[str] = (),
    fields: list[Field],
) -> ArtifactSchema:
    """Create a schema draft and return it.

    Omitted properties of the review policy are taken from `DEFAULT_POLICY`. Skills that differ only
    in case or spacing are stored once. Raises 400 with a specific error code if a field is invalid.
    """
    schema = ArtifactSchema(
        name=name,
        document_type=document_type,
        description=description,
        guidelines=guidelines,
        review_policy={**DEFAULT_POLICY, **(review_policy or {})},
        fields=_check_fields(fields),
        **_build_skill_columns(required_skills),
        created_by=created_by,
    )
    db.session().add(schema)
    db.session().flush()
    return schema


def get(schema_id: UUID) -> ArtifactSchema:
    """Return a schema with the fields of its draft. Raises 404 if it does not exist."""
    return errors.require_found(queries.find_schema(schema_id))


def check_exists(schema_id: UUID) -> None:
    """Raise 404 unless the schema exists."""
    if not queries.has_schema(schema_id):
        raise errors.not_found()


def check_reference(schema_id: UUID | None, field: str = "schema_id") -> None:
    """Raise 400 for the property `field` if `schema_id` is set but the schema does not exist."""
    if schema_id is not None and not queries.has_schema(schema_id):
        raise errors.invalid("This schema does not exist.", field)


def update(schema_id: UUID, *, revision: int | None, changes: dict[str, Any]) -> ArtifactSchema:
    """Update a schema's draft and return the schema.

    `changes` maps the names of the changed properties to their new values. Omitted properties of
    the review policy stay unchanged. Raises 404 if the schema does not exist, 409
    `stale_precondition` if `revision` is outdated, or 400 if a field is invalid.
    """
    schema = lock(schema_id, revision)
    if "fields" in changes:
        changes = {**changes, "fields": _check_fields(changes["fields"])}
    if "review_policy" in changes:
        changes = {**changes, "review_policy": {**schema.review_policy, **changes["review_policy"]}}
    if "required_skills" in changes:
        changes = {**changes, **_build_skill_columns(changes["required_skills"])}
    for name, value in changes.items():
        setattr(schema, name, value)
    db.session().flush()
    return schema


def duplicate(schema_id: UUID, *, created_by: UUID, name: str | None = None) -> ArtifactSchema:
    """Duplicate a schema's draft, and return the copy.

    By default, the copy has the name of the original, followed by ` (copy)`. AI assistance is off
    in the copy, as in all new schemas. Raises 404 if the schema does not exist.
    """
    schema = get(schema_id)
    return create(
        created_by=created_by,
        name=name or build_copy_name(schema.name),
        document_type=schema.document_type,
        description=schema.description,
        guidelines=schema.guidelines,
        review_policy=schema.review_policy,
        required_skills=schema.required_skills,
        fields=schema.fields,
    )


def build_copy_name(name: str) -> str:
    """Build the name of a copy, with at most `MAX_NAME_LENGTH` characters."""
    return name[: MAX_NAME_LENGTH - len(_COPY_SUFFIX)].rstrip() + _COPY_SUFFIX


def lock(schema_id: UUID, revision: int | None, *, to_delete: bool = False) -> ArtifactSchema:
    """Lock a schema against changes until the transaction ends, and return it.

    `to_delete` also blocks new rows that refer to the schema. Raises 404 if the schema does not
    exist, or 409 `stale_precondition` if `revision` is not None and is outdated.
    """
    schema = errors.require_found(queries.lock_schema(schema_id, to_delete=to_delete))
    errors.check_revision(revision, schema.revision)
    return schema


def _build_skill_columns(skills: Iterable[str]) -> dict[str, list[str]]:
    skills_by_key = deduplicate_skills(skills)
    return {
        "required_skills": list(skills_by_key.values()),
        "required_skill_keys": list(skills_by_key),
    }


def _check_fields(fields: list[Field]) -> list[Field]:
    try:
        return check_fields(fields)
    except FieldError as error:
        message = f"{error.path} {error.message}."
        raise ApiError(error.code, message, field=error.path) from None
