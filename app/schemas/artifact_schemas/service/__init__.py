"""Public functions of artifact schemas: editable drafts and immutable published versions."""

from app.schemas.artifact_schemas.queries import CurrentVersion, list_schemas, lock_reference
from app.schemas.artifact_schemas.service.deleting import DELETE_JOB, delete, finish_deletion
from app.schemas.artifact_schemas.service.drafts import (
    DEFAULT_POLICY,
    check_exists,
    check_reference,
    create,
    duplicate,
    get,
    update,
)
from app.schemas.artifact_schemas.service.publishing import (
    activate,
    deactivate,
    publish,
    set_ai_assist,
)
from app.schemas.artifact_schemas.service.versions import (
    build_json_schema,
    compare_versions,
    get_active_version,
    get_compiled_fields,
    get_version,
    list_versions,
)

__all__ = [
    "DEFAULT_POLICY",
    "DELETE_JOB",
    "CurrentVersion",
    "activate",
    "build_json_schema",
    "check_exists",
    "check_reference",
    "compare_versions",
    "create",
    "deactivate",
    "delete",
    "duplicate",
    "finish_deletion",
    "get",
    "get_active_version",
    "get_compiled_fields",
    "get_version",
    "list_schemas",
    "list_versions",
    "lock_reference",
    "publish",
    "set_ai_assist",
    "update",
]
