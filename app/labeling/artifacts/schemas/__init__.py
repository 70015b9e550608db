"""Bodies and answers of artifacts."""

from app.labeling.artifacts.schemas.bulk import ArtifactSelection, BulkArchive
from app.labeling.artifacts.schemas.contents import ArtifactText, DocumentPage
from app.labeling.artifacts.schemas.documents import (
    Artifact,
    ArtifactFilters,
    CreateArtifact,
    PageImageQuery,
    ReleaseArtifact,
    UpdateArtifact,
    UploadArtifact,
)
from app.labeling.artifacts.schemas.stats import ArtifactStats, ArtifactStatsFilters

__all__ = [
    "Artifact",
    "ArtifactFilters",
    "ArtifactSelection",
    "ArtifactStats",
    "ArtifactStatsFilters",
    "ArtifactText",
    "BulkArchive",
    "CreateArtifact",
    "DocumentPage",
    "PageImageQuery",
    "ReleaseArtifact",
    "UpdateArtifact",
    "UploadArtifact",
]
