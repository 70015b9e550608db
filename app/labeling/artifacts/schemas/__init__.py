"""Bodies and answers of artifacts."""

from app.labeling.artifacts.schemas.bulk import ArtifactSelection
from app.labeling.artifacts.schemas.documents import (
    Artifact,
    ArtifactFilters,
    ArtifactText,
    CreateArtifact,
    DocumentPage,
    PageImageQuery,
    ReleaseArtifact,
    UploadArtifact,
)

__all__ = [
    "Artifact",
    "ArtifactFilters",
    "ArtifactSelection",
    "ArtifactText",
    "CreateArtifact",
    "DocumentPage",
    "PageImageQuery",
    "ReleaseArtifact",
    "UploadArtifact",
]
