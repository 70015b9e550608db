"""Artifacts: the documents, their text and their pages."""

from app.labeling.artifacts.models.content import (
    ArtifactPage,
    ArtifactSearch,
    ArtifactSearchBacklog,
    ArtifactText,
)
from app.labeling.artifacts.models.documents import STATUSES, Artifact, no_labels
from app.labeling.artifacts.models.people import (
    SCHEMA_OR_NONE,
    ArtifactAct,
    ArtifactAssignee,
    ArtifactSkip,
)

__all__ = [
    "SCHEMA_OR_NONE",
    "STATUSES",
    "Artifact",
    "ArtifactAct",
    "ArtifactAssignee",
    "ArtifactPage",
    "ArtifactSearch",
    "ArtifactSearchBacklog",
    "ArtifactSkip",
    "ArtifactText",
    "no_labels",
]
