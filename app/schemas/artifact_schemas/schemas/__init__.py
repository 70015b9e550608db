"""Request and response schemas of labeling schemas."""

from app.schemas.artifact_schemas.schemas.answers import (
    LabelsJsonSchema,
    ListedSchema,
    ListedVersion,
    PublishedVersion,
    ReviewPolicy,
    SchemaDetail,
    SchemaField,
    SchemaVersion,
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
    "LabelsJsonSchema",
    "ListedSchema",
    "ListedVersion",
    "PublishSchema",
    "PublishedVersion",
    "ReviewPolicy",
    "SchemaDetail",
    "SchemaField",
    "SchemaFieldBody",
    "SchemaFilters",
    "SchemaVersion",
    "UpdateSchema",
    "VersionDiff",
    "VersionFilters",
]
