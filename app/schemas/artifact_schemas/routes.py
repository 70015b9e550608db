"""schemas and schema-versions: what is to be extracted from which kind of document."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service
from app.schemas.artifact_schemas.schemas import (
    CreateSchema,
    DiffQuery,
    DuplicateSchema,
    LabelsJsonSchema,
    ListedSchema,
    ListedVersion,
    PublishedVersion,
    PublishSchema,
    SchemaDetail,
    SchemaFilters,
    SchemaVersion,
    UpdateSchema,
    VersionDiff,
    VersionFilters,
)

blueprint = Blueprint("schemas", description="What to extract from each kind of document.")
versions = Blueprint("schema-versions", description="Immutable versions of schemas.")


@blueprint.get(
    "/schemas",
    permission="schemas:read",
    query=Listing(sorts=("-created_at", "name", "updated_at"), filters=SchemaFilters),
    returns=ListedSchema,
)
def list_schemas(caller: Caller, query: dict[str, Any]) -> Any:
    """List labeling schemas, filtered by status and document type."""
    return service.list_schemas(**query)


@blueprint.post(
    "/schemas",
    permission="schemas:manage",
    body=CreateSchema,
    max_body=4 * MIB,
    returns=SchemaDetail,
    status=201,
)
def create_schema(caller: Caller, body: dict[str, Any]) -> Any:
    """Create a draft schema with its fields."""
    return service.create(created_by=caller.user_id, **body)


@blueprint.get("/schemas/{schema_id}", permission="schemas:read", returns=SchemaDetail)
def get_schema(caller: Caller, schema_id: UUID) -> Any:
    """Read a schema with its draft and its current version."""
    return service.get(schema_id)


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
) -> Any:
    """Edit the draft; what is published stays as it is."""
    return service.update(schema_id, revision=revision, changes=body)


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
) -> Any:
    """Freeze the draft as the next immutable version; a dry run tells what would break."""
    return service.publish(schema_id, revision=revision, published_by=caller.user_id, **body)


@blueprint.post(
    "/schemas/{schema_id}/activate",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def activate_schema(caller: Caller, schema_id: UUID, revision: int | None) -> Any:
    """Open the schema for labeling; it needs a published version."""
    return service.activate(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/deactivate",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def deactivate_schema(caller: Caller, schema_id: UUID, revision: int | None) -> Any:
    """Close the schema for new labeling; label sets under way can be finished."""
    return service.deactivate(schema_id, revision=revision)


@blueprint.delete("/schemas/{schema_id}", permission="schemas:manage", revision="optional")
def delete_schema(caller: Caller, schema_id: UUID, revision: int | None) -> Any:
    """Delete a schema that nothing was labeled with; its documents stay, without a schema."""
    return service.delete(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/ai-assist/enable",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def enable_ai_assist(caller: Caller, schema_id: UUID, revision: int | None) -> Any:
    """Turn AI assistance on for the fields that take it."""
    return service.enable_ai_assist(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/ai-assist/disable",
    permission="schemas:manage",
    returns=SchemaDetail,
    revision="optional",
)
def disable_ai_assist(caller: Caller, schema_id: UUID, revision: int | None) -> Any:
    """Turn AI assistance off."""
    return service.disable_ai_assist(schema_id, revision=revision)


@blueprint.post(
    "/schemas/{schema_id}/duplicate",
    permission="schemas:manage",
    body=DuplicateSchema,
    returns=SchemaDetail,
    status=201,
)
def duplicate_schema(caller: Caller, schema_id: UUID, body: dict[str, Any]) -> Any:
    """Copy a schema's draft, review policy, guidelines and skills as a new draft."""
    return service.duplicate(schema_id, created_by=caller.user_id, **body)


@blueprint.get(
    "/schemas/{schema_id}/versions",
    permission="schemas:read",
    query=Listing(sorts=("-number",), filters=VersionFilters),
    returns=ListedVersion,
)
def list_schema_versions(caller: Caller, schema_id: UUID, query: dict[str, Any]) -> Any:
    """List the schema's versions, newest first."""
    return service.list_versions(schema_id, **query)


@versions.get("/schema-versions/{version_id}", permission="schemas:read", returns=SchemaVersion)
def get_schema_version(caller: Caller, version_id: UUID) -> Any:
    """Read one immutable schema version."""
    return service.get_version(version_id)


@versions.get(
    "/schema-versions/{version_id}/diff",
    permission="schemas:read",
    query=DiffQuery,
    returns=VersionDiff,
)
def diff_schema_version(caller: Caller, version_id: UUID, query: dict[str, Any]) -> Any:
    """Show fields added, removed and changed against another version, breaking changes marked."""
    return service.diff(version_id, **query)


@versions.get(
    "/schema-versions/{version_id}/json-schema",
    permission="schemas:read",
    returns=LabelsJsonSchema,
)
def get_schema_version_json_schema(caller: Caller, version_id: UUID) -> Any:
    """Describe the labels that this version accepts as JSON Schema 2020-12."""
    return service.json_schema(version_id)
