"""Labeling schemas: an editable draft, published as immutable versions, open or closed. What other
features call is here."""

from app.labeling.artifact_schemas.service.drafts import (
    DEFAULT_POLICY,
    create,
    get,
    list_schemas,
    update,
)
from app.labeling.artifact_schemas.service.publishing import publish
from app.labeling.artifact_schemas.service.states import activate, deactivate
from app.labeling.artifact_schemas.service.versions import (
    Version,
    compiled,
    get_active_version,
    get_version,
)

__all__ = [
    "DEFAULT_POLICY",
    "Version",
    "activate",
    "compiled",
    "create",
    "deactivate",
    "get",
    "get_active_version",
    "get_version",
    "list_schemas",
    "publish",
    "update",
]
