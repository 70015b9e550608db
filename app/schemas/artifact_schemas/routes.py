"""Routes for schemas and their versions."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller
from app.schemas.artifact_schemas import models, queries
from app.schemas.artifact_schemas.schemas import (
    CreateSchema,
    DiffQuery,
    DuplicateSchema,
    PublishedVersion,
    PublishSchema,
    SchemaDetail,
    SchemaFilters,
    SchemaSummary,
    SchemaVersion,
    SchemaVersionSummary,
    TagsJsonSchema,
    UpdateSchema,
    VersionDiff,
)
from app.schemas.artifact_schemas.service import deleting, drafts, publishing
from app.schemas.artifact_schemas.service import versions as schema_versions

blueprint = Blueprint("schemas", description="The fields to extract from each type of document.")
versions = Blueprint("schema-versions", description="Immutable versions of schemas.")


@blueprint.get(
    "/schemas",
    permission="schemas:read",
    query=Listing(sort_keys=("-created_at", "name", "updated_at"), filters=SchemaFilters),
    returns=SchemaSummary,
)
def list_schemas(caller: Caller, query: dict[str, Any]) -> Page:
    """List schemas.

    Returns the schemas. The list can be filtered by status, document type and creation time.
    """
    return queries.list_schemas(**query)


@blueprint.post(
    "/schemas",
    permission="schemas:manage",
    body=CreateSchema,
    max_body=4 * MIB,
    returns=SchemaDetail,
    status=201,
)
def create_schema(caller: Caller, body: dict[str, Any]) -> models.ArtifactSchema:
    """Create a schema.

    Creates a draft. The schema cannot be used for labeling until it is published and activated.
    """
    return drafts.create(created_by=caller.user_id, **body)


@blueprint.get("/schemas/{schema_id}", permission="schemas:read", returns=SchemaDetail)
def get_schema(caller: Caller, schema_id: UUID) -> models.ArtifactSchema:
    """Get a schema.

    Returns the schema with the fields of its draft and a reference to its current version.
    """
    return drafts.get(schema_id)


@blueprint.patch(
    "/schemas/{schema_id}",
    permission="schemas:manage",
    body=UpdateSchema,
    max_body=4 * MIB,
    returns=SchemaDetail,
    revision="required",
)
def update_schema(
    caller: Caller, schema_id: UUID, body: dict[str, Any], revision: int | None
) -> models.ArtifactSchema:
    """Update a schema.

    Changes the draft. Published versions stay unchanged.
    """
    return drafts.update(schema_id, revision=revision, changes=body)


@blueprint.post(
    "/schemas/{schema_id}/publish",
    permission="schemas:manage",
    body=PublishSchema,
    returns=PublishedVersion,
    status=201,
    revision="optional",
)
def publish_schema(
    caller: Caller, schema_id: UUID, body: dict[str, Any], revision: int | None
) -> dict[str, Any]:
    """Publish a schema.

    Publishes the draft as the next immutable version. Changes that break existing tag sets require
    `allow_breaking`. A dry run publishes nothing and lists all changes.
    """
    return publishing.publish(schema_id, revision=revision, published_by=caller.user_id, **body)


@blueprint.post(
    "/schemas/{schema_id}/activate",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def activate_schema(caller: Caller, schema_id: UUID, revision: int | None) -> models.ArtifactSchema:
    """Activate a schema.

    Opens the schema for labeling. The schema must have a published version.
    """
    return publishing.activate(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/deactivate",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def deactivate_schema(
    caller: Caller, schema_id: UUID, revision: int | None
) -> models.ArtifactSchema:
    """Deactivate a schema.

    Closes the schema for new tag sets. Existing tag sets can be finished.
    """
    return publishing.deactivate(schema_id, revision=revision)


@blueprint.delete("/schemas/{schema_id}", permission="schemas:manage", revision="optional")
def delete_schema(caller: Caller, schema_id: UUID, revision: int | None) -> None:
    """Delete a schema.

    Only a schema without tag sets can be deleted. Its documents are kept, but have no schema
    afterwards. Its predictions are deleted. Connectors no longer set the schema, and routing rules
    that set it are disabled.
    """
    deleting.delete(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/ai-assist/enable",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def enable_ai_assist(
    caller: Caller, schema_id: UUID, revision: int | None
) -> models.ArtifactSchema:
    """Enable AI assistance.

    Turns on AI assistance for the fields of the schema that allow it.
    """
    return publishing.set_ai_assist(schema_id, revision=revision, enabled=True)


@blueprint.post(
    "/schemas/{schema_id}/ai-assist/disable",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def disable_ai_assist(
    caller: Caller, schema_id: UUID, revision: int | None
) -> models.ArtifactSchema:
    """Disable AI assistance.

    Turns off AI assistance for the schema. Existing predictions are kept.
    """
    return publishing.set_ai_assist(schema_id, revision=revision, enabled=False)


@blueprint.post(
    "/schemas/{schema_id}/duplicate",
    permission="schemas:manage",
    body=DuplicateSchema,
    returns=SchemaDetail,
    status=201,
)
def duplicate_schema(
    caller: Caller, schema_id: UUID, body: dict[str, Any]
) -> models.ArtifactSchema:
    """Duplicate a schema.

    Creates a new draft with the document type, description, guidelines, review policy, required
    skills and draft fields of the schema. AI assistance is off in the copy.
    """
    return drafts.duplicate(schema_id, created_by=caller.user_id, **body)


@blueprint.get(
    "/schemas/{schema_id}/versions",
    permission="schemas:read",
    query=Listing(sort_keys=("-number",), has_period=True),
    returns=SchemaVersionSummary,
)
def list_schema_versions(caller: Caller, schema_id: UUID, query: dict[str, Any]) -> Page:
    """List schema versions.

    Returns the published versions of the schema, newest first by default.
    """
    return schema_versions.list_versions(schema_id, **query)


@versions.get("/schema-versions/{version_id}", permission="schemas:read", returns=SchemaVersion)
def get_schema_version(caller: Caller, version_id: UUID) -> models.SchemaVersion:
    """Get a schema version.

    Returns the fields and review policy of the version, and the changes since the previous version.
    """
    return schema_versions.get_version(version_id)


@versions.get(
    "/schema-versions/{version_id}/diff",
    permission="schemas:read",
    query=DiffQuery,
    returns=VersionDiff,
)
def diff_schema_version(caller: Caller, version_id: UUID, query: dict[str, Any]) -> dict[str, Any]:
    """Compare schema versions.

    Compares the version with another version of the same schema, by default with the previous
    version. Returns the fields that were added, removed or changed, and marks breaking changes.
    """
    return schema_versions.compare_versions(version_id, **query)


@versions.get(
    "/schema-versions/{version_id}/json-schema",
    permission="schemas:read",
    returns=TagsJsonSchema,
)
def get_schema_version_json_schema(caller: Caller, version_id: UUID) -> dict[str, Any]:
    """Get the JSON Schema of a schema version.

    Returns a JSON Schema (draft 2020-12) for the tags that this version accepts.
    """
    return schema_versions.build_json_schema(version_id)
