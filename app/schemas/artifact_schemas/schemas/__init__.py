"""Request and response schemas of labeling schemas."""

from app.schemas.artifact_schemas.schemas.answers import (
    PublishedVersion,
    ReviewPolicy,
    SchemaDetail,
    SchemaField,
    SchemaSummary,
    SchemaVersion,
    SchemaVersionSummary,
    TagsJsonSchema,
    VersionDiff,
)
from app.schemas.artifact_schemas.schemas.bodies import (
    STATUSES,
    CreateSchema,
    DiffQuery,
    DuplicateSchema,
    PublishSchema,
    SchemaFieldBody,
    SchemaFilters,
    UpdateSchema,
    VersionFilters,
)

__all__ = [
    "STATUSES",
    "CreateSchema",
    "DiffQuery",
    "DuplicateSchema",
    "PublishSchema",
    "PublishedVersion",
    "ReviewPolicy",
    "SchemaDetail",
    "SchemaField",
    "SchemaFieldBody",
    "SchemaFilters",
    "SchemaSummary",
    "SchemaVersion",
    "SchemaVersionSummary",
    "TagsJsonSchema",
    "UpdateSchema",
    "VersionDiff",
    "VersionFilters",
]
