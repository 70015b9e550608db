"""Database models for artifacts, their text, their pages and their relations to users."""

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
    build_zero_label_counts,
)
from app.documents.artifacts.models.people import (
    SCHEMA_OR_NONE,
    ArtifactAction,
    ArtifactAssignee,
    ArtifactSkip,
)
from app.documents.artifacts.models.rows import ARTIFACT_COLUMNS, HAS_TEXT_LAYER, ArtifactRow

__all__ = [
    "ARTIFACT_COLUMNS",
    "HAS_TEXT_LAYER",
    "SCHEMA_OR_NONE",
    "URGENCY",
    "URGENT_AT",
    "Artifact",
    "ArtifactAction",
    "ArtifactAssignee",
    "ArtifactPage",
    "ArtifactRow",
    "ArtifactSearch",
    "ArtifactSearchBacklog",
    "ArtifactSkip",
    "ArtifactText",
    "build_zero_label_counts",
]
