"""Artifacts: the documents, their text and their pages."""

from app.documents.artifacts.models.columns import ARTIFACT_COLUMNS, HAS_TEXT_LAYER
from app.documents.artifacts.models.content import (
    ArtifactPage,
    ArtifactSearch,
    ArtifactSearchBacklog,
    ArtifactText,
)
from app.documents.artifacts.models.documents import (
    DUE_LEAD,
    STATUSES,
    URGENT_AT,
    Artifact,
    no_labels,
    urgent_at,
)
from app.documents.artifacts.models.people import (
    SCHEMA_OR_NONE,
    ArtifactAct,
    ArtifactAssignee,
    ArtifactSkip,
)

__all__ = [
    "ARTIFACT_COLUMNS",
    "DUE_LEAD",
    "HAS_TEXT_LAYER",
    "SCHEMA_OR_NONE",
    "STATUSES",
    "URGENT_AT",
    "Artifact",
    "ArtifactAct",
    "ArtifactAssignee",
    "ArtifactPage",
    "ArtifactSearch",
    "ArtifactSearchBacklog",
    "ArtifactSkip",
    "ArtifactText",
    "no_labels",
    "urgent_at",
]
