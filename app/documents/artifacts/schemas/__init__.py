"""Bodies and answers of artifacts."""

from app.documents.artifacts.schemas.bulk import ArtifactSelection, BulkArchive
from app.documents.artifacts.schemas.contents import ArtifactText, DocumentPage
from app.documents.artifacts.schemas.documents import (
    Artifact,
    ArtifactFilters,
    CreateArtifact,
    PageImageQuery,
    UpdateArtifact,
    UploadArtifact,
)
from app.documents.artifacts.schemas.stats import (
    ArtifactStats,
    ArtifactStatsFilters,
    DocumentCounts,
)

__all__ = [
    "Artifact",
    "ArtifactFilters",
    "ArtifactSelection",
    "ArtifactStats",
    "ArtifactStatsFilters",
    "ArtifactText",
    "BulkArchive",
    "CreateArtifact",
    "DocumentCounts",
    "DocumentPage",
    "PageImageQuery",
    "UpdateArtifact",
    "UploadArtifact",
]
