"""Models of artifacts, their text, their pages and their relations to users."""

from app.documents.artifacts.models.columns import ARTIFACT_COLUMNS, HAS_TEXT_LAYER
from app.documents.artifacts.models.content import (
    ArtifactPage,
    ArtifactSearch,
    ArtifactSearchBacklog,
    ArtifactText,
)
from app.documents.artifacts.models.documents import (
    URGENCY,
    URGENT_AT,
    Artifact,
    no_labels,
)
from app.documents.artifacts.models.people import (
    SCHEMA_OR_NONE,
    ArtifactAct,
    ArtifactAssignee,
    ArtifactSkip,
)

__all__ = [
    "ARTIFACT_COLUMNS",
    "HAS_TEXT_LAYER",
    "SCHEMA_OR_NONE",
    "URGENCY",
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
]
