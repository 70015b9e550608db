"""Artifact schemas: editable drafts and their immutable versions. Other features call these."""

from app.schemas.artifact_schemas.cache import compiled
from app.schemas.artifact_schemas.service.drafts import (
    DEFAULT_POLICY,
    create,
    delete,
    duplicate,
    get,
    list_schemas,
    update,
)
from app.schemas.artifact_schemas.service.ports import Labels, bind_labels
from app.schemas.artifact_schemas.service.publishing import publish
from app.schemas.artifact_schemas.service.states import (
    activate,
    deactivate,
    disable_ai_assist,
    enable_ai_assist,
)
from app.schemas.artifact_schemas.service.versions import (
    diff,
    get_active_version,
    get_version,
    json_schema,
    list_versions,
)

__all__ = [
    "DEFAULT_POLICY",
    "Labels",
    "activate",
    "bind_labels",
    "compiled",
    "create",
    "deactivate",
    "delete",
    "diff",
    "disable_ai_assist",
    "duplicate",
    "enable_ai_assist",
    "get",
    "get_active_version",
    "get_version",
    "json_schema",
    "list_schemas",
    "list_versions",
    "publish",
    "update",
]
