"""Bodies and answers of labeling schemas."""

from app.labeling.artifact_schemas.schemas.answers import (
    CurrentVersion,
    FieldChange,
    FieldOption,
    PublishedVersion,
    ReviewPolicy,
    SchemaDetail,
    SchemaField,
    SchemaVersion,
    TableColumn,
)
from app.labeling.artifact_schemas.schemas.bodies import (
    STATUSES,
    CreateSchema,
    FieldOptionBody,
    PublishSchema,
    ReviewPolicyBody,
    SchemaFieldBody,
    SchemaFilters,
    TableColumnBody,
    UpdateSchema,
)

__all__ = [
    "STATUSES",
    "CreateSchema",
    "CurrentVersion",
    "FieldChange",
    "FieldOption",
    "FieldOptionBody",
    "PublishSchema",
    "PublishedVersion",
    "ReviewPolicy",
    "ReviewPolicyBody",
    "SchemaDetail",
    "SchemaField",
    "SchemaFieldBody",
    "SchemaFilters",
    "SchemaVersion",
    "TableColumn",
    "TableColumnBody",
    "UpdateSchema",
]
